package io.isobardb.lsm.dataset;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.simulation.CrashMode;
import io.isobardb.lsm.simulation.SimulatedStorage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(value = 60, threadMode = ThreadMode.SAME_THREAD) // which the simulation belongs to
@Tag("any-jdk")
class IndexBuildTest {
  private static final int RECORDS = 500;

  private final SimulatedDatasets world = new SimulatedDatasets(7);
  private Store store;

  @BeforeEach
  @Timeout(value = 60, threadMode = ThreadMode.SAME_THREAD)
  void openStore() {
    store = world.open();
  }

  @AfterEach
  @Timeout(value = 60, threadMode = ThreadMode.SAME_THREAD)
  void closeStore() {
    store.close();
  }

  private static final class Stop extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  private static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }

  private static byte[] key(int i) {
    return bytes(String.format("%05d", i));
  }

  /** By the whole record. */
  private static Index byValue(Maintenance maintenance, boolean unique) {
    return Index.builder("by-value")
        .key((key, value) -> List.of(value))
        .maintenance(maintenance)
        .unique(unique)
        .build();
  }

  private Dataset open(boolean logged, BuildProgress progress, Index... indexes) {
    DatasetOptions.Builder options =
        DatasetOptions.builder()
            .changeTimeout(Duration.ofMillis(20))
            .primary(TreeOptions.builder().logged(logged).build())
            .progress(progress);
    Arrays.stream(indexes).forEach(options::index);
    return Dataset.open(store, "d", options.build());
  }

  private Dataset open(Index... indexes) {
    return open(true, BuildProgress.NONE, indexes);
  }

  private static void fill(Dataset dataset) {
    for (int i = 0; i < RECORDS; i++) {
      dataset.put(key(i), bytes("value" + i % 250));
    }
  }

  private static void assertComplete(Dataset dataset, int records) {
    DatasetCheck check = dataset.check();
    assertTrue(check.isSound(), check::toString);
    assertEquals(records, check.records());
    assertEquals(1, check.indexes().size());
    assertEquals(IndexState.READY, dataset.indexes().get(0).state());
  }

  @ParameterizedTest
  @EnumSource(Maintenance.class)
  void anIndexIsBuiltOverWhatIsThereAndOverWhatIsWrittenMeanwhile(Maintenance maintenance) {
    Dataset dataset = open();
    fill(dataset);
    List<Long> seen = new ArrayList<>();
    dataset.createIndex(
        byValue(maintenance, false),
        (index, records) -> {
          seen.add(records);
          int at = seen.size();
          // Behind the build, before it, and new ones on both sides.
          dataset.put(key(at), bytes("changed"));
          dataset.put(key(RECORDS - at), bytes("changed"));
          dataset.delete(key(2 * at + 100));
          dataset.put(bytes("00000+" + at), bytes("changed"));
          dataset.put(bytes("9+" + at), bytes("changed"));
          assertEquals(IndexState.BUILDING, dataset.indexes().get(0).state());
          assertEquals(records, dataset.indexes().get(0).recordsBuilt());
          assertThrows(
              IllegalStateException.class, () -> dataset.find("by-value", bytes("changed")));
        });
    assertTrue(seen.size() >= 8, seen::toString);
    assertComplete(dataset, RECORDS + seen.size());
    assertEquals(4 * seen.size(), dataset.find("by-value", bytes("changed")).size());
  }

  @ParameterizedTest
  @CsvSource({"EAGER, true", "VALIDATION, true", "EAGER, false", "VALIDATION, false"})
  void aBuildThatACrashBrokeOffGoesOnWhenTheDatasetIsOpened(
      Maintenance maintenance, boolean logged) {
    Dataset dataset = open(logged, BuildProgress.NONE);
    fill(dataset);
    AtomicReference<SimulatedStorage> crashed = new AtomicReference<>();
    assertThrows(
        Stop.class,
        () ->
            dataset.createIndex(
                byValue(maintenance, false),
                (index, records) -> {
                  if (records >= 256) {
                    dataset.put(key(3), bytes("changed"));
                    dataset.put(key(400), bytes("changed"));
                    store.sync();
                    if (!logged) {
                      store.checkpoint();
                    }
                    crashed.set(world.crashed(CrashMode.ONLY_SYNCED));
                    throw new Stop();
                  }
                }));
    store.close();
    world.use(crashed.get());
    store = world.open();
    List<Long> seen = new ArrayList<>();
    Dataset again =
        open(logged, (index, records) -> seen.add(records), byValue(maintenance, false));
    assertEquals(320, seen.get(0), "it goes on where it was");
    assertComplete(again, RECORDS);
    assertEquals(2, again.find("by-value", bytes("changed")).size());
  }

  @Test
  void aBuildThatWasBrokenOffGoesOnWithTheNextCall() {
    Dataset dataset = open();
    fill(dataset);
    Index index = byValue(Maintenance.EAGER, false);
    assertThrows(
        Stop.class,
        () ->
            dataset.createIndex(
                index,
                (name, records) -> {
                  throw new Stop();
                }));
    dataset.put(key(1), bytes("changed"));
    dataset.delete(key(200));
    List<Long> seen = new ArrayList<>();
    dataset.createIndex(index, (name, records) -> seen.add(records));
    assertEquals(128, seen.get(0));
    assertComplete(dataset, RECORDS - 1);
  }

  @Test
  void anIndexThatWasNeverReadyIsDroppedIfItIsNotAmongTheDefinitions() {
    Dataset dataset = open();
    fill(dataset);
    Index index = byValue(Maintenance.EAGER, false);
    assertThrows(
        Stop.class,
        () ->
            dataset.createIndex(
                index,
                (name, records) -> {
                  throw new Stop();
                }));
    store.close();
    store = world.open();
    Dataset again = open();
    assertEquals(List.of(), again.indexes());
    assertEquals(List.of("d", "d/catalog"), store.treeNames());
    again.createIndex(index);
    assertComplete(again, RECORDS);
  }

  @Test
  void aTreeThatIsThereBecomesADatasetWithItsIndexes() {
    for (int i = 0; i < RECORDS; i++) {
      store.openTree("d").put(key(i), bytes("value" + i));
    }
    Dataset dataset = open(byValue(Maintenance.EAGER, true));
    assertComplete(dataset, RECORDS);
    assertEquals(1, dataset.find("by-value", bytes("value77")).size());
  }

  @Test
  void anIndexWithoutItsTreeIsBuiltAnew() {
    Dataset dataset = open(byValue(Maintenance.EAGER, false));
    fill(dataset);
    String tree = dataset.indexes().get(0).tree();
    store.dropTree(tree);
    store.close();
    store = world.open();
    assertComplete(open(byValue(Maintenance.EAGER, false)), RECORDS);
  }

  @Test
  void anIndexWhoseDropACrashBrokeOffIsGone() {
    Index index = byValue(Maintenance.EAGER, false);
    Dataset dataset = open(index);
    fill(dataset);
    try (Transaction transaction = store.begin()) {
      dataset.put(transaction, key(1), bytes("x"));
      String message =
          assertThrows(IllegalStateException.class, () -> dataset.dropIndex("by-value"))
              .getMessage();
      assertTrue(message.contains(transaction.toString()), message);
      SimulatedStorage crashed = world.crashed(CrashMode.ONLY_SYNCED);
      store.close();
      world.use(crashed);
    }
    store = world.open();
    String message = assertThrows(IllegalArgumentException.class, () -> open(index)).getMessage();
    assertTrue(message.contains("there is no index 'by-value'"), message);
    Dataset again = open();
    assertEquals(List.of("d", "d/catalog"), store.treeNames());
    again.createIndex(index);
    assertTrue(again.check().isSound());
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whatWasDroppedStaysSoAfterACrash(boolean logged) {
    Dataset dataset = open(logged, BuildProgress.NONE, byValue(Maintenance.EAGER, false));
    fill(dataset);
    store.sync();
    store.checkpoint();
    dataset.dropIndex("by-value");
    SimulatedStorage crashed = world.crashed(CrashMode.ONLY_SYNCED);
    store.close();
    world.use(crashed);
    store = world.open();
    Dataset again = open(logged, BuildProgress.NONE);
    assertEquals(List.of("d", "d/catalog"), store.treeNames());
    assertEquals(RECORDS, again.check().records());
  }

  @Test
  void aDropWaitsForThoseWhoMaintainTheIndexAndCanBeTriedAgain() {
    Dataset dataset = open(byValue(Maintenance.EAGER, false));
    try (Transaction transaction = store.begin()) {
      dataset.put(transaction, key(1), bytes("x"));
      assertThrows(IllegalStateException.class, () -> dataset.dropIndex("by-value"));
      dataset.put(transaction, key(2), bytes("y"));
      transaction.commit();
    }
    dataset.dropIndex("by-value");
    assertEquals(List.of("d", "d/catalog"), store.treeNames());
    assertEquals("y", new String(dataset.get(key(2)), UTF_8));
  }

  @ParameterizedTest
  @CsvSource({"EAGER, false", "VALIDATION, false", "EAGER, true", "VALIDATION, true"})
  void whoBeganToWriteBeforeTheIndexWasThereLeavesNothingWrong(
      Maintenance maintenance, boolean unique) {
    Dataset dataset = open();
    dataset.put(key(1), bytes("first"));
    Index index = byValue(maintenance, unique);
    try (Transaction old = store.begin()) {
      dataset.put(old, key(2), bytes("second"));
      String message =
          assertThrows(IllegalStateException.class, () -> dataset.createIndex(index)).getMessage();
      assertTrue(message.contains(old.toString()), message);
      // A new writer knows the index; the old one writes the same record past it.
      dataset.put(key(1), bytes("new"));
      dataset.put(old, key(1), bytes("old"));
      dataset.put(old, key(3), bytes("third"));
      old.commit();
    }
    dataset.createIndex(index);
    assertComplete(dataset, 3);
    assertEquals(0, dataset.find("by-value", bytes("new")).size());
    assertEquals(1, dataset.find("by-value", bytes("old")).size());
    assertEquals(1, dataset.find("by-value", bytes("third")).size());
    dataset.put(key(4), bytes("new"));
    assertEquals(1, dataset.find("by-value", bytes("new")).size());
    assertTrue(dataset.check().isSound());
  }

  @ParameterizedTest
  @EnumSource(Maintenance.class)
  void aUniqueIndexOverDuplicatesIsRefusedAndGone(Maintenance maintenance) {
    Dataset dataset = open();
    fill(dataset);
    Index index = byValue(maintenance, true);
    DuplicateKeyException e =
        assertThrows(DuplicateKeyException.class, () -> dataset.createIndex(index));
    assertTrue(e.getMessage().contains("'value0'"), e.getMessage());
    assertEquals(List.of(), dataset.indexes());
    assertEquals(List.of("d", "d/catalog"), store.treeNames());
    for (int i = 250; i < RECORDS; i++) {
      dataset.delete(key(i));
    }
    dataset.createIndex(index);
    assertComplete(dataset, 250);
  }

  @ParameterizedTest
  @EnumSource(Maintenance.class)
  void duplicatesThatGoBeforeTheBuildComesToThemLeaveTheirOthersAlone(Maintenance maintenance) {
    Dataset dataset = open();
    for (int i = 0; i < 200; i++) {
      dataset.put(key(i), bytes("value" + i % 190));
    }
    // The build has been at 0 to 9, and not yet at 190 to 199, which hold the same.
    dataset.createIndex(
        byValue(maintenance, true),
        (index, records) -> {
          if (records == 64) {
            for (int i = 190; i < 200; i++) {
              dataset.put(key(i), bytes("other" + i));
            }
          }
        });
    assertComplete(dataset, 200);
    assertEquals(1, dataset.find("by-value", bytes("value3")).size());
  }

  @Test
  void anExtractorThatFailsEndsTheBuildAndTheIndex() {
    Dataset dataset = open();
    fill(dataset);
    Index index =
        Index.builder("fails")
            .key(
                (key, value) -> {
                  throw new UnsupportedOperationException("no");
                })
            .build();
    assertThrows(ExtractorException.class, () -> dataset.createIndex(index));
    assertEquals(List.of(), dataset.indexes());
    dataset.put(key(1), bytes("x"));
  }

  @Test
  void oneChangeAtATime() {
    Dataset dataset = open();
    fill(dataset);
    List<String> messages = new ArrayList<>();
    dataset.createIndex(
        byValue(Maintenance.EAGER, false),
        (index, records) ->
            messages.add(
                assertThrows(IllegalStateException.class, () -> dataset.dropIndex("by-value"))
                    .getMessage()));
    assertFalse(messages.isEmpty());
    assertTrue(messages.get(0).contains("creating index 'by-value'"), messages.get(0));
  }
}
