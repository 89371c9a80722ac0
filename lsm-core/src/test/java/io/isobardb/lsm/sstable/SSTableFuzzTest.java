package io.isobardb.lsm.sstable;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.error.FormatException;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.schedule.Watched;
import io.isobardb.memory.page.Memory;
import io.isobardb.repair.format.FileMeta;
import io.isobardb.repair.format.SSTableCheck;
import io.isobardb.repair.format.TableSalvage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;

/**
 * SSTables that nobody ever wrote, with right checksums.
 *
 * <p>An input is a list of changes, five bytes or more each: which page (1), where in it (2), how
 * many bytes (1), those bytes. The pages changed are sealed again.
 */
class SSTableFuzzTest {
  private static final int PAGE = 4096;
  private static final int FILE = 5;

  /** Pages as they are, in a small SSTable with overflow values and two index levels' worth. */
  @FuzzTest(maxDuration = "10m")
  void plainPages(byte[] changes) throws IOException {
    Watched.input("plainPages", changes, () -> plainPagesOf(changes));
  }

  private void plainPagesOf(byte[] changes) throws IOException {
    pages(Written.PLAIN, changes);
    pages(Written.SMALL, changes);
  }

  private void pages(Written written, byte[] changes) throws IOException {
    try (Run run = new Run(PAGE, KeyOrder.BYTES, 100)) {
      SSTableMeta meta = written.meta;
      byte[] file = written.copyTo(run);
      change(run, file, changes);
      look(run, meta);
    }
  }

  /** The file of a compressed SSTable as it comes; nothing is sealed. */
  @FuzzTest(maxDuration = "10m")
  void packedFile(byte[] changes) throws IOException {
    Watched.input("packedFile", changes, () -> packedFileOf(changes));
  }

  private void packedFileOf(byte[] changes) throws IOException {
    try (Run run = new Run(PAGE, KeyOrder.BYTES, 100)) {
      SSTableMeta meta = Written.PACKED.meta;
      byte[] file = Written.PACKED.copyTo(run);
      for (int at = 0; at + 3 < changes.length; at += 4) {
        int place =
            (changes[at] & 0xFF) << 16 | (changes[at + 1] & 0xFF) << 8 | changes[at + 2] & 0xFF;
        file[place % file.length] = changes[at + 3];
      }
      look(run, meta);
    }
  }

  /** Bytes that LZ4 never made. */
  @FuzzTest(maxDuration = "10m")
  void packedPage(byte[] data) {
    Watched.input("packedPage", data, () -> packedPageOf(data));
  }

  private void packedPageOf(byte[] data) {
    Memory from = new Memory(ByteBuffer.allocateDirect(Math.max(8, data.length)));
    from.put(0, data, 0, data.length);
    Memory to = new Memory(ByteBuffer.allocateDirect(PAGE));
    try {
      int got = Lz4.CODEC.coder().decompress(from.slice(0, data.length), to.slice(0, PAGE));
      assertTrue(got >= 0 && got <= PAGE);
    } catch (RuntimeException e) {
      // Told of.
    }
  }

  /** A footer page, or a header page that holds what the footer says. */
  @FuzzTest(maxDuration = "10m")
  void footer(byte[] data) {
    Watched.input("footer", data, () -> footerOf(data));
  }

  private void footerOf(byte[] data) {
    Memory memory = new Memory(ByteBuffer.allocateDirect(PAGE));
    memory.put(0, data, 0, Math.min(data.length, PAGE));
    try {
      String file = "0000000005.sst";
      assertNotNull(FileMeta.footerInHeader(memory, 0, PAGE, file).fileName());
    } catch (CorruptionException | FormatException e) {
      // Told of.
    }
    try {
      assertNotNull(FileMeta.footer(memory, 0, PAGE, "0000000005.sst", 0).fileName());
    } catch (CorruptionException | FormatException e) {
      // Told of.
    }
  }

  private static Run smallRun() {
    Run run = new Run(PAGE, KeyOrder.BYTES, 100);
    SplittableRandom random = new SplittableRandom(4711);
    for (int i = 0; i < 300; i++) {
      byte[] key = String.format("user%05d", i / 2).getBytes(StandardCharsets.US_ASCII);
      byte[] value = i % 7 == 0 ? new byte[0] : Run.bytes(random, i == 100 ? 9000 : 40);
      run.add(key, 8L * (i + 1), i % 7 == 0 ? Kind.DELETE : Kind.PUT, value);
    }
    run.sort();
    return run;
  }

  /** An SSTable that was written once, for all inputs. */
  private record Written(byte[] file, SSTableMeta meta) {
    private static final Written PLAIN = of(Packer.NONE, true);
    private static final Written SMALL = of(Packer.NONE, false);
    private static final Written PACKED = of(Packer.of(Codecs.LZ4), true);

    private static Written of(Packer packer, boolean footerPage) {
      try (Run run = smallRun()) {
        SSTable written = run.onDisk(FILE, packer, false, footerPage);
        written.release();
        return new Written(run.storage.files.get(SSTableMeta.fileName(FILE)), written.meta());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    byte[] copyTo(Run run) {
      byte[] copy = file.clone();
      run.storage.files.put(SSTableMeta.fileName(FILE), copy);
      return copy;
    }
  }

  private static void change(Run run, byte[] file, byte[] changes) {
    Memory memory = new Memory(ByteBuffer.allocateDirect(PAGE));
    boolean[] changed = new boolean[file.length / PAGE];
    for (int at = 0; at + 4 < changes.length; ) {
      int page = (changes[at] & 0xFF) % changed.length;
      int from = ((changes[at + 1] & 0xFF) << 8 | changes[at + 2] & 0xFF) % PAGE;
      int length = Math.min(changes[at + 3] & 0xFF, Math.min(PAGE - from, changes.length - at - 4));
      System.arraycopy(changes, at + 4, file, page * PAGE + from, length);
      changed[page] = true;
      at += 4 + length;
    }
    for (int page = 0; page < changed.length; page++) {
      if (changed[page]) {
        memory.put(0, file, page * PAGE, PAGE);
        PageLayout.seal(memory, 0, PAGE, run.space.fileSeed(FILE), page);
        memory.get(0, file, page * PAGE, PAGE);
      }
    }
  }

  private static void look(Run run, SSTableMeta meta) throws IOException {
    SSTable table = SSTable.onDisk(run.space, run.order, meta);
    try {
      SSTableCheck.check(table);
    } finally {
      table.release();
    }
    try {
      Footers.readMeta(run.space, FILE);
    } catch (CorruptionException | FormatException e) {
      // Told of.
    }
    try (TableSalvage salvage = TableSalvage.scan(run.space, FILE, null)) {
      while (salvage.next()) {
        byte[] key = salvage.key();
        assertTrue(key.length <= PAGE);
        if (!salvage.isDelete() && salvage.hasWholeValue()) {
          salvage.valueLength();
        }
      }
    } catch (CorruptionException e) {
      // Told of.
    }
  }
}
