package io.isobardb.lsm.bulk;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static io.isobardb.lsm.SimulatedStores.contents;
import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.SimulatedStores.value;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.BulkLoad;
import io.isobardb.lsm.Compression;
import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Isolation;
import io.isobardb.lsm.Locking;
import io.isobardb.lsm.SimulatedStores;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.TransactionOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.error.ConflictException;
import io.isobardb.lsm.error.StoreFailedException;
import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.lsm.simulation.CrashMode;
import io.isobardb.lsm.simulation.Fault;
import io.isobardb.lsm.simulation.FaultPlan;
import io.isobardb.lsm.simulation.Operation;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.repair.StoreInspector;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BulkLoadTest {
  private static final TreeOptions UNLOGGED = TreeOptions.builder().logged(false).build();
  private static final TreeOptions PACKED =
      TreeOptions.builder().compression(Compression.LZ4).build();
  private static final long SEED = Long.getLong("isobar.seed", 20_240_601L);
  private static final int ENTRIES = 3000;

  private final SimulatedClock clock = new SimulatedClock();

  private Store open(SimulatedStorage storage) {
    return SimulatedStores.open(storage, clock, SEED);
  }

  private static byte[] loaded(int i) {
    return value(i, i % 97 == 0 ? 9000 : 100 + i % 50);
  }

  private static void load(Store store, Tree... trees) {
    try (BulkLoad load = store.bulkLoad(trees)) {
      for (int i = 0; i < ENTRIES; i++) {
        for (Tree tree : trees) {
          load.add(tree, key(i), loaded(i));
        }
      }
      load.commit();
    }
  }

  private static void assertLoaded(Tree tree) {
    for (int i = 0; i < ENTRIES; i += 7) {
      assertArrayEquals(loaded(i), tree.get(key(i)), "entry " + i);
    }
    try (Cursor cursor = tree.cursor()) {
      int seen = 0;
      for (boolean more = cursor.first(); more; more = cursor.next()) {
        assertArrayEquals(key(seen), cursor.key());
        assertArrayEquals(loaded(seen), cursor.value());
        seen++;
      }
      assertEquals(ENTRIES, seen);
      for (boolean more = cursor.last(); more; more = cursor.previous()) {
        seen--;
        assertArrayEquals(key(seen), cursor.key());
        assertArrayEquals(loaded(seen), cursor.value());
      }
      assertEquals(0, seen);
    }
  }

  @Test
  void whatIsLoadedIsThereForAllReadersAndAfterOpeningAgain() {
    SimulatedStorage storage = new SimulatedStorage(clock);
    try (Store store = open(storage)) {
      load(store, store.openTree("plain"), store.openTree("packed", PACKED));
      assertLoaded(store.tree("plain"));
      assertLoaded(store.tree("packed"));
      assertEquals(0, store.stats().merges(), "it went to the last level at once");
    }
    try (Store store = open(storage.crash(new SplittableRandom(SEED), CrashMode.ONLY_SYNCED))) {
      assertLoaded(store.tree("plain"));
      assertLoaded(store.tree("packed"));
    }
  }

  @Test
  void whatIsLoadedIsNewerThanAllBeforeItsCommitAndOlderThanAllBehind() {
    SimulatedStorage storage = new SimulatedStorage(clock);
    try (Store store = open(storage)) {
      Tree tree = store.openTree("tree");
      for (int i = 0; i < ENTRIES; i++) {
        tree.put(key(i), bytes("old"));
      }
      store.flush();
      store.awaitQuiet();
      try (BulkLoad load = store.bulkLoad(tree);
          Snapshot before = store.snapshot()) {
        for (int i = 0; i < ENTRIES; i++) {
          load.add(tree, key(i), loaded(i));
          if (i % 3 == 0) {
            tree.put(key(i), bytes("meanwhile"));
          }
        }
        try (Snapshot meanwhile = store.snapshot()) {
          assertArrayEquals(bytes("meanwhile"), tree.get(key(0)));
          load.commit();
          assertLoaded(tree);
          assertArrayEquals(bytes("meanwhile"), tree.get(key(3), meanwhile));
          assertArrayEquals(bytes("old"), tree.get(key(4), meanwhile));
          tree.put(key(5), bytes("later"));
          tree.delete(key(6));
          store.flush();
          store.awaitQuiet();
          assertArrayEquals(bytes("old"), tree.get(key(3), before));
          assertArrayEquals(bytes("old"), tree.get(key(1), meanwhile));
          assertArrayEquals(bytes("meanwhile"), tree.get(key(6), meanwhile));
        }
      }
      assertArrayEquals(bytes("later"), tree.get(key(5)));
      assertNull(tree.get(key(6)));
      assertArrayEquals(loaded(7), tree.get(key(7)));
    }
    try (Store store = open(storage)) {
      Tree tree = store.tree("tree");
      assertArrayEquals(bytes("later"), tree.get(key(5)));
      assertNull(tree.get(key(6)));
      assertArrayEquals(loaded(3), tree.get(key(3)));
      assertArrayEquals(loaded(ENTRIES - 1), tree.get(key(ENTRIES - 1)));
    }
  }

  @Test
  void whatIsWrittenWhileTheTreesAreFlushedForTheCommitIsOlder() {
    SimulatedStorage storage = new SimulatedStorage(clock);
    try (Store store = open(storage)) {
      Tree tree = store.openTree("tree");
      boolean[] written = new boolean[1];
      store.addListener(
          new StoreListener() {
            @Override
            public void onFlushed(Flush flush) {
              if (!written[0]) {
                written[0] = true;
                tree.put(key(7), bytes("just before"));
              }
            }
          });
      tree.put(key(2), bytes("before"));
      load(store, tree);
      assertTrue(written[0]);
      assertLoaded(tree);
    }
    try (Store store = open(storage)) {
      assertLoaded(store.tree("tree"));
    }
  }

  @Test
  void aSnapshotTakenDuringTheCommitNeverSeesIt() {
    SimulatedStorage storage = new SimulatedStorage(clock);
    List<Snapshot> taken = new ArrayList<>();
    try (Store store = open(storage)) {
      Tree tree = store.openTree("tree");
      tree.put(key(1), bytes("old"));
      BulkLoad load = store.bulkLoad(tree);
      load.add(tree, key(1), bytes("new"));
      storage.onMutation(disk -> taken.add(store.snapshot()));
      load.commit();
      storage.onMutation(disk -> {});
      assertTrue(taken.size() > 3, taken.size() + " snapshots");
      for (Snapshot snapshot : taken) {
        assertArrayEquals(bytes("old"), tree.get(key(1), snapshot));
        snapshot.close();
      }
      assertArrayEquals(bytes("new"), tree.get(key(1)));
    }
  }

  @Test
  void aKeyThatDoesNotAscendIsToldAndWhatWasAddedStands() {
    try (Store store = open(new SimulatedStorage(clock))) {
      Tree tree = store.openTree("tree");
      Tree other = store.openTree("other");
      try (BulkLoad load = store.bulkLoad(tree)) {
        load.add(tree, bytes("b"), bytes("1"));
        for (String key : new String[] {"a", "b"}) {
          String told =
              assertThrows(
                      IllegalArgumentException.class, () -> load.add(tree, bytes(key), bytes("2")))
                  .getMessage();
          assertTrue(told.contains("'" + key + "'") && told.contains("'b'"), told);
        }
        assertThrows(IllegalArgumentException.class, () -> load.add(other, bytes("c"), bytes("2")));
        load.add(tree, bytes("c"), bytes("3"));
        load.commit();
        assertThrows(IllegalStateException.class, () -> load.add(tree, bytes("d"), bytes("4")));
        assertThrows(IllegalStateException.class, load::commit);
      }
      assertEquals(Map.of("b", "1", "c", "3"), contents(tree));
    }
  }

  @Test
  void withoutACommitNothingIsLeft(@TempDir Path directory) throws IOException {
    StoreOptions options =
        StoreOptions.builder().createIfMissing(true).memoryBudget(16 << 20).build();
    try (Store store = Store.open(directory, options)) {
      Tree tree = store.openTree("tree");
      try (BulkLoad load = store.bulkLoad(tree)) {
        for (int i = 0; i < ENTRIES; i++) {
          load.add(tree, key(i), loaded(i));
        }
      }
      assertEquals(Map.of(), contents(tree));
      store.awaitQuiet();
      assertFalse(hasTables(directory));
      BulkLoad left = store.bulkLoad(tree);
      left.add(tree, key(1), loaded(1));
    }
    assertFalse(hasTables(directory));
    try (Store store = Store.open(directory, options)) {
      load(store, store.tree("tree"));
    }
    try (StoreInspector inspector = StoreInspector.open(directory, options)) {
      assertTrue(inspector.check((what, done, total) -> {}).findings().isEmpty());
    }
  }

  private static boolean hasTables(Path directory) throws IOException {
    try (var files = Files.list(directory)) {
      return files.anyMatch(file -> file.toString().endsWith(".sst"));
    }
  }

  @Test
  void transactionsThatReadOrLockedWhatWasLoadedConflict() {
    try (Store store = open(new SimulatedStorage(clock))) {
      Tree tree = store.openTree("tree");
      tree.put(key(1), bytes("old"));
      TransactionOptions pessimistic =
          TransactionOptions.builder().locking(Locking.PESSIMISTIC).build();
      TransactionOptions strict =
          TransactionOptions.builder().isolation(Isolation.SERIALIZABLE).build();
      Transaction locker = store.begin(pessimistic);
      locker.getForUpdate(tree, key(1));
      locker.put(tree, bytes("locker"), bytes("v"));
      Transaction reader = store.begin(strict);
      reader.get(tree, key(2));
      reader.put(tree, bytes("reader"), bytes("v"));
      Transaction writer = store.begin();
      writer.put(tree, key(3), bytes("v"));
      Transaction elsewhere = store.begin(pessimistic);
      elsewhere.getForUpdate(tree, bytes("elsewhere"));
      elsewhere.put(tree, bytes("elsewhere"), bytes("v"));
      load(store, tree);
      assertThrows(ConflictException.class, locker::commit);
      assertThrows(ConflictException.class, reader::commit);
      assertThrows(ConflictException.class, writer::commit);
      elsewhere.commit();
      assertArrayEquals(bytes("v"), tree.get(bytes("elsewhere")));
      try (Transaction later = store.begin(pessimistic)) {
        assertArrayEquals(loaded(1), later.getForUpdate(tree, key(1)));
        later.put(tree, key(1), bytes("later"));
        later.commit();
      }
      assertTrue(tree.compareAndSet(key(1), bytes("later"), bytes("last")));
    }
  }

  @Test
  void aTransactionThatDeletesARangeConflictsWithWhatWasLoadedInIt() {
    try (Store store = open(new SimulatedStorage(clock))) {
      Tree tree = store.openTree("tree");
      Transaction all = store.begin();
      all.deleteRange(tree, bytes("a"), bytes("z"));
      load(store, tree);
      assertThrows(ConflictException.class, all::commit);
      assertLoaded(tree);
      Transaction before = store.begin();
      before.deleteRange(tree, null, key(0));
      Transaction behind = store.begin();
      behind.deleteRange(tree, bytes("last"), null);
      try (BulkLoad load = store.bulkLoad(tree)) {
        load.add(tree, key(0), loaded(0));
        load.commit();
      }
      before.commit();
      behind.commit();
      assertLoaded(tree);
    }
  }

  @Test
  void filesThatTheManifestMayNameStayWhateverTheCommitFailsOf() {
    SimulatedStorage storage = new SimulatedStorage(clock);
    try (Store store = open(storage)) {
      Tree tree = store.openTree("t");
      store.sync();
      BulkLoad load = store.bulkLoad(tree);
      for (int i = 0; i < ENTRIES; i++) {
        load.add(tree, key(i), loaded(i));
      }
      int[] syncs = {0};
      storage.faults(
          (operation, file, index) -> {
            if (operation == Operation.SYNC && file.startsWith("MANIFEST") && ++syncs[0] == 2) {
              // The first one was that of the flush of what was sealed.
              throw new OutOfMemoryError("planted: no heap to sync");
            }
            return Fault.NONE;
          });
      assertThrows(OutOfMemoryError.class, load::commit);
      storage.faults(FaultPlan.NONE);
      assertThrows(StoreFailedException.class, () -> tree.put(key(1), bytes("later")));
    }
    try (Store store = open(storage)) {
      assertLoaded(store.tree("t"));
    }
  }

  @Test
  void aCrashAtAnyOperationLeavesAllOfItOrNothingInAllTrees() {
    System.out.println("isobar.seed=" + SEED);
    SplittableRandom random = new SplittableRandom(SEED);
    SimulatedStorage storage = new SimulatedStorage(clock);
    boolean[] done = new boolean[1];
    int[] checked = new int[2];
    try (Store store = open(storage)) {
      Tree logged = store.openTree("logged");
      Tree unlogged = store.openTree("unlogged", UNLOGGED);
      Tree beside = store.openTree("beside", UNLOGGED);
      for (int i = 0; i < 20; i++) {
        logged.put(key(i), bytes("old"));
        unlogged.put(key(i), bytes("old"));
      }
      store.checkpoint();
      storage.onMutation(
          disk -> {
            CrashMode mode = CrashMode.values()[random.nextInt(CrashMode.values().length)];
            try (Store again = open(disk.crash(random.split(), mode))) {
              Map<String, String> after = contents(again.tree("logged"));
              boolean there = "new".equals(after.get("key000001"));
              assertEquals(there ? 300 : 20, after.size());
              assertEquals(after, contents(again.tree("unlogged")));
              assertTrue(there || !done[0]);
              assertEquals(there ? 1 : 0, contents(again.tree("beside")).size());
              checked[there ? 1 : 0]++;
            }
          });
      beside.put(key(1), bytes("before the commit"));
      try (BulkLoad load = store.bulkLoad(logged, unlogged)) {
        for (int i = 0; i < 300; i++) {
          load.add(logged, key(i), bytes("new"));
          load.add(unlogged, key(i), bytes("new"));
        }
        load.commit();
        done[0] = true;
      }
      store.sync();
      store.checkpoint();
      storage.onMutation(disk -> {});
    }
    assertTrue(checked[0] > 5 && checked[1] > 1, checked[0] + " before, " + checked[1] + " after");
  }
}
