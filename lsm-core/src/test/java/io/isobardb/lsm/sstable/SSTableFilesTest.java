package io.isobardb.lsm.sstable;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.error.FormatException;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.version.GoldenFile;
import io.isobardb.memory.page.Memory;
import io.isobardb.repair.format.SSTableCheck;
import io.isobardb.repair.format.TableSalvage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

/**
 * Files of SSTables, byte by byte, and what can be read of them once they are damaged.
 *
 * <pre>
 *   write PAGEBYTES plain|small|packed WHAT COUNT KEYBYTES VALUEBYTES, ...     WHAT: put, delete, versions
 *   pages     type and CRC32C of each; not of packed files, since LZ4's bytes are not ours
 *   change OFFSET BYTE...   seal PAGE (its checksum is right again)   shorten BYTES
 *   check     meta     salvage [known]
 * </pre>
 */
class SSTableFilesTest {
  private static final int FILE = 5;

  @Test
  void filesAndWhatIsReadOfThem() throws IOException {
    GoldenFile.check(SSTableFilesTest.class, "sstable-files.txt", lines -> new Life().live(lines));
  }

  private static final class Life {
    private final StringBuilder out = new StringBuilder();
    private int pageBytes;
    private Run run;
    private SSTableMeta meta;

    String live(List<String> lines) {
      try {
        for (String line : lines) {
          out.append("> ").append(line).append('\n');
          try {
            step(line.split(" "), line);
          } catch (CorruptionException | FormatException e) {
            out.append("! ").append(e.getMessage()).append('\n');
          }
        }
        run.close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      return out.toString();
    }

    private void step(String[] words, String line) throws IOException {
      switch (words[0]) {
        case "write" -> write(words, line);
        case "pages" -> pages();
        case "change" -> {
          for (int i = 2; i < words.length; i++) {
            file()[number(words[1]) + i - 2] = (byte) number(words[i]);
          }
        }
        case "seal" -> seal(number(words[1]));
        case "shorten" -> run.storage.files.put(name(), Arrays.copyOf(file(), number(words[1])));
        case "check" -> {
          SSTable table = SSTable.onDisk(run.space, run.order, meta);
          try {
            SSTableCheck.check(table).forEach(finding -> out.append(finding).append('\n'));
          } finally {
            table.release();
          }
        }
        case "meta" -> out.append(text(Footers.readMeta(run.space, FILE))).append('\n');
        case "salvage" -> salvage(words.length > 1 ? meta : null);
        default -> throw new AssertionError(line);
      }
    }

    private void write(String[] words, String line) throws IOException {
      pageBytes = number(words[1]);
      run = new Run(pageBytes, KeyOrder.BYTES, 100);
      String entries = line.substring(line.indexOf(words[2]) + words[2].length()).strip();
      long lsn = 4096;
      int key = 0;
      for (String part : entries.split(", ")) {
        String[] what = part.split(" ");
        for (int i = 0; i < number(what[1]); i++) {
          byte[] value = new byte[number(what[3])];
          Arrays.fill(value, (byte) key);
          key += what[0].equals("versions") && i > 0 ? 0 : 1;
          String name = "k".repeat(number(what[2]) - 6) + String.format("%06d", key);
          lsn += 8;
          run.add(
              name.getBytes(UTF_8), lsn, what[0].equals("delete") ? Kind.DELETE : Kind.PUT, value);
        }
      }
      run.sort();
      boolean packed = words[2].equals("packed");
      SSTable table =
          run.onDisk(
              FILE, packed ? Packer.of(Codecs.LZ4) : Packer.NONE, false, !words[2].equals("small"));
      table.release();
      meta = table.meta();
      if (!packed) {
        out.append(text(meta)).append('\n');
      }
    }

    private static String text(SSTableMeta meta) {
      return "%d pages, %d entries, %d deletes, %s to %s, LSN %d to %d, root %d, height %d, filter %d of %d, %d bytes"
          .formatted(
              meta.pageCount(),
              meta.entries(),
              meta.deletes(),
              text(meta.minKey()),
              text(meta.maxKey()),
              meta.minLsn(),
              meta.maxLsn(),
              meta.rootPage(),
              meta.indexHeight(),
              meta.filterPage(),
              meta.filterBlocks(),
              meta.sizeBytes());
    }

    private static String text(byte[] key) {
      return key == null ? "-" : new String(key, UTF_8).replaceAll("k{9,}", "k..");
    }

    private void pages() {
      for (int at = 0; at < file().length; at += pageBytes) {
        CRC32C crc = new CRC32C();
        crc.update(file(), at, pageBytes);
        out.append(at / pageBytes).append(" type ").append(file()[at + 4]);
        out.append(String.format(" %08x%n", crc.getValue()));
      }
    }

    private void seal(int page) {
      Memory memory = new Memory(ByteBuffer.allocateDirect(pageBytes));
      memory.put(0, file(), page * pageBytes, pageBytes);
      PageLayout.seal(memory, 0, pageBytes, run.space.fileSeed(FILE), page);
      memory.get(0, file(), page * pageBytes, pageBytes);
    }

    private void salvage(SSTableMeta known) throws IOException {
      try (TableSalvage salvage = TableSalvage.scan(run.space, FILE, known)) {
        long bytes = 0;
        int found = 0;
        int deletes = 0;
        int lost = 0;
        while (salvage.next()) {
          found++;
          if (salvage.isDelete()) {
            deletes++;
          } else if (salvage.hasWholeValue()) {
            bytes += salvage.valueLength();
          } else {
            lost++;
          }
        }
        out.append(
            found + " entries, " + deletes + " deletes, " + lost + " without value, " + bytes);
        out.append(" bytes of values; " + salvage.entries() + " of " + salvage.expectedEntries());
        out.append(", tree " + salvage.treeId() + ", " + text(salvage.firstKey()) + " to ");
        out.append(text(salvage.lastKey()) + (salvage.endsEarly() ? ", ends early" : ""));
        out.append((salvage.isForeign() ? ", foreign" : ""));
        out.append(!meta.isPacked() ? ", " + salvage.sizeBytes() + " bytes" : "");
        for (TableSalvage.Gap gap : salvage.gaps()) {
          out.append("\ngap " + gap.from() + " to " + gap.to() + " between ");
          out.append(text(gap.after()) + " and " + text(gap.before()));
        }
        out.append('\n');
      }
    }

    private byte[] file() {
      return run.storage.files.get(name());
    }

    private static String name() {
      return SSTableMeta.fileName(FILE);
    }

    private static int number(String word) {
      return Integer.parseInt(word);
    }
  }
}
