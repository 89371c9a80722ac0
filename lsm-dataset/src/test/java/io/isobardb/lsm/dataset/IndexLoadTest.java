package io.isobardb.lsm.dataset;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.SimulatedStores;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.observe.IoPurpose;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.simulation.CrashMode;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedStorage;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Indexes that are loaded in bulk while the dataset is opened. */
@Tag("any-jdk")
class IndexLoadTest {
  private static final long SEED = Long.getLong("isobar.seed", 20_261_124L);
  private static final int RECORDS = 300;

  private final SimulatedClock clock = new SimulatedClock();

  private Store open(SimulatedStorage storage) {
    return SimulatedStores.open(storage, clock, SEED);
  }

  private static byte[] key(int i) {
    return SimulatedStores.key(i);
  }

  /** In another order than their keys. */
  private static String value(int i) {
    return "value" + i * 7919 % 1009;
  }

  private static void fill(Tree tree) {
    for (int i = 0; i < RECORDS; i++) {
      tree.put(key(i), bytes(value(i)));
    }
  }

  private static Index byValue(Maintenance maintenance, boolean unique) {
    return Index.builder("by-value")
        .key((key, value) -> List.of(value))
        .maintenance(maintenance)
        .unique(unique)
        .build();
  }

  /** By two halves of the value. */
  private static Index byPart(Maintenance maintenance) {
    return Index.builder("by-part")
        .key(
            (key, value) -> {
              String text = new String(value, UTF_8);
              return List.of(bytes(text.substring(0, 6)), bytes(text.substring(6)));
            })
        .maintenance(maintenance)
        .build();
  }

  private static Dataset dataset(Store store, boolean logged, Index... indexes) {
    DatasetOptions.Builder options =
        DatasetOptions.builder()
            .changeTimeout(Duration.ofMillis(20))
            .primary(TreeOptions.builder().logged(logged).build());
    List.of(indexes).forEach(options::index);
    return Dataset.open(store, "d", options.build());
  }

  private static List<String> entries(Tree tree) {
    List<String> entries = new ArrayList<>();
    try (Cursor cursor = tree.cursor()) {
      for (boolean more = cursor.first(); more; more = cursor.next()) {
        HexFormat hex = HexFormat.of();
        entries.add(
            hex.formatHex(cursor.key())
                + " "
                + hex.formatHex(cursor.value())
                + " "
                + cursor.expires());
      }
    }
    return entries;
  }

  @Test
  void nothingOfItGoesThroughTheLog() {
    try (Store store = open(new SimulatedStorage(clock))) {
      fill(store.openTree("d"));
      long logged = store.stats().ioBytesWritten().get(IoPurpose.LOG);
      long puts = store.stats().operations().puts();
      Dataset dataset =
          dataset(store, true, byValue(Maintenance.EAGER, true), byPart(Maintenance.VALIDATION));
      StoreStats after = store.stats();
      assertTrue(after.ioBytesWritten().get(IoPurpose.LOAD) > 0, after::toJson);
      // What the catalog says of it.
      assertTrue(after.operations().puts() - puts < 20, after::toJson);
      assertTrue(after.ioBytesWritten().get(IoPurpose.LOG) - logged < 32_000, after::toJson);
      DatasetCheck check = dataset.check();
      assertTrue(check.isSound(), check::toString);
      assertEquals(1, dataset.find("by-value", bytes(value(7))).size());
    }
  }

  @ParameterizedTest
  @CsvSource({
    "EAGER, true, 1000000",
    "EAGER, false, 4000",
    "VALIDATION, true, 4000",
    "VALIDATION, false, 1",
  })
  void theEntriesAreThoseThatTransactionsMake(
      Maintenance maintenance, boolean unique, long pieceBytes) {
    try (Store store = open(new SimulatedStorage(clock))) {
      Tree records = store.openTree("d");
      fill(records);
      Instant later = Instant.ofEpochMilli(clock.wallMillis()).plusSeconds(3600);
      records.put(key(RECORDS), bytes("expires later"), later);
      records.put(key(RECORDS + 1), bytes("expires soon"), later.minusSeconds(3599));
      clock.jumpWall(2000);
      Index definition = byValue(maintenance, unique);
      Dataset dataset = dataset(store, true);
      dataset.createIndex(definition, BuildProgress.NONE);
      Tree tree = store.openTree("loaded");
      SecondaryIndex index =
          new SecondaryIndex(
              definition, tree, IndexCatalog.Stored.of(definition, 1, IndexState.BUILDING));
      List<Long> told = new ArrayList<>();
      new IndexLoad(store, records, index, pieceBytes).run((name, at) -> told.add(at));
      List<String> expected = entries(store.tree(dataset.indexes().get(0).tree()));
      assertEquals(RECORDS + 1, expected.size());
      assertEquals(expected, entries(tree));
      assertEquals(RECORDS + 1, told.get(told.size() - 1));
      assertTrue(pieceBytes > 100_000 ? told.size() == 1 : told.size() > 5, told::toString);
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 4000, 1_000_000})
  void whatIsThereTwiceInAUniqueIndexIsToldWithBothRecords(long pieceBytes) {
    try (Store store = open(new SimulatedStorage(clock))) {
      Tree records = store.openTree("d");
      fill(records);
      records.put(key(250), bytes(value(3)));
      Index definition = byValue(Maintenance.EAGER, true);
      SecondaryIndex index =
          new SecondaryIndex(
              definition,
              store.openTree("loaded"),
              IndexCatalog.Stored.of(definition, 1, IndexState.BUILDING));
      IndexLoad load = new IndexLoad(store, records, index, pieceBytes);
      String message =
          assertThrows(DuplicateKeyException.class, () -> load.run(BuildProgress.NONE))
              .getMessage();
      assertTrue(message.contains("belongs to the record 'key000003'"), message);
      assertTrue(message.contains("record 'key000250' can't"), message);
      // So the dataset can't be opened with it; without it, nothing is left of the attempt.
      assertThrows(DuplicateKeyException.class, () -> dataset(store, true, definition));
      assertEquals(List.of("d", "d/catalog", "loaded"), store.treeNames());
      assertEquals(RECORDS, dataset(store, true).check().records());
    }
  }

  @Test
  void whatAnEarlierAttemptHasLeftDoesNotCount() {
    SimulatedStorage storage = new SimulatedStorage(clock);
    Index index = byValue(Maintenance.EAGER, false);
    try (Store store = open(storage)) {
      Dataset dataset = dataset(store, true);
      dataset.put(key(1), bytes("first"));
      try (Transaction old = store.begin()) {
        dataset.put(old, key(2), bytes("second"));
        assertThrows(IllegalStateException.class, () -> dataset.createIndex(index));
        // A writer that knows the index; another one writes the same record past it.
        dataset.put(key(1), bytes("new"));
        dataset.put(old, key(1), bytes("old"));
        old.commit();
      }
    }
    try (Store store = open(storage)) {
      Dataset dataset = dataset(store, true, index);
      DatasetCheck check = dataset.check();
      assertTrue(check.isSound(), check::toString);
      assertEquals(0, dataset.find("by-value", bytes("new")).size());
      assertEquals(1, dataset.find("by-value", bytes("old")).size());
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aCrashAtAnyOperationLeavesWhatIsBuiltAnew(boolean logged) {
    System.out.println("isobar.seed=" + SEED);
    SplittableRandom random = new SplittableRandom(SEED);
    Index[] indexes = {byValue(Maintenance.EAGER, true), byPart(Maintenance.VALIDATION)};
    SimulatedStorage storage = new SimulatedStorage(clock);
    int[] crashes = new int[1];
    try (Store store = open(storage)) {
      fill(store.openTree("d", TreeOptions.builder().logged(logged).build()));
      store.sync();
      store.checkpoint();
      storage.onMutation(
          disk -> {
            CrashMode mode = CrashMode.values()[random.nextInt(CrashMode.values().length)];
            SimulatedStorage crashed = disk.crash(random.split(), mode);
            for (int round = 0; round < 2; round++) {
              try (Store again = open(crashed)) {
                Dataset dataset = dataset(again, logged, indexes);
                DatasetCheck check = dataset.check();
                assertTrue(check.isSound(), () -> "crash " + crashes[0] + ": " + check);
                assertEquals(RECORDS, check.records());
                assertEquals(2, check.indexes().size());
                assertEquals(1, dataset.find("by-value", bytes(value(7))).size());
                dataset.put(key(7), bytes(value(7)));
              }
            }
            crashes[0]++;
          });
      dataset(store, logged, indexes);
      storage.onMutation(disk -> {});
    }
    assertTrue(crashes[0] > 20, crashes[0] + " crashes");
  }

  private static DatasetOptions updating(Index... indexes) {
    DatasetOptions.Builder options = DatasetOptions.builder().updateIndexes(true);
    List.of(indexes).forEach(options::index);
    return options.build();
  }

  private static List<String> described(Dataset dataset) {
    return dataset.indexes().stream()
        .map(index -> index.name() + " " + index.version() + " " + index.state())
        .toList();
  }

  private static Index inVersion(Index index, int version) {
    return Index.builder(index.name()).key(index.extractor()).version(version).build();
  }

  @Test
  void indexesBecomeThoseThatAreGiven() {
    SimulatedStorage storage = new SimulatedStorage(clock);
    Index value = byValue(Maintenance.EAGER, false);
    Index part = byPart(Maintenance.EAGER);
    try (Store store = open(storage)) {
      fill(store.openTree("d"));
      dataset(store, true, value);
    }
    for (int i = 0; i < 2; i++) { // the second time there is nothing to do
      try (Store store = open(storage)) {
        Dataset dataset = Dataset.open(store, "d", updating(inVersion(value, 2), part));
        assertEquals(List.of("by-part 1 READY", "by-value 2 READY"), described(dataset));
        assertTrue(dataset.check().isSound());
        assertEquals(1, dataset.find("by-value", bytes(value(7))).size());
        assertEquals(
            List.of("d", "d/catalog", "d/index/by-part/3", "d/index/by-value/2"),
            store.treeNames());
      }
    }
    try (Store store = open(storage)) {
      Dataset dataset = Dataset.open(store, "d", updating(part));
      assertEquals(List.of("by-part 1 READY"), described(dataset));
      assertEquals(List.of("d", "d/catalog", "d/index/by-part/3"), store.treeNames());
    }
  }

  @Test
  void nothingGoesIfAnIndexCantBeBuilt() {
    SimulatedStorage storage = new SimulatedStorage(clock);
    Index value = byValue(Maintenance.EAGER, true);
    Index same = Index.builder("same").key((key, record) -> List.of(bytes("x"))).build();
    Index unique = Index.builder("same").key(same.extractor()).unique(true).build();
    try (Store store = open(storage)) {
      fill(store.openTree("d"));
      dataset(store, true, value);
    }
    try (Store store = open(storage)) {
      assertThrows(DuplicateKeyException.class, () -> Dataset.open(store, "d", updating(unique)));
      Dataset dataset = dataset(store, true, value);
      assertEquals(List.of("by-value 1 READY"), described(dataset));
      assertTrue(dataset.check().isSound());
    }
    try (Store store = open(storage)) {
      Dataset dataset = Dataset.open(store, "d", updating(same));
      assertEquals(RECORDS, dataset.find("same", bytes("x")).size());
    }
  }

  @Test
  void anotherDefinitionIsRefusedUnlessIndexesAreUpdated() {
    SimulatedStorage storage = new SimulatedStorage(clock);
    try (Store store = open(storage)) {
      dataset(store, true, byValue(Maintenance.EAGER, false));
    }
    try (Store store = open(storage)) {
      String told =
          assertThrows(
                  IllegalArgumentException.class,
                  () -> dataset(store, true, byPart(Maintenance.EAGER)))
              .getMessage();
      assertTrue(told.contains("'by-part': open the dataset with DatasetOptions.update"), told);
      assertTrue(told.contains("'by-value' that is not among the definitions"), told);
    }
  }
}
