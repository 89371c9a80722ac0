package io.isobardb.bench.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.bench.crash.CrashScript.Crashes;
import io.isobardb.bench.crash.CrashScript.Violation;
import io.isobardb.bench.crash.Expected.ExpectedTree;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.option.Levels;
import io.isobardb.lsm.simulation.FallingOrder;
import io.isobardb.lsm.simulation.ModelValue;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.simulation.SimulatedWorld;
import java.util.EnumSet;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Short scripts crashed before mutating calls: each third of a life's, where {@link
 * SimulatedCrashesTest} looks at few calls of many scripts. {@code -Disobar.crash.scriptStride=1}
 * takes all of them, {@code -Disobar.crash.seed=S} chooses other crashes.
 */
@Tag("any-jdk")
class EveryCallTest {
  /**
   * A short one that does all of {@link #LIFE}; where the engine has changed so that it does not
   * any more, another seed does.
   */
  private static final long SCRIPT = 17;

  private static final Set<Happening> LIFE =
      EnumSet.of(
          Happening.LOG_ROTATED,
          Happening.PARTIAL_FLUSH,
          Happening.FULL_FLUSH,
          Happening.MEMORY_MERGE,
          Happening.L0_MERGE,
          Happening.TABLE_DELETED,
          Happening.MANIFEST_ROLLED,
          Happening.TREE_CREATED,
          Happening.TREE_DROPPED,
          Happening.CHECKPOINT,
          Happening.CLOSED,
          Happening.RECOVERED);

  private static final long SEED = Long.getLong("isobar.crash.seed", 1);
  private static final int STRIDE = Integer.getInteger("isobar.crash.scriptStride", 3);
  private static final int KEYS = 2600;
  private static final int VALUE_BYTES = 4000;

  @Test
  void aLifeOfAStoreCrashedAtEachCall() {
    // What the crashes themselves make happen does not count.
    Coverage coverage = new Coverage();
    Crashes none = new Crashes(1, EnumSet.noneOf(Survival.class), -1);
    assertNull(new CrashScript(SCRIPT, none, coverage).run());
    Set<Happening> missing = EnumSet.copyOf(LIFE);
    missing.retainAll(coverage.missing());
    assertEquals(Set.of(), missing, "what script " + SCRIPT + " does not do");
    Crashes all = new Crashes(STRIDE, EnumSet.allOf(Survival.class), -1);
    CrashScript script = new CrashScript(SCRIPT, all, new Coverage());
    Violation violation = script.run();
    assertNull(violation, () -> violation == null ? "" : CrashReport.describe(violation));
    System.out.println(script.states() + " states");
  }

  private static StoreOptions options(long levelsFor) {
    return StoreOptions.builder()
        .memoryBudget(4 << 20)
        .pageSize(4096)
        .logLimit(1 << 20)
        .levels(Levels.fixed(levelsFor))
        .keyOrder(FallingOrder.FALLING)
        .build();
  }

  @Test
  void l1ComesAndGoesCrashedAtEachCall() throws Exception {
    System.out.println("isobar.crash.seed=" + SEED);
    SplittableRandom random = new SplittableRandom(SEED);
    SimulatedWorld world = new SimulatedWorld(random.nextLong());
    Expected expected = new Expected();
    Coverage coverage = new Coverage();
    Verifier verifier = new Verifier(expected, new Coverage());
    try (Store store = world.open(options(64 << 20))) {
      TreeOptions options = TreeOptions.builder().build();
      ExpectedTree tree = expected.creating("t", options);
      store.createTree(tree.name, options);
      expected.created(tree, false);
      load(store, expected, random, KEYS);
      store.tree(tree.name).compact(null, null); // the last level is to need one above it
    }
    Throwable[] wrong = new Throwable[1];
    for (long levelsFor : new long[] {64 << 10, 64 << 20}) {
      StoreOptions options = options(levelsFor);
      world
          .storage()
          .onMutation(storage -> wrong[0] = crash(storage, verifier, options, random, wrong[0]));
      try (Store store = world.open(options)) {
        store.addListener(coverage);
        load(store, expected, random, 20);
        if (levelsFor == 64 << 20) {
          beQuiet(world, store);
        }
      }
      world.storage().onMutation(storage -> {});
      if (wrong[0] != null) {
        throw new AssertionError("seed " + SEED, wrong[0]);
      }
    }
    Set<Happening> levels = EnumSet.of(Happening.L1_ADDED, Happening.L1_DROPPED);
    levels.retainAll(coverage.missing());
    assertEquals(Set.of(), levels, "what never happened");
    System.out.println(verifier.states() + " states");
    assertTrue(verifier.states() > 20, verifier.states() + " states: too few");
  }

  /** For so long that the log gives room back. */
  private static void beQuiet(SimulatedWorld world, Store store) {
    long taken = store.stats().logAllocatedBytes();
    world.pass(11_000_000_000L);
    assertTrue(store.stats().logAllocatedBytes() < taken, taken + " bytes, and no less");
  }

  private static void load(Store store, Expected expected, SplittableRandom random, int count) {
    ExpectedTree tree = expected.tree("t");
    for (int i = 0; i < count; i++) {
      long at = expected.begin();
      byte[] key = ("key" + i).getBytes();
      ModelValue value = ModelValue.of(random, VALUE_BYTES, at);
      tree.write(key, value, at);
      store.tree(tree.name).put(key, value.bytes(), Durability.ASYNC);
    }
    store.flush();
    expected.acknowledge();
    store.awaitQuiet();
  }

  /**
   * Kept for later, as the engine would take it for an error of the disk: what is wrong, or null.
   */
  private static Throwable crash(
      SimulatedStorage storage,
      Verifier verifier,
      StoreOptions options,
      SplittableRandom random,
      Throwable wrong) {
    if (wrong != null) {
      return wrong;
    }
    Survival survival = Survival.values()[random.nextInt(Survival.values().length)];
    try {
      verifier.verify(survival, survival.crash(storage, random), options, random);
      return null;
    } catch (Throwable e) {
      return new AssertionError("call " + storage.mutations() + ", " + survival, e);
    }
  }
}
