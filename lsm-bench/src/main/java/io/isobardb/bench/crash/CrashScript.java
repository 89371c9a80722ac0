package io.isobardb.bench.crash;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.simulation.SimulatedWorld;
import io.isobardb.lsm.simulation.Watchdog;
import java.io.IOException;
import java.util.Set;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * A random workload on a simulated disk whose power fails before every mutating call, or every k-th
 * one: each time copies of the disk, as different crashes leave it, are opened and verified. The
 * original goes on.
 *
 * <p>All is drawn from the seed; which crashes are looked at does not change the workload, so a
 * single one can be replayed.
 *
 * <p>Thread rule: one thread.
 */
final class CrashScript {
  /** Where there is much data, states are dear: of the crashes, only every so many-th counts. */
  private static final int WIDE_STRIDE = 8;

  /** The same while that data is loaded. */
  private static final int LOAD_STRIDE = 64;

  /**
   * Which crashes to look at.
   *
   * @param stride every how many mutating calls
   * @param survivals what is left, each of these at each call
   * @param at the only mutating call to look at, or -1 for all
   */
  record Crashes(int stride, Set<Survival> survivals, long at) {
    boolean at(long mutation, long seed, int thinned) {
      return at >= 0 ? mutation == at : (mutation + seed) % ((long) stride * thinned) == 0;
    }
  }

  /**
   * What was found wrong.
   *
   * @param how the options of {@code crash-test} that run such scripts
   * @param mutation the mutating call before which the crash came, or -1 if there was no crash
   * @param survival what was left, or null
   * @param cause what is wrong
   */
  record Violation(
      String how, long seed, long mutation, @Nullable Survival survival, Throwable cause) {}

  /** How {@code crash-test} is told to run such scripts. */
  static final String HOW = "--simulated";

  private final long seed;
  private final Crashes crashes;
  private final Coverage coverage;
  private final SplittableRandom random;
  private final Expected expected = new Expected();
  private final Verifier verifier;
  private final Workload workload;
  private SimulatedWorld world;
  private StoreOptions options;
  private Store store;
  private @Nullable Violation violation;

  CrashScript(long seed, Crashes crashes, Coverage coverage) {
    this.seed = seed;
    this.crashes = crashes;
    this.coverage = coverage;
    this.random = new SplittableRandom(seed);
    this.verifier = new Verifier(expected, coverage);
    this.workload = new Workload(seed, random, expected, coverage, () -> violation != null);
    this.world = new SimulatedWorld(random.nextLong());
    this.options = RandomOptions.store(random, workload.pageSize());
    hook();
    this.store = openStore();
  }

  /** States opened and checked. */
  long states() {
    return verifier.states();
  }

  /** Equal for equal runs. */
  long traceHash() {
    return world.storage().traceHash();
  }

  /** Runs the workload to its end, or to the first violation, which it returns. */
  @Nullable Violation run() {
    try {
      int sessions = 1 + random.nextInt(3);
      for (int session = 1; session <= sessions && violation == null; session++) {
        session();
        endSession(session == sessions);
      }
    } catch (Throwable e) {
      // Once a crash was found wrong, that is what to tell.
      if (violation == null) {
        violation = new Violation(HOW, seed, -1, null, e);
      }
    }
    try {
      abandon();
    } catch (RuntimeException e) {
      violation = violation != null ? violation : new Violation(HOW, seed, -1, null, e);
    }
    return violation;
  }

  private Store openStore() {
    Store opened = world.open(options);
    opened.addListener(coverage);
    workload.on(world, opened);
    return opened;
  }

  private void hook() {
    world.storage().supportsDirect(random.nextBoolean());
    world.storage().faults(coverage);
    world.storage().onMutation(this::mayCrash);
  }

  private void session() {
    workload.begin();
    int operations = workload.someOperations();
    for (int i = 0; i < operations && violation == null; i++) {
      workload.operation();
    }
  }

  /** Closes the store and opens it with other options, or goes on after a crash. */
  private void endSession(boolean last) throws IOException {
    if (random.nextInt(3) != 0) {
      expected.checkpointing();
      store.close();
      expected.checkpointed();
      coverage.count(Happening.CLOSED);
      world.checkClosed();
      if (last) {
        return;
      }
      options = RandomOptions.store(random, workload.pageSize());
      store = openStore();
      return;
    }
    Survival[] survivals = Survival.values();
    Survival survival = survivals[random.nextInt(survivals.length)];
    SimulatedStorage disk = survival.crash(world.storage(), random);
    abandon();
    if (survival != Survival.KILLED) {
      expected.machineFailed();
    }
    world = new SimulatedWorld(disk, random.nextLong());
    hook();
    store = openStore();
    coverage.count(Happening.RECOVERED);
    expected.cutTo(verifier.contents(survival, store, random));
  }

  private void abandon() {
    world.storage().onMutation(storage -> {});
    store.close();
  }

  private StoreOptions laterOptions(SplittableRandom dice) {
    return switch (dice.nextInt(8)) {
      case 0, 1 -> RandomOptions.shortOfMemory(dice, workload.pageSize());
      case 2 -> RandomOptions.store(dice, workload.pageSize());
      default -> options;
    };
  }

  private int thinned() {
    return workload.isLoading() ? LOAD_STRIDE : workload.isWide() ? WIDE_STRIDE : 1;
  }

  private void mayCrash(SimulatedStorage storage) {
    long mutation = storage.mutations();
    if (violation != null || !crashes.at(mutation, seed, thinned())) {
      return;
    }
    for (Survival survival : crashes.survivals()) {
      SplittableRandom dice =
          new SplittableRandom(seed * 31 + mutation * 0x9E3779B97F4A7C15L + survival.ordinal());
      StoreOptions later = laterOptions(dice);
      Watchdog.mark("a crash at call " + mutation + ", " + survival);
      try {
        verifier.verify(survival, survival.crash(storage, dice), later, dice);
      } catch (Throwable e) {
        // Kept for later: the engine would take it for an error of the disk.
        violation = new Violation(HOW, seed, mutation, survival, e);
        return;
      }
    }
  }
}
