package io.isobardb.lsm.tuning;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.option.Levels;
import io.isobardb.memory.stats.Purpose;
import io.isobardb.tuner.workload.LevelDecision;
import io.isobardb.tuner.workload.LevelDecision.Action;
import io.isobardb.tuner.workload.LevelProgress;
import io.isobardb.tuner.workload.LevelProgress.Stage;
import io.isobardb.tuner.workload.LevelShares;
import io.isobardb.tuner.workload.LevelText;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Levels that are planned, in whole, simulated stores. {@code -Disobar.seed=S} sets the seed. */
@Tag("any-jdk")
class LevelPlannerStoreTest {
  private static final long SEED = Long.getLong("isobar.seed", 1);
  private static final int RECORDS = 20_000;
  private static final TunedStore.Mix WRITES = TunedStore.Mix.writes(100);

  private final List<StoreListener.Levels> told = new ArrayList<>();

  /** A cycle is 8 MB of writes, and all records are about 10 MB. */
  private static StoreOptions.Builder options() {
    return StoreOptions.builder()
        .memoryBudget(4 << 20)
        .writeMemory(512 << 10)
        .pageSize(4096)
        .logLimit(1 << 20)
        .memoryTuner(false)
        .memoryTuner(t -> t.interval(Duration.ofSeconds(1)))
        .levels(Levels.optimised());
  }

  private TunedStore store(StoreOptions.Builder options, int trees) {
    TunedStore store = new TunedStore(SEED, options.build(), trees, RECORDS, 480);
    listen(store);
    return store;
  }

  private void listen(TunedStore store) {
    store
        .store()
        .addListener(
            new StoreListener() {
              @Override
              public void onLeveled(Levels event) {
                told.add(event);
              }
            });
  }

  private static List<Long> plan(TunedStore store, int tree) {
    return store.store().stats().trees().get(tree).levelPlanBytes();
  }

  private static String reason(TunedStore store, int tree) {
    return store.store().stats().trees().get(tree).levelReason();
  }

  private static List<LevelDecision> recorded(TunedStore store) throws IOException {
    return TunerFile.parseLevels(store.world().text(TunerFile.NAME));
  }

  /** Runs until this was told, sixty cycles at most. */
  private StoreListener.Levels until(TunedStore store, Action wanted) {
    for (int i = 0; i < 60; i++) {
      for (StoreListener.Levels event : told) {
        if (event.action().equals(wanted.name())) {
          return event;
        }
      }
      store.run(WRITES, 8_000);
    }
    throw new AssertionError("no " + wanted + ": " + told);
  }

  @Test
  void whatIsDecidedIsToldAndKeptOverReopening() throws IOException {
    try (TunedStore store = store(options(), 1)) {
      store.load();
      assertEquals(List.of(), plan(store, 0));
      store.run(WRITES, 20 * 8_000);
      assertFalse(told.isEmpty());
      for (StoreListener.Levels event : told) {
        assertEquals("t0", event.tree());
        assertTrue(event.modelledCost() > 0 && !event.reason().isEmpty(), event.toString());
      }
      // In cycles between decisions it waits, which is not told.
      for (int i = 0; i < 8 && !told.get(told.size() - 1).reason().equals(reason(store, 0)); i++) {
        store.run(WRITES, 8_000);
      }
      assertEquals(told.get(told.size() - 1).reason(), reason(store, 0));
      List<LevelDecision> all = recorded(store);
      List<LevelDecision> recorded = all.stream().filter(it -> it.action() != Action.WAIT).toList();
      // What it waited for is recorded once each, and only until something is decided.
      assertEquals(all.subList(all.size() - recorded.size(), all.size()), recorded);
      List<String> awaited =
          all.subList(0, all.size() - recorded.size()).stream().map(LevelDecision::reason).toList();
      assertTrue(awaited.get(0).contains("how popular"), awaited.toString());
      assertEquals(awaited.stream().distinct().toList(), awaited);
      assertEquals(
          told.stream().map(it -> it.cycle() + it.action()).toList(),
          recorded.stream().map(it -> it.cycle() + it.action().name()).toList());
      List<Long> plan = plan(store, 0);
      assertEquals(plan.isEmpty(), recorded.get(recorded.size() - 1).plan() == null);
      store.reopen();
      assertEquals(plan.size(), plan(store, 0).size());
      long cycle = told.get(told.size() - 1).cycle();
      listen(store);
      told.clear();
      store.run(WRITES, 12 * 8_000);
      assertTrue(told.get(0).cycle() > cycle, told.toString());
    }
  }

  /** A plan as a file has it, made to be bad: small levels, one as large as the next. */
  private static String harmful(StoreListener.Levels measured) {
    LevelShares bad = new LevelShares(List.of(1.0, 0.03, 0.03, 0.03));
    LevelProgress progress =
        new LevelProgress(
            Stage.MEASURING,
            bad,
            bad,
            null,
            measured.foundCost(),
            measured.modelledCost(),
            measured.foundCost(),
            0,
            3);
    return LevelText.write(
        new LevelDecision(5, 1, Action.STAY, Double.NaN, Double.NaN, Double.NaN, "bad", progress));
  }

  @Test
  void aPlanMadeHarmfulOnPurposeIsTakenBackAndBarred() throws IOException {
    try (TunedStore store = store(options(), 1)) {
      store.load();
      StoreListener.Levels measured = first(store);
      long before = merged(store);
      store.run(WRITES, 40_000);
      double usual = merged(store) - before;
      store.store().close();
      store.world().overwrite(TunerFile.NAME, harmful(measured) + "\n");
      store.reopen();
      told.clear();
      listen(store);
      assertEquals(4, plan(store, 0).size());
      before = merged(store);
      store.run(WRITES, 40_000);
      assertTrue(merged(store) - before > 1.05 * usual, "the plan is not as bad as it should be");
      until(store, Action.TAKE_BACK);
      told.clear();
      store.run(WRITES, 10 * 8_000);
      assertTrue(plan(store, 0).isEmpty(), plan(store, 0).toString());
      assertTrue(
          told.stream().anyMatch(event -> event.reason().contains("none is made")),
          told.toString());
    }
  }

  /** The first event that has a cost by the sizes that levels have without a plan. */
  private StoreListener.Levels first(TunedStore store) {
    for (int i = 0; i < 100; i++) {
      store.run(WRITES, 8_000);
      if (!told.isEmpty()) {
        assertTrue(told.get(0).foundCost() > 0, told.toString());
        return told.get(0);
      }
    }
    throw new AssertionError("nothing is decided");
  }

  /** Merges of L0 then bring all keys at a time, by what is learnt more than there are. */
  @Tag("deep")
  @Test
  void aTreeThatMemoryHasRoomForIsDecidedOn() {
    for (long seed = SEED; seed < SEED + 4; seed++) {
      StoreOptions.Builder options = options().writeMemory(2 << 20).logLimit(4 << 20);
      try (TunedStore store = new TunedStore(seed, options.build(), 1, 4_000, 480)) {
        told.clear();
        listen(store);
        store.load();
        assertEquals("", reason(store, 0));
        for (int cycle = 0; cycle < 40 && told.isEmpty(); cycle++) {
          store.run(WRITES, 8_000);
          assertEquals("", store.store().stats().tuner().last(), "seed " + seed);
        }
        assertFalse(told.isEmpty(), "seed " + seed + ": " + reason(store, 0));
      }
    }
  }

  private static long merged(TunedStore store) {
    return store.store().stats().mergeBytesWritten();
  }

  @Tag("deep")
  @Test
  void nothingIsDecidedInACycleInWhichTheWallMoves() {
    StoreOptions.Builder options = options().memoryTuner(true);
    try (TunedStore store = store(options, 1)) {
      List<String> wrong = new ArrayList<>();
      store
          .store()
          .addListener(
              new StoreListener() {
                @Override
                public void onLeveled(Levels event) {
                  StoreStats now = store.store().stats();
                  if (now.tuner().targetBytes() != now.writeMemoryLimitBytes()) {
                    wrong.add(event.toString());
                  }
                }
              });
      store.load();
      store.run(WRITES, 30 * 8_000);
      assertTrue(store.decisions.stream().anyMatch(it -> it.fromBytes() != it.toBytes()));
      assertFalse(told.isEmpty());
      assertEquals(List.of(), wrong);
    }
  }

  @Test
  void whatIsLearntIsInTheLedgerAndOnlyThen() {
    long without;
    try (TunedStore store = store(options().levels(Levels.dynamic()), 1)) {
      without = store.store().stats().ledger().bytes(Purpose.METADATA);
    }
    try (TunedStore store = store(options(), 1)) {
      long with = store.store().stats().ledger().bytes(Purpose.METADATA);
      assertTrue(
          with >= without + (64 << 10) && with <= without + (70 << 10), without + ", " + with);
    }
  }

  @Test
  void ofManyTreesOnlyThatWhichIsWrittenMostIsPlannedFor() {
    try (TunedStore store = store(options(), 4)) {
      store.load();
      store.run(new TunedStore.Mix(100, TunedStore.Keys.HOT_TREE), 12 * 8_000);
      Set<String> trees = told.stream().map(StoreListener.Levels::tree).collect(Collectors.toSet());
      assertEquals(Set.of("t0"), trees);
      for (int tree = 1; tree < 4; tree++) {
        assertEquals(
            "there is memory to learn from 1, and those are written more", reason(store, tree));
      }
    }
  }

  @Test
  void aTreeThatWasWrittenMostOnceGivesWayToTheOneThatIsWrittenNow() {
    try (TunedStore store = store(options(), 2)) {
      store.load();
      store.run(new TunedStore.Mix(100, TunedStore.Keys.HOT_TREE), 20 * 8_000);
      Tree now = store.store().tree("t1");
      for (int cycle = 0; cycle < 12; cycle++) {
        for (int i = 0; i < 8_000; i++) {
          store.put(now, 2 * i + 1);
        }
        String reason = reason(store, 1);
        assertTrue(cycle < 6 || !reason.contains("those are written more"), reason);
      }
    }
  }

  @Test
  void textThatIsDamagedOrOfOtherTreesIsPassedOver() throws IOException {
    try (TunedStore store = store(options(), 1)) {
      store.load();
      StoreListener.Levels measured = first(store);
      String line = harmful(measured);
      // Nor does a plan count that takes more space than is allowed now.
      String large = line.replace("1.0,0.03", "1.0,0.9");
      for (String text :
          List.of(
              line.substring(0, 70),
              line.replace("plan=1.0", "plan=x"),
              line.replace("tree=1", "tree=77"),
              line.replace("levels v1", "levels v2"),
              large)) {
        store.store().close();
        store.world().overwrite(TunerFile.NAME, text + "\n");
        store.reopen();
        assertEquals(List.of(), plan(store, 0), text);
      }
    }
  }

  @Tag("deep")
  @Test
  void withoutTheOptionAPlanIsNotLookedAt() throws IOException {
    StoreOptions.Builder without = options().levels(Levels.dynamic());
    try (TunedStore store = store(without, 1)) {
      store.load();
      store.store().close();
      store.world().decided(0.5);
      store.reopen();
      store.run(WRITES, 12 * 8_000);
      assertEquals(List.of(), plan(store, 0));
      assertEquals(List.of(), told);
      assertFalse(store.store().stats().tuner().on());
    }
  }

  @Test
  void theMemoryTunerIsToldToBeOffWhereOnlyLevelsArePlanned() {
    try (TunedStore store = store(options(), 1)) {
      assertFalse(store.store().stats().tuner().on());
      assertEquals(512 << 10, store.store().stats().tuner().targetBytes());
    }
  }

  @Test
  void aRatioThatWouldDoNothingIsRefused() {
    StoreOptions.Builder both = ExperimentalOptions.set(options(), e -> e.levelSizeRatio(10));
    String message = assertThrows(IllegalArgumentException.class, both::build).getMessage();
    assertTrue(message.contains("levelSizeRatio=10") && message.contains("OPTIMISED"), message);
    Properties properties = new Properties();
    properties.setProperty("levels", "optimised");
    assertEquals(Levels.optimised(), StoreOptions.fromProperties(properties, "").levels());
  }
}
