package io.isobardb.lsm.sstable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.DeflateCodec;
import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.error.Finding;
import io.isobardb.lsm.error.FormatException;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.memory.cache.Access;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.stats.Purpose;
import io.isobardb.repair.format.SSTableCheck;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Tag("any-jdk")
class SSTableCorruptionTest {
  private static final String NAME = SSTableMeta.fileName(5);

  /** Where the header's format version is. */
  private static final int VERSION = 40;

  private static final int UNKNOWN = 77;

  private static int reads;

  /** How a file may be laid out. */
  private enum Form {
    FOOTER_PAGE,
    FOOTER_IN_HEADER,
    PACKED,
    NAMED,
    DICTIONARY;

    private Packer packer() {
      return switch (this) {
        case FOOTER_PAGE, FOOTER_IN_HEADER -> Packer.NONE;
        case PACKED -> Packer.of(Codecs.LZ4);
        case NAMED -> Packer.of(DeflateCodec.NAME);
        case DICTIONARY -> Run.withDictionary(500);
      };
    }

    SSTable write(Run run, long fileNumber) throws IOException {
      SSTable table = run.onDisk(fileNumber, packer(), false, this != FOOTER_IN_HEADER);
      assertEquals(this == FOOTER_IN_HEADER, table.meta().footerInHeader());
      return table;
    }
  }

  private static Run smallRun() {
    Run run = new Run(4096, KeyOrder.BYTES, 100);
    SplittableRandom random = new SplittableRandom(4711);
    for (int i = 0; i < 90; i++) {
      byte[] key = String.format("user%05d", i / 2).getBytes(StandardCharsets.US_ASCII);
      run.add(key, 8L * (i + 1), i % 7 == 0 ? Kind.DELETE : Kind.PUT, Run.bytes(random, 40));
    }
    run.add("user99".getBytes(StandardCharsets.US_ASCII), 4096, Kind.PUT, Run.bytes(random, 5000));
    run.entries.replaceAll(
        e -> e.kind() == Kind.DELETE ? new Run.Entry(e.key(), e.lsn(), e.kind(), new byte[0]) : e);
    run.sort();
    return run;
  }

  /** Reads everything; false if that was found to be corrupt. Answers that differ fail. */
  private static boolean readsTheSame(Run run, SSTableMeta meta) {
    SSTable table = SSTable.onDisk(run.space, run.order, meta);
    Access mode = Access.values()[reads++ % 2];
    try (SSTableCursor cursor = table.cursor(mode)) {
      boolean more = cursor.first();
      for (Run.Entry entry : run.entries) {
        assertTrue(more);
        assertEquals(
            0,
            Arrays.compare(
                entry.key(), 0, entry.key().length, cursor.key(), 0, cursor.keyLength()));
        assertEquals(entry.lsn(), cursor.lsn());
        byte[] value = new byte[cursor.valueLength()];
        cursor.copyValue(0, ByteBuffer.wrap(value), 0, value.length);
        assertTrue(Arrays.equals(entry.value(), value));
        more = cursor.next();
      }
      assertFalse(more);
      return true;
    } catch (CorruptionException e) {
      assertEquals(NAME, e.file());
      return false;
    } finally {
      table.release();
    }
  }

  private static List<Finding> findings(Run run, SSTableMeta meta) {
    SSTable table = SSTable.onDisk(run.space, run.order, meta);
    try {
      return SSTableCheck.check(table);
    } finally {
      table.release();
    }
  }

  @ParameterizedTest
  @EnumSource(Form.class)
  void everyChangedByteIsFoundByTheCheckAndNeverChangesAnAnswer(Form form) throws IOException {
    try (Run run = smallRun()) {
      SSTable written = form.write(run, 5);
      SSTableMeta meta = written.meta();
      written.release();
      assertEquals(List.of(), findings(run, meta));
      assertTrue(readsTheSame(run, meta));
      byte[] file = run.storage.files.get(NAME);
      int detected = 0;
      for (int i = 0; i < file.length; i++) {
        byte right = file[i];
        file[i] ^= (byte) ((i & 1) == 0 ? 0xFF : 1 << (i >> 1 & 7));
        if (i >= VERSION && i < VERSION + 4) {
          assertThrows(FormatException.class, () -> readsTheSame(run, meta));
        } else if (i % 3 == 0) {
          detected += readsTheSame(run, meta) ? 0 : 1;
        }
        assertFalse(findings(run, meta).isEmpty(), "byte " + i);
        file[i] = right;
      }
      assertTrue(detected > file.length / 6, "detected by reading: " + detected);
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = Form.class,
      names = {"FOOTER_PAGE", "FOOTER_IN_HEADER"})
  void everyTruncationIsFound(Form form) throws IOException {
    try (Run run = smallRun()) {
      SSTable written = form.write(run, 5);
      SSTableMeta meta = written.meta();
      written.release();
      byte[] file = run.storage.files.get(NAME);
      for (int length = 0; length < file.length; length += 97) {
        run.storage.files.put(NAME, Arrays.copyOf(file, length));
        assertFalse(readsTheSame(run, meta));
        assertFalse(findings(run, meta).isEmpty());
        assertThrows(CorruptionException.class, () -> Footers.readMeta(run.space, 5));
      }
      run.storage.files.put(NAME, Arrays.copyOf(file, file.length + 4096));
      assertFalse(readsTheSame(run, meta));
      assertThrows(CorruptionException.class, () -> Footers.readMeta(run.space, 5));
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = Form.class,
      names = {"FOOTER_PAGE", "FOOTER_IN_HEADER"})
  void swappedPagesAndPagesOfOtherFilesAndStoresAreFound(Form form) throws IOException {
    try (Run run = smallRun()) {
      SSTable written = form.write(run, 5);
      SSTable other = form.write(run, 6);
      SSTableMeta meta = written.meta();
      written.release();
      other.release();
      byte[] file = run.storage.files.get(NAME);
      byte[] swapped = file.clone();
      System.arraycopy(file, 4096, swapped, 8192, 4096);
      System.arraycopy(file, 8192, swapped, 4096, 4096);
      run.storage.files.put(NAME, swapped);
      assertFalse(readsTheSame(run, meta));
      assertFalse(findings(run, meta).isEmpty());

      run.storage.files.put(NAME, run.storage.files.get(SSTableMeta.fileName(6)));
      assertFalse(readsTheSame(run, meta));
      assertThrows(CorruptionException.class, () -> Footers.readMeta(run.space, 5));

      run.storage.files.put(NAME, file);
      TableSpace stranger =
          new TableSpace(
              run.pool,
              run.cache,
              run.storage,
              run.space.ioMode(),
              0x1234,
              0x5679,
              run.space.spare(),
              TableSpace::unknownTree);
      assertThrows(CorruptionException.class, () -> Footers.readMeta(stranger, 5));
    }
  }

  @Test
  void theFooterTellsWhatTheManifestKnew() throws IOException {
    for (Form form : Form.values()) {
      try (Run run = smallRun()) {
        SSTable written = form.write(run, 5);
        SSTableMeta meta = Footers.readMeta(run.space, 5);
        assertEquals(written.meta().sizeBytes(), meta.sizeBytes());
        assertEquals(List.of(), findings(run, meta));
        assertTrue(readsTheSame(run, meta));
        written.release();
      }
    }
  }

  @Test
  void aNewerFormatIsRefused() throws IOException {
    try (Run run = smallRun()) {
      SSTable written = run.onDisk(5, Packer.NONE, false);
      int page = run.pool.allocate(Purpose.MERGE);
      Memory memory = run.pool.memory(page);
      int base = run.pool.base(page);
      byte[] file = run.storage.files.get(NAME);
      int footer = file.length - 4096;
      memory.put(base, file, footer, 4096);
      memory.putInt(base + 40, FileLayout.VERSION + 1);
      int pageNo = written.meta().pageCount() - 1;
      PageLayout.seal(memory, base, 4096, run.space.fileSeed(5), pageNo);
      memory.get(base, file, footer, 4096);
      assertThrows(FormatException.class, () -> Footers.readMeta(run.space, 5));
      run.pool.release(page, Purpose.MERGE);
      written.release();
    }
  }

  @ParameterizedTest
  @EnumSource(Form.class)
  void anEntryOfAKindThatIsNotKnownIsToldByFileAndOffset(Form form) throws IOException {
    try (Run run = smallRun()) {
      byte[] key = "user00020x".getBytes(StandardCharsets.US_ASCII);
      run.add(key, 800, UNKNOWN, new byte[30]);
      run.sort();
      SSTable table = form.write(run, 5);
      assertUnknown(
          table, () -> table.locatePinned(key, KeyHash.hash(key, 0, key.length), 900, true));
      byte[] other = "user00020".getBytes(StandardCharsets.US_ASCII);
      long location = table.locatePinned(other, KeyHash.hash(other, 0, other.length), 900, true);
      assertTrue(location >= 0, "the others of the page can be read");
      table.unpin(SSTable.pageOf(location));
      try (SSTableCursor cursor = table.cursor(Access.MERGE)) {
        cursor.first();
        assertUnknown(
            table,
            () -> {
              while (cursor.valid()) {
                cursor.next();
              }
            });
      }
      // A reader inside an epoch is sent outside of it.
      int slot = run.pool.epochs().enter();
      try {
        long hash = KeyHash.hash(key, 0, key.length);
        assertTrue(SSTable.isMiss(table.search(key, hash, 900, false)));
      } finally {
        run.pool.epochs().exit(slot);
      }
      table.release();
      List<Finding> findings = findings(run, table.meta());
      assertFalse(findings.isEmpty());
      assertTrue(findings.get(0).toString().contains("kind 77"), findings::toString);
      assertTrue(findings.get(0).toString().contains(NAME), findings::toString);
    }
  }

  private static void assertUnknown(SSTable table, Executable read) throws IOException {
    CorruptionException e = assertThrows(CorruptionException.class, read);
    assertEquals(NAME, e.file());
    assertEquals(table.file().offset(1), e.offset());
    assertEquals("page 1 holds " + Kind.unknown(UNKNOWN), e.what());
  }
}
