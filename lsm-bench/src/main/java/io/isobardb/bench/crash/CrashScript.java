package io.isobardb.bench.crash;

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
  private final Stage stage;
  private @Nullable Violation violation;

  CrashScript(long seed, Crashes crashes, Coverage coverage) {
    this.seed = seed;
    this.crashes = crashes;
    this.coverage = coverage;
    this.stage = new Stage(seed, coverage, () -> violation != null, this::hook);
    stage.open();
  }

  /** States opened and checked. */
  long states() {
    return stage.verifier.states();
  }

  /** Equal for equal runs. */
  long traceHash() {
    return stage.world().storage().traceHash();
  }

  /** Runs the workload to its end, or to the first violation, which it returns. */
  @Nullable Violation run() {
    try {
      int sessions = 1 + stage.random.nextInt(3);
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

  private void hook(SimulatedWorld world, SplittableRandom random) {
    world.storage().supportsDirect(random.nextBoolean());
    world.storage().faults(coverage);
    world.storage().onMutation(this::mayCrash);
  }

  private void session() {
    stage.workload.begin();
    int operations = stage.workload.someOperations();
    for (int i = 0; i < operations && violation == null; i++) {
      stage.workload.operation();
    }
  }

  /** Closes the store and opens it with other options, or goes on after a crash. */
  private void endSession(boolean last) throws IOException {
    if (stage.random.nextInt(3) != 0) {
      stage.close();
      coverage.count(Happening.CLOSED);
      stage.world().checkClosed();
      if (!last) {
        stage.reopenWithOtherOptions();
      }
      return;
    }
    Survival[] survivals = Survival.values();
    Survival survival = survivals[stage.random.nextInt(survivals.length)];
    SimulatedStorage disk = survival.crash(stage.world().storage(), stage.random);
    abandon();
    stage.goOn(survival, disk);
  }

  private void abandon() {
    stage.world().storage().onMutation(storage -> {});
    stage.store().close();
  }

  private StoreOptions laterOptions(SplittableRandom dice) {
    return switch (dice.nextInt(8)) {
      case 0, 1 -> RandomOptions.shortOfMemory(dice, stage.workload.pageSize());
      case 2 -> stage.anyOptions(dice);
      default -> stage.options();
    };
  }

  private int thinned() {
    return stage.workload.isLoading() ? LOAD_STRIDE : stage.workload.isWide() ? WIDE_STRIDE : 1;
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
        stage.verifier.verify(survival, survival.crash(storage, dice), later, dice);
      } catch (Throwable e) {
        // Kept for later: the engine would take it for an error of the disk.
        violation = new Violation(HOW, seed, mutation, survival, e);
        return;
      }
    }
  }
}
