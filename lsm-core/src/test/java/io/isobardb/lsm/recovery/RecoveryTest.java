package io.isobardb.lsm.recovery;

import static io.isobardb.lsm.recovery.HandmadeStore.LOGGED;
import static io.isobardb.lsm.recovery.HandmadeStore.LOGGED_KEYS;
import static io.isobardb.lsm.recovery.HandmadeStore.ORDERS;
import static io.isobardb.lsm.recovery.HandmadeStore.UNLOGGED;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.error.FormatException;
import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.error.StoreFailedException;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.simulation.Fault;
import io.isobardb.lsm.simulation.FaultPlan;
import io.isobardb.lsm.simulation.Operation;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.sstable.Packing;
import io.isobardb.lsm.version.Manifest;
import io.isobardb.lsm.version.Place;
import io.isobardb.lsm.version.Recovered;
import io.isobardb.lsm.version.VersionEdit;
import io.isobardb.memory.pool.AllocationFaults;
import io.isobardb.memory.pool.OutOfBudgetException;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.repair.check.OfflineStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What opening makes of stores that are not as a process of this release left them. */
class RecoveryTest {
  private static final long CHECKPOINT = 4800;

  /** Where an SSTable's header has its format version. */
  private static final int TABLE_VERSION = 40;

  private final long memoryBytes = HandmadeStore.memoryBytes();
  private final HandmadeStore store = new HandmadeStore();

  @AfterEach
  void allIsGivenBack() {
    store.assertAllGivenBack();
  }

  /** The SSTables of a tree as opening alone leaves them. */
  private Map<String, List<String>> opened(int treeId) throws IOException {
    SimulatedStorage left;
    try (Store opened = store.open()) {
      left = store.disk().copy();
      assertEquals(3, opened.treeNames().size());
    }
    return new HandmadeStore(left).tables(treeId);
  }

  // ---- back to the checkpoint

  @Test
  void entriesBehindTheCheckpointGoAndTheOthersStayWhereTheyAre() throws IOException {
    String newer = store.add(UNLOGGED, Place.group(4), "a@4808", "q@5000");
    String mixed = store.add(UNLOGGED, Place.group(2), "a@4808", "a@4800", "b@4808", "b@4200");
    String older = store.add(UNLOGGED, Place.group(2), "c@4800", "d@4200");
    String edge = store.add(UNLOGGED, Place.group(1), "m@4800", "n@4808");
    String deep = store.add(UNLOGGED, Place.level(2), "b@4104", "d@4904", "e@4104", "f@4904");
    String above = store.add(UNLOGGED, Place.level(0), "k@4808");
    String last = store.add(UNLOGGED, Place.level(0), "l@4800");
    store.edit(VersionEdit.store().checkpointLsn(CHECKPOINT));
    Map<String, List<String>> tables = opened(UNLOGGED);
    Map<String, List<String>> byPlace = new TreeMap<>();
    tables.forEach((name, entries) -> byPlace.put(name.substring(name.indexOf(' ')), entries));
    assertEquals(
        Map.of(older + " L0/2", List.of("c@4800", "d@4200"), last + " last", List.of("l@4800")),
        kept(tables, older, last));
    assertEquals(5, tables.size(), tables.toString());
    assertTrue(tables.containsValue(List.of("a@4800", "b@4200")), tables.toString());
    assertTrue(tables.containsValue(List.of("b@4104", "e@4104")), tables.toString());
    assertEquals(List.of("b@4104", "e@4104"), byPlace.get(" last-2"), tables.toString());
    assertEquals(List.of("m@4800"), byPlace.get(" L0/1"), tables.toString());
    assertEquals(Map.of(), kept(tables, newer, mixed, edge, deep, above));
  }

  private static Map<String, List<String>> kept(Map<String, List<String>> all, String... files) {
    Map<String, List<String>> kept = new TreeMap<>();
    for (String file : files) {
      all.forEach(
          (name, entries) -> {
            if (name.startsWith(file)) {
              kept.put(name, entries);
            }
          });
    }
    return kept;
  }

  @Test
  void aLoggedTreeIsNotTakenBack() throws IOException {
    store.add(LOGGED, Place.group(1), "a@4808", "b@4200");
    store.edit(VersionEdit.store().checkpointLsn(CHECKPOINT));
    Map<String, List<String>> before = store.tables(LOGGED);
    assertEquals(before, opened(LOGGED));
  }

  @Test
  void whatIsWrittenAnewIsAsTheTreeWantsIt() throws IOException {
    String[] entries = new String[500];
    for (int i = 0; i < entries.length; i++) {
      entries[i] = "key%05d@%d".formatted(i, i % 2 == 0 ? 4200 : 4808);
    }
    store.add(UNLOGGED, Place.level(0), entries);
    store.edit(VersionEdit.store().checkpointLsn(CHECKPOINT));
    store.open().close();
    try (OfflineStore inspector = store.inspect()) {
      List<VersionEdit.Added> tables = inspector.recovered().trees().get(UNLOGGED - 1).tables();
      assertEquals(1, tables.size());
      assertEquals(250, tables.get(0).meta().entries());
      assertEquals(Packing.LZ4, tables.get(0).meta().packing());
      assertTrue(tables.get(0).meta().filterBlocks() > 0);
    }
    assertEquals(List.of(), store.check().findings());
    assertEquals(List.of(), store.check().notes());
  }

  @Test
  void anSSTableOfALaterReleaseIsInTheWayOnlyIfItIsWrittenAnew() throws IOException {
    later(store.add(UNLOGGED, Place.group(1), "a@4800", "b@4200"));
    later(store.add(UNLOGGED, Place.group(2), "a@4808", "b@5000"));
    store.edit(VersionEdit.store().checkpointLsn(CHECKPOINT));
    assertEquals(1, openAlone());
    later(store.add(UNLOGGED, Place.group(3), "a@4808", "b@4800"));
    store.disk().create("0000009999.sst", IoMode.BUFFERED).close();
    SimulatedStorage before = store.disk().copy();
    FormatException e = assertThrows(FormatException.class, store::open);
    assertTrue(e.getMessage().contains("version 99"), e.getMessage());
    assertEquals(before.list(), store.disk().list());
  }

  private int openAlone() throws IOException {
    store.open().close();
    try (OfflineStore inspector = store.inspect()) {
      return inspector.recovered().trees().get(UNLOGGED - 1).tables().size();
    }
  }

  private void later(String file) throws IOException {
    store.overwrite(file, TABLE_VERSION, 1, 99);
  }

  // ---- replay

  @Test
  void replayBeginsWithTheFirstRecordThatIsNotFlushed() throws IOException {
    List<Long> lsns = new ArrayList<>();
    try (OfflineStore inspector = store.inspect()) {
      inspector.log((lsn, tree, write) -> lsns.add(lsn));
    }
    assertEquals(LOGGED_KEYS, lsns.size());
    store.edit(VersionEdit.of(LOGGED).flushedLsn(lsns.get(7)));
    try (Store opened = store.open()) {
      assertEquals(LOGGED_KEYS - 7, keys(opened.tree("logged")).size());
      assertEquals("logged07", keys(opened.tree("logged")).get(0));
    }
  }

  private static List<String> keys(Tree tree) {
    List<String> keys = new ArrayList<>();
    try (Cursor cursor = tree.cursor()) {
      for (boolean more = cursor.first(); more; more = cursor.next()) {
        keys.add(new String(cursor.key(), UTF_8));
      }
    }
    return keys;
  }

  // ---- what may be missing

  @Test
  void aMissingSSTableIsToldWithItsTreeAndNothingIsChanged() throws IOException {
    String file = store.add(UNLOGGED, Place.level(0), "a@4200");
    store.add(UNLOGGED, Place.level(1), "a@4808", "b@4200");
    store.disk().delete(file);
    List<String> before = store.disk().list();
    CorruptionException e = assertThrows(CorruptionException.class, store::open);
    assertEquals(file, e.file());
    assertEquals(0, e.offset());
    assertTrue(e.getMessage().contains("unlogged"), e.getMessage());
    assertTrue(e.getMessage().contains("is missing"), e.getMessage());
    assertEquals(before, store.disk().list());
    assertEquals(0, store.disk().openFiles());
  }

  @Test
  void aPageSizeThatACrashLeftOutIsNotedByTheNextOpen() throws IOException {
    HandmadeStore fresh = new HandmadeStore(new SimulatedStorage());
    PagePool pool = new PagePool(1 << 20, 4096);
    try {
      Manifest.create(fresh.disk(), pool, 1, 2, Manifest.DEFAULT_ROLL_BYTES).close();
      assertEquals(Map.of(), properties(fresh, pool));
      fresh.open().close();
      assertEquals(Map.of("pageSize", "4096"), properties(fresh, pool));
      // Each opening writes a manifest of its own, and keeps the one before.
      fresh.open().close();
      long bytes = fresh.disk().usedBytes();
      fresh.open().close();
      assertEquals(bytes, fresh.disk().usedBytes());
    } finally {
      pool.close();
    }
  }

  private static Map<String, String> properties(HandmadeStore of, PagePool pool)
      throws IOException {
    Recovered recovered = Manifest.open(of.disk(), pool, Manifest.DEFAULT_ROLL_BYTES);
    recovered.manifest().close();
    return recovered.properties();
  }

  @Test
  void aDiskWithoutDirectAccessWillDo() throws IOException {
    store.disk().supportsDirect(false);
    byte[] key = "k".getBytes(UTF_8);
    try (Store opened = store.open()) {
      opened.tree("logged").put(key, new byte[10], Durability.SYNC);
      opened.flush();
    }
    try (Store opened = store.open()) {
      assertEquals(10, opened.tree("logged").get(key).length);
    }
    assertEquals(List.of(), store.check().findings());
  }

  @Test
  void damageIsToldWithTheTree() throws IOException {
    store.overwrite(store.add(LOGGED, Place.level(0), "a@4200"), 4200, 1, 99);
    try (Store opened = store.open()) {
      Tree tree = opened.tree("logged");
      CorruptionException e =
          assertThrows(CorruptionException.class, () -> tree.get("a".getBytes(UTF_8)));
      assertEquals("logged", e.tree());
    }
  }

  // ---- opening that fails

  @Test
  void anOpenThatMeetsAFailingDiskGivesAllBackAndCanBeRepeated() throws IOException {
    store.add(UNLOGGED, Place.level(0), "a@4808", "b@4200");
    store.edit(VersionEdit.store().checkpointLsn(CHECKPOINT));
    int told = 0;
    for (int i = 0; ; i++) {
      HandmadeStore copy = new HandmadeStore(store.disk().copy());
      int[] before = {i};
      copy.disk().faults((operation, file, at) -> before[0]-- == 0 ? Fault.EIO : Fault.NONE);
      told += opens(copy, AllocationFaults.NONE) ? 0 : 1;
      copy.disk().faults(FaultPlan.NONE);
      checkOpens(copy, "operation " + i);
      if (before[0] >= 0) {
        break;
      }
    }
    assertTrue(told > 20, told + " failures");
  }

  @Test
  void anOpenThatFindsNoMemoryGivesBackWhatItHasAndCanBeRepeated() throws IOException {
    store.add(UNLOGGED, Place.level(0), "a@4808", "b@4200");
    store.edit(VersionEdit.store().checkpointLsn(CHECKPOINT));
    int told = 0;
    for (int i = 0; ; i++) {
      HandmadeStore copy = new HandmadeStore(store.disk().copy());
      int[] before = {i};
      told += opens(copy, purpose -> before[0]-- == 0) ? 0 : 1;
      checkOpens(copy, "allocation " + i);
      if (before[0] >= 0) {
        break;
      }
    }
    assertTrue(told > 5, told + " failures");
  }

  private boolean opens(HandmadeStore copy, AllocationFaults faults) {
    try {
      copy.open(faults).close();
      return true;
    } catch (IsobarException | UncheckedIOException | OutOfBudgetException e) {
      assertEquals(0, e.getSuppressed().length, () -> Arrays.toString(e.getSuppressed()));
      return false;
    }
  }

  private void checkOpens(HandmadeStore copy, String what) {
    assertEquals(memoryBytes, HandmadeStore.memoryBytes(), "memory that is held, " + what);
    assertEquals(0, copy.disk().openFiles(), "files left open, " + what);
    try (Store opened = copy.open()) {
      assertEquals(LOGGED_KEYS, keys(opened.tree("logged")).size(), what);
      assertEquals(List.of("b"), keys(opened.tree("unlogged")), what);
    }
  }

  // ---- trees

  @Test
  void aStoreThatHasFailedNeitherMakesNorDropsTrees() throws IOException {
    try (Store opened = store.open()) {
      store.disk().faults(FaultPlan.every(Operation.SYNC, Fault.EIO));
      Tree tree = opened.tree("logged");
      assertThrows(
          IsobarException.class,
          () -> tree.put("k".getBytes(UTF_8), new byte[10], Durability.SYNC));
      store.disk().faults(FaultPlan.NONE);
      assertThrows(
          StoreFailedException.class, () -> opened.createTree("new", TreeOptions.defaults()));
      assertThrows(StoreFailedException.class, () -> opened.dropTree("unlogged"));
    }
    try (OfflineStore inspector = store.inspect(ORDERS)) {
      assertEquals(3, inspector.recovered().trees().size());
    }
  }

  @Test
  void noTwoTreesEverHaveTheSameId() throws IOException {
    try (Store opened = store.open()) {
      opened.createTree("one", TreeOptions.defaults());
      opened.dropTree("one");
      opened.createTree("two", TreeOptions.defaults());
      opened.createTree("three", TreeOptions.defaults());
      opened.tree("two").put("k".getBytes(UTF_8), new byte[10]);
    }
    try (Store opened = store.open()) {
      opened.createTree("four", TreeOptions.defaults());
      assertNotNull(opened.tree("two").get("k".getBytes(UTF_8)));
    }
    try (OfflineStore inspector = store.inspect()) {
      assertEquals(
          List.of(1, 2, 3, 5, 6, 7),
          inspector.recovered().trees().stream().map(tree -> tree.definition().id()).toList());
    }
  }
}
