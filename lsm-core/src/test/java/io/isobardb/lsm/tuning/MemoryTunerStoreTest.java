package io.isobardb.lsm.tuning;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.SimulatedStores;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.simulation.Fault;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.memory.stats.Purpose;
import io.isobardb.tuner.memory.Decision;
import io.isobardb.tuner.memory.StoreCycle;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The memory tuner in whole, simulated stores. {@code -Disobar.seed=S} sets the seed. */
@Tag("any-jdk")
class MemoryTunerStoreTest {
  private static final long SEED = Long.getLong("isobar.seed", 1);
  private static final TunedStore.Mix READS = TunedStore.Mix.writes(0);
  private static final TunedStore.Mix WRITES = TunedStore.Mix.writes(100);
  private static final long HOUR = 3_600_000_000_000L;

  private static StoreOptions.Builder options(long writeMemory) {
    return StoreOptions.builder()
        .memoryBudget(8 << 20)
        .writeMemory(writeMemory)
        .pageSize(4096)
        .logLimit(16 << 20)
        .memoryTuner(t -> t.interval(Duration.ofSeconds(1)));
  }

  private static TunedStore loaded(StoreOptions.Builder options, int trees) {
    TunedStore store = new TunedStore(SEED, options.build(), trees, 12_000, 1000);
    store.load();
    return store;
  }

  @ParameterizedTest
  @CsvSource({"1, UNIFORM", "10, HOT_TREE"})
  void writesGetMoreWriteMemory(int trees, TunedStore.Keys keys) {
    try (TunedStore store = loaded(options(2 << 20), trees)) {
      store.run(new TunedStore.Mix(100, keys), 140_000);
      assertTrue(store.target() > 5 << 19, store::text);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 10})
  void readsGetMoreCache(int trees) {
    try (TunedStore store = loaded(options(4 << 20), trees)) {
      store.run(READS, 80_000);
      assertTrue(store.target() < 3 << 20, store::text);
      assertTrue(store.store().stats().cache().targetPages() > 800, store::text);
    }
  }

  @Test
  void theWallFollowsAShiftOfTheWork() {
    try (TunedStore store = loaded(options(3 << 20), 1)) {
      store.run(WRITES, 70_000);
      long forWrites = store.target();
      assertTrue(forWrites > 3 << 20, store::text);
      store.run(READS, 130_000);
      assertTrue(store.target() < forWrites - (1 << 19), store::text);
    }
  }

  @Test
  void eachDecisionIsAnEventOfListenersAndOfFlightRecordings(@TempDir Path temp) throws Exception {
    Path file = temp.resolve("recording.jfr");
    List<StoreListener.Tuning> told;
    try (Recording recording = new Recording();
        TunedStore store = loaded(options(4 << 20), 1)) {
      recording.enable("isobar.Tuning").withoutThreshold();
      recording.start();
      store.run(READS, 50_000);
      recording.stop();
      recording.dump(file);
      told = store.decisions;
    }
    assertTrue(told.size() > 1);
    // Besides those that come each second.
    List<RecordedEvent> events =
        RecordingFile.readAllEvents(file).stream()
            .filter(event -> event.getEventType().getName().equals("isobar.Tuning"))
            .toList();
    assertEquals(told.size(), events.size());
    for (int i = 0; i < told.size(); i++) {
      StoreListener.Tuning event = told.get(i);
      assertEquals(event.toBytes(), events.get(i).getLong("toBytes"));
      assertEquals(event.predictedCost(), events.get(i).getDouble("predictedCost"));
      assertEquals(event.method(), events.get(i).getString("method"));
      // What each expected is told with what came of it, in the next.
      double expected = i == 0 ? Double.NaN : told.get(i - 1).predictedCost();
      assertEquals(expected, event.expectedCost());
      assertTrue(event.operations() > 0 && event.cost() > 0 && !event.reason().isEmpty());
    }
  }

  @Tag("deep")
  @Test
  void readsOfWhatWasFlushedLatelyAreToldTheTuner() throws IOException {
    try (TunedStore store = loaded(options(2 << 20), 1)) {
      store.run(TunedStore.Mix.writes(50), 160_000);
      for (Decision decision : store.recorded()) {
        StoreCycle seen = decision.seen();
        // Uniform: of L0 and of all there is, a byte of entries has as many readers; but of L0 some
        // is the pages' own, and some are older versions.
        double whole = (double) seen.queryReadPages() / store.dataBytes();
        double told = seen.trees().get(0).recentReads();
        assertTrue(told > 0.4 * whole && told < whole, () -> told + " of " + whole);
      }
      assertTrue(store.recorded().size() > 2, store::text);
    }
  }

  @Tag("deep")
  @Test
  void whatTheCacheBorrowsOfWriteMemoryIsNotToldAsItsLoss() throws IOException {
    try (TunedStore store = loaded(options(4 << 20), 1)) {
      store.run(TunedStore.Mix.writes(20), 500_000);
      long ghosts = store.store().stats().cache().ghostCapacityPages() * 4096L;
      List<Double> told =
          store.recorded().stream().map(decision -> 1.0 * decision.seen().ghostBytes()).toList();
      assertTrue(told.size() > 2, store::text);
      // Pages that are remembered go with the file that a merge deletes: at times there are fewer.
      assertTrue(told.stream().allMatch(bytes -> bytes > ghosts / 2 && bytes <= 2 * ghosts));
      // Writers use most of their memory, and not all of it all the time.
      long more = told.stream().filter(bytes -> bytes > 1.05 * ghosts).count();
      assertTrue(2 * more > told.size(), () -> told + " of " + ghosts);
    }
  }

  @Tag("deep")
  @Test
  void pagesCostWhatTheWeightsSay() {
    StoreOptions.Builder options =
        options(4 << 20).memoryTuner(t -> t.writeWeight(3).readWeight(0.5));
    try (TunedStore store = loaded(options, 1)) {
      store.run(TunedStore.Mix.writes(50), 160_000);
      assertFalse(store.decisions.isEmpty());
      for (StoreListener.Tuning decision : store.decisions) {
        double cost = 3 * decision.writeCost() + 0.5 * decision.readCost();
        assertEquals(cost, decision.cost(), 1e-9 * cost, store::text);
      }
    }
  }

  @Test
  void stepsAreAsLongAsOptionsSay() {
    StoreOptions.Builder options =
        ExperimentalOptions.set(
            options(4 << 20),
            e -> e.tunerSamples(5).tunerFixedStep(0.01).tunerMaxStep(0.02).tunerBoldness(1));
    try (TunedStore store = loaded(options, 1)) {
      store.run(READS, 80_000);
      assertFalse(store.decisions.isEmpty());
      for (StoreListener.Tuning decision : store.decisions) {
        long step = Math.abs(decision.toBytes() - decision.fromBytes());
        assertTrue(step <= decision.fromBytes() / 50, store::text);
      }
      assertTrue(store.target() < 4 << 20, store::text);
    }
  }

  @Tag("deep")
  @Test
  void theWallStaysWithinTheFloorsThatOptionsName() {
    long writeFloor = 7 << 19;
    try (TunedStore store =
        loaded(options(4 << 20).memoryTuner(t -> t.writeFloor(writeFloor)), 1)) {
      store.run(READS, 80_000);
      assertEquals(writeFloor, store.target(), store::text);
    }
    long cacheFloor = 15 << 18;
    try (TunedStore store =
        loaded(options(2 << 20).memoryTuner(t -> t.cacheFloor(cacheFloor)), 1)) {
      store.run(WRITES, 140_000);
      long cache = store.store().stats().cache().targetPages() * 4096L;
      assertTrue(store.target() > 2 << 20, store::text);
      assertTrue(cache >= cacheFloor, store::text);
    }
  }

  @ParameterizedTest
  @CsvSource({"8, 4096", "8, 65536", "32, 8192", "256, 4096"})
  void theGhostCacheTakesLessThanAFiftiethOfTheBudget(int megabytes, int pageSize) {
    StoreOptions.Builder options =
        StoreOptions.builder().memoryBudget((long) megabytes << 20).pageSize(pageSize);
    try (TunedStore store = new TunedStore(SEED, options.build(), 1, 1, 1)) {
      long ghost = store.store().stats().ledger().bytes(Purpose.GHOST);
      assertTrue(ghost > 0);
      assertTrue(50 * ghost <= (long) megabytes << 20, () -> ghost + " bytes");
    }
  }

  @Test
  void nothingIsDecidedWhileNothingHappens() {
    try (TunedStore store = loaded(options(4 << 20), 1)) {
      store.run(READS, 12_000);
      store.world().pass(HOUR);
      int decided = store.decisions.size();
      store.world().pass(24 * HOUR);
      assertEquals(decided, store.decisions.size(), store::text);
    }
  }

  @Test
  void dataThatFitIntoTheCacheMoveNothing() {
    TunedStore small = new TunedStore(SEED, options(4 << 20).build(), 1, 500, 1000);
    try (small) {
      small.load();
      small.run(READS, 40_000);
      assertEquals(4 << 20, small.target(), small::text);
    }
  }

  @Test
  void equalSeedsGiveEqualDecisions() {
    String first = decisions();
    assertFalse(first.isEmpty());
    assertEquals(first, decisions());
  }

  private static String decisions() {
    try (TunedStore store = loaded(options(4 << 20), 3)) {
      store.run(TunedStore.Mix.writes(50), 110_000);
      return store.text();
    }
  }

  @Test
  void afterOpeningAgainTheTunerGoesOnWhereItWas() throws Exception {
    TunedStore store = loaded(options(4 << 20), 1);
    try (store) {
      store.run(READS, 40_000);
      int decided = store.decisions.size();
      long target = store.target();
      assertTrue(decided > 0 && target < 4 << 20, store::text);
      store.reopen();
      assertEquals(target, store.target());
      assertEquals(decided, store.store().stats().tuner().cycle());
      store.world().pass(HOUR);
      assertEquals(target, store.store().stats().writeMemoryLimitBytes());
      store.run(READS, 60_000);
      assertTrue(store.decisions.size() > decided, store::text);
      assertEquals(decided + 1, store.decisions.get(decided).cycle());
      assertTrue(store.target() < target, store::text);
    }
    store.world().checkClosed();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "v2 cycle=", "\0\0\0\n\uFFFD", "v2 cycle=1 x=1 why=because\n"})
  void aDamagedFileIsNoHistory(String text) throws Exception {
    TunedStore store = loaded(options(4 << 20), 1);
    try (store) {
      store.world().overwrite(TunerFile.NAME, text);
      store.reopen();
      assertEquals(0, store.store().stats().tuner().cycle());
      store.run(READS, 40_000);
      assertEquals(1, store.decisions.get(0).cycle());
      long decided = store.decisions.size();
      store.reopen();
      assertEquals(decided, store.store().stats().tuner().cycle());
    }
    store.world().checkClosed();
  }

  @ParameterizedTest
  @ValueSource(doubles = {0, 0.3, 1})
  void theWallGoesToWhereItWasButNotBeyondTheFloors(double share) throws Exception {
    TunedStore store = loaded(options(4 << 20), 10);
    try (store) {
      store.world().decided(share);
      store.reopen();
      store.run(WRITES, 5_000);
      store.world().pass(HOUR);
      StoreStats stats = store.store().stats();
      assertEquals(stats.tuner().targetBytes(), stats.writeMemoryLimitBytes());
      assertTrue(stats.writeMemoryLimitBytes() >= 8 << 20 >> 5, stats::toJson);
      assertTrue(stats.writeMemoryLimitBytes() <= (8 << 20) / 4 * 3, stats::toJson);
      store.run(TunedStore.Mix.writes(50), 10_000);
    }
  }

  @Test
  void whatFitAtFirstCanBeWrittenHoweverTheWallStands() {
    try (TunedStore store = loaded(options(4 << 20), 1)) {
      store.run(READS, 80_000);
      store.world().pass(HOUR);
      assertTrue(store.store().stats().writeMemoryLimitBytes() < 3 << 20, store::text);
      Tree tree = store.store().tree("t0");
      byte[] large = new byte[Inside.of(store.store()).maxValueBytes()];
      assertEquals(1 << 20, large.length);
      large[77] = 77;
      tree.put(SimulatedStores.bytes("large"), large);
      WriteBatch batch = store.store().newBatch();
      for (int i = 0; i < 17; i++) {
        batch.put(tree, SimulatedStores.key(i), new byte[100_000]);
      }
      store.store().write(batch);
      assertArrayEquals(large, tree.get(SimulatedStores.bytes("large")));
      // The wall stays where such a write fits.
      store.run(READS, 20_000);
      assertEquals(4 << 20, store.store().stats().writeMemoryLimitBytes(), store::text);
    }
  }

  @Test
  void aSmallerBudgetLeavesBothSidesTheirFloors() throws Exception {
    StoreOptions large =
        StoreOptions.builder().memoryBudget(256 << 20).pageSize(4096).logLimit(16 << 20).build();
    long small = 32 << 20;
    for (double share : new double[] {1, 0}) {
      try (TunedStore store = new TunedStore(SEED, large, 20, 2_000, 100)) {
        store.world().decided(share);
        store.reopen();
        store.run(WRITES, 1_000);
        store.world().pass(HOUR);
        store.store().setMemoryBudget(small);
        StoreStats stats = store.store().stats();
        assertTrue(stats.writeMemoryLimitBytes() >= small >> 5, stats::toJson);
        assertTrue(stats.writeMemoryLimitBytes() <= small / 4 * 3, stats::toJson);
        assertEquals(stats.tuner().targetBytes(), stats.writeMemoryLimitBytes());
      }
    }
  }

  @Tag("deep")
  @Test
  void theBudgetCanBeChangedWhileTheWallMoves() {
    try (TunedStore store = loaded(options(4 << 20), 1)) {
      for (int megabytes : new int[] {12, 6, 16, 8}) {
        store.run(WRITES, 15_000);
        store.store().setMemoryBudget((long) megabytes << 20);
        store.run(READS, 12_000);
        long write = store.store().stats().writeMemoryLimitBytes();
        assertTrue(write < (long) megabytes << 20, store::text);
      }
    }
  }

  @Test
  void offMeansThatNothingIsDecidedAndNoFileWritten() throws Exception {
    try (TunedStore store = loaded(options(4 << 20).memoryTuner(false), 1)) {
      store.run(TunedStore.Mix.writes(50), 60_000);
      assertFalse(store.store().stats().tuner().on());
      assertEquals(0, store.decisions.size());
      assertFalse(store.world().storage().exists(TunerFile.NAME));
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aFileThatCanNotBeWrittenOrReadDoesNoHarm(boolean diskFull) {
    try (TunedStore store = loaded(options(4 << 20), 1)) {
      store
          .world()
          .storage()
          .faults(
              (operation, file, index) ->
                  file.startsWith(TunerFile.NAME) && operation.mutating()
                      ? diskFull ? Fault.SHORT_THEN_ENOSPC : Fault.EIO
                      : Fault.NONE);
      store.run(READS, 40_000);
      assertTrue(store.decisions.size() > 1, store::text);
      store.store().tree("t0").put(SimulatedStores.key(1), new byte[10]);
      store.reopen();
      store.store().tree("t0").put(SimulatedStores.key(2), new byte[10]);
      store.run(READS, 20_000);
    }
  }

  @Test
  void theOptionIsOnOrOffAndTheIntervalHasBounds() {
    Properties properties = new Properties();
    assertTrue(StoreOptions.fromProperties(properties, "isobar.").memoryTuner().on());
    properties.setProperty("isobar.memoryTuner", "off");
    properties.setProperty("isobar.memoryTunerInterval", "90s");
    StoreOptions parsed = StoreOptions.fromProperties(properties, "isobar.");
    assertFalse(parsed.memoryTuner().on());
    assertEquals(Duration.ofSeconds(90), parsed.memoryTuner().interval());
    properties.setProperty("isobar.memoryTuner", "perhaps");
    assertThrows(
        IllegalArgumentException.class, () -> StoreOptions.fromProperties(properties, "isobar."));
    assertThrows(
        IllegalArgumentException.class,
        () -> StoreOptions.builder().memoryTuner(t -> t.interval(Duration.ofMillis(1))).build());
  }

  @ParameterizedTest
  @CsvSource({
    "memoryTunerWriteWeight, -1, to 1000000",
    "memoryTunerReadWeight, NaN, to 1000000",
    "memoryTunerReadWeight, 2000000, to 1000000",
    "memoryTunerWriteFloor, 51MB, of 52428800 bytes",
    "memoryTunerCacheFloor, 51MB, the 52428800 bytes",
    "experiment.tunerSamples, 1, from 2 to 100",
    "experiment.tunerFixedStep, 1.5, from 0.001 to 1",
    "experiment.tunerMaxStep, 0, from 0.001 to 1",
    "experiment.tunerBoldness, 10.5, from 1 to 10",
    "experiment.tunerBoldness, NaN, from 1 to 10",
    "experiment.tunerBoldness, 0.5, from 1 to",
    "experiment.tunerMinGain, NaN, from 0 to 1",
  })
  void itsOptionsHaveBounds(String option, String value, String told) {
    Properties properties = new Properties();
    properties.setProperty("memoryBudget", "100MB");
    properties.setProperty("writeMemory", "50MB");
    properties.setProperty(option, value);
    IllegalArgumentException refused =
        assertThrows(
            IllegalArgumentException.class, () -> StoreOptions.fromProperties(properties, ""));
    assertTrue(
        refused.getMessage().contains(option) && refused.getMessage().contains(told),
        refused.getMessage());
    assertThrows(
        IllegalArgumentException.class,
        () -> StoreOptions.builder().memoryTuner(t -> t.writeWeight(0).readWeight(0)).build());
  }
}
