package io.isobardb.lsm.recovery;

import static io.isobardb.lsm.recovery.HandmadeStore.LOGGED;
import static io.isobardb.lsm.recovery.HandmadeStore.UNLOGGED;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.sstable.Packing;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.version.Place;
import io.isobardb.lsm.version.TreeDefinition;
import io.isobardb.lsm.version.VersionEdit;
import io.isobardb.repair.check.OfflineStore;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Metadata with right checksums that says what can't be. */
class CraftedMetadataTest {
  private static final SSTableMeta.Expiring NONE = SSTableMeta.Expiring.NONE;
  private static final int PAGE = 4096;
  private static final int MANY = Integer.MAX_VALUE;

  private static final SSTableMeta PLAIN =
      new SSTableMeta(
          7,
          1,
          8,
          50,
          3,
          new byte[] {1},
          new byte[] {2},
          10,
          20,
          6,
          1,
          5,
          60,
          8 * PAGE,
          Packing.NONE,
          0,
          NONE);

  /** Six pages of at least 16 bytes each, a header, a page map and a footer. */
  private static final SSTableMeta PACKED =
      new SSTableMeta(
          7,
          1,
          9,
          50,
          3,
          new byte[] {1},
          new byte[] {2},
          10,
          20,
          6,
          1,
          0,
          2,
          4 * PAGE,
          Packing.LZ4,
          7,
          NONE);

  /** Ways to lie, with a word that the error must have. */
  private enum Lie {
    PAGES(1, MANY, "pages"),
    A_PAGE_MORE(1, 9, "pages"),
    NO_PAGE(1, 0, "page"),
    SIZE(12, 1L << 62, "pages"),
    ENTRIES(2, 1L << 60, "entries"),
    DELETES(3, 51, "deletes"),
    LSNS(6, 21, "LSNs"),
    ROOT_IS_HEADER(8, 0, "index"),
    ROOT(8, MANY, "index"),
    FLAT(9, 0, "index"),
    TALL(9, MANY, "index"),
    FILTER(10, MANY, "filter"),
    BLOCKS(11, MANY, "filter"),
    CODEC(13, 2, "codec"),
    MAP(14, MANY, "page map");

    final int field;
    final long value;
    final String word;

    Lie(int field, long value, String word) {
      this.field = field;
      this.value = value;
      this.word = word;
    }

    SSTableMeta of(SSTableMeta meta) {
      return with(meta, field, value);
    }
  }

  /** The description with one field changed: 0 is the file's number, keys can't be changed. */
  static SSTableMeta with(SSTableMeta meta, int field, long value) {
    return new SSTableMeta(
        field == 0 ? value : meta.fileNumber(),
        meta.treeId(),
        field == 1 ? (int) value : meta.pageCount(),
        field == 2 ? value : meta.entries(),
        field == 3 ? value : meta.deletes(),
        meta.minKey(),
        meta.maxKey(),
        field == 6 ? value : meta.minLsn(),
        field == 7 ? value : meta.maxLsn(),
        field == 8 ? (int) value : meta.rootPage(),
        field == 9 ? (int) value : meta.indexHeight(),
        field == 10 ? (int) value : meta.filterPage(),
        field == 11 ? (int) value : meta.filterBlocks(),
        field == 12 ? value : meta.sizeBytes(),
        field == 13 ? new Packing("LZ4", (int) value) : meta.packing(),
        field == 14 ? (int) value : meta.pageMapPage(),
        meta.expiring());
  }

  @ParameterizedTest
  @EnumSource(Lie.class)
  void whatAnSSTableCanNotBeIsSeen(Lie lie) {
    assertEquals(null, PLAIN.flaw(PAGE));
    assertEquals(null, PACKED.flaw(PAGE));
    for (SSTableMeta meta : List.of(PLAIN, PACKED)) {
      // Pages are compressed to any size, and a header may have no footer page behind it.
      if (meta == PLAIN || lie != Lie.A_PAGE_MORE && lie != Lie.SIZE) {
        String flaw = lie.of(meta).flaw(PAGE);
        assertTrue(flaw != null && (meta == PACKED || flaw.contains(lie.word)), lie + ": " + flaw);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(Lie.class)
  void aStoreWhoseManifestSaysItIsRefusedAndChecked(Lie lie) throws IOException {
    for (int tree : new int[] {LOGGED, UNLOGGED}) {
      HandmadeStore store = new HandmadeStore();
      store.add(tree, Place.level(0), "a@4800", "b@4808", "c@4816");
      SSTableMeta real;
      try (OfflineStore inspector = store.inspect()) {
        real = inspector.recovered().trees().get(tree - 1).tables().get(0).meta();
      }
      SSTableMeta told = lie == Lie.DELETES ? with(real, 3, 4) : lie.of(real);
      told = lie == Lie.LSNS ? with(real, 6, 4824) : told;
      store.edit(VersionEdit.of(tree).remove(real.fileNumber()).add(Place.level(0), told));
      assertFalse(store.check().isSound());
      if (told.flaw(PAGE) != null) {
        CorruptionException e = assertThrows(CorruptionException.class, store::open);
        assertTrue(e.getMessage().contains(real.fileName()), e.getMessage());
      }
      store.assertAllGivenBack();
    }
  }

  @Test
  void aSizeThatIsNotTheFilesIsSeenBeforeItsPagesAreAskedFor() throws IOException {
    HandmadeStore store = new HandmadeStore();
    store.add(LOGGED, Place.level(0), "a@4800", "b@4808", "c@4816");
    SSTableMeta real;
    try (OfflineStore inspector = store.inspect()) {
      real = inspector.recovered().trees().get(LOGGED - 1).tables().get(0).meta();
    }
    SSTableMeta huge = with(with(real, 1, MANY), 12, (long) MANY * PAGE);
    store.edit(VersionEdit.of(LOGGED).remove(real.fileNumber()).add(Place.level(0), huge));
    assertEquals(null, huge.flaw(PAGE));
    List<String> findings = store.check().findings().stream().map(Object::toString).toList();
    assertEquals(1, findings.size(), findings::toString);
    assertTrue(findings.get(0).contains("a file of"), findings::toString);
    // Nothing reads the file, so that opening and closing have no reason to look.
    store.open().close();
    store.assertAllGivenBack();
  }

  private static BackupFile backup(int pageSize, BackupFile.Table... tables) {
    BackupFile.Source source = new BackupFile.Source(new UUID(1, 2), pageSize, "/store", 10, 1);
    VersionEdit created = VersionEdit.create(new TreeDefinition(1, "t", Map.of()));
    VersionEdit added = VersionEdit.of(1).add(Place.level(0), PLAIN).build();
    return new BackupFile(1, source, 0, List.of(created, added), List.of(tables));
  }

  private static final String HASH = "0123456789abcdef".repeat(4);

  @Test
  void backupsThatNoStoreCanBeMadeOfAreNotTakenForWhole() throws IOException {
    long size = PLAIN.sizeBytes();
    BackupFile.Table table = new BackupFile.Table(7, size, HASH);
    byte[] whole = backup(PAGE, table).encode();
    assertEquals(List.of(table), BackupFile.decode(1, whole).tables());
    Map<String, BackupFile> lies =
        Map.of(
            "pages of 0", backup(0, table),
            "pages of 5000", backup(5000, table),
            "8 pages of 8192", backup(8192, table),
            "is no hash", backup(PAGE, new BackupFile.Table(7, size, "../" + HASH.substring(3))),
            "two tables", backup(PAGE, table, table),
            "was backed up with null", backup(PAGE, new BackupFile.Table(8, size, HASH)),
            "was backed up with 5", backup(PAGE, new BackupFile.Table(7, 5, HASH)),
            "no tree has the tables [8]", backup(PAGE, table, new BackupFile.Table(8, size, HASH)));
    for (Map.Entry<String, BackupFile> lie : lies.entrySet()) {
      byte[] text = lie.getValue().encode();
      CorruptionException e =
          assertThrows(CorruptionException.class, () -> BackupFile.decode(1, text), lie.getKey());
      assertTrue(e.getMessage().contains(lie.getKey()), e.getMessage());
      assertEquals(1, verify(text).size(), lie.getKey());
    }
    // The table itself is missing here.
    assertEquals(1, verify(whole).size());
  }

  @Test
  void aBackupOfRunsThatOverlapIsNotTakenForWhole() throws IOException {
    // The same keys as the plain one, in the same run.
    SSTableMeta twin =
        new SSTableMeta(
            8,
            1,
            8,
            50,
            3,
            new byte[] {1},
            new byte[] {2},
            10,
            20,
            6,
            1,
            5,
            60,
            8 * PAGE,
            Packing.NONE,
            0,
            NONE);
    BackupFile one = backup(PAGE);
    for (boolean overlap : new boolean[] {false, true}) {
      VersionEdit both =
          VersionEdit.of(1)
              .levels(2)
              .add(Place.level(0), PLAIN)
              .add(Place.level(overlap ? 0 : 1), twin)
              .build();
      List<BackupFile.Table> tables =
          List.of(
              new BackupFile.Table(7, PLAIN.sizeBytes(), HASH),
              new BackupFile.Table(8, twin.sizeBytes(), HASH));
      List<VersionEdit> edits = List.of(one.edits().get(0), both);
      byte[] text = new BackupFile(1, one.source(), 0, edits, tables).encode();
      if (overlap) {
        CorruptionException e =
            assertThrows(CorruptionException.class, () -> BackupFile.decode(1, text));
        assertTrue(e.getMessage().contains("overlap"), e.getMessage());
        assertEquals(1, verify(text).size());
      } else {
        assertEquals(tables, BackupFile.decode(1, text).tables());
      }
    }
  }

  private static List<?> verify(byte[] text) throws IOException {
    SimulatedStorage disk = new SimulatedStorage();
    try (BackupDirectory directory = BackupDirectory.open(disk)) {
      HandmadeStore.write(disk, BackupFile.fileName(1), text);
      return directory.verify();
    }
  }
}
