package io.isobardb.bench.crash;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.error.DiskFullException;
import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.simulation.FaultPlan;
import io.isobardb.lsm.simulation.SimulatedWorld;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * A random workload on a simulated disk of which one call fails, or all from one on. What is wrong
 * must be told by an exception made for that; a write that a full disk refused is not there, of
 * others that failed nobody knows; reads go on; nothing acknowledged is lost, neither by closing
 * and opening the store nor by a power failure; and a disk that was full is written again once
 * there is room.
 *
 * <p>Thread rule: one thread.
 */
final class FaultScript {
  private static final int SESSIONS = 2;

  private final Coverage coverage;
  private final Stage stage;
  private final Expected expected;
  private final Verifier verifier;
  private final SimulatedWorld world;
  private final StoreOptions options;
  private boolean open;
  private boolean told;

  FaultScript(long seed, Coverage coverage) {
    this.coverage = coverage;
    this.stage = new Stage(seed, coverage, () -> false, (world, random) -> {});
    this.expected = stage.expected;
    this.verifier = stage.verifier;
    this.world = stage.world();
    this.options = stage.options();
  }

  /** How many calls the workload makes when none fails. */
  long calls() throws IOException {
    sessions();
    long calls = world.storage().operations();
    world.checkClosed();
    return calls;
  }

  boolean isWide() {
    return stage.workload.isWide();
  }

  /** Whether an exception told of the fault. */
  boolean wasTold() {
    return told;
  }

  /**
   * Runs the workload with a fault.
   *
   * @throws AssertionError if something is lost, or told wrongly
   */
  void run(FaultKind kind, long at, SplittableRandom dice) throws IOException {
    FaultPlan plan = kind.plan(at);
    world
        .storage()
        .faults(
            (operation, file, index) -> {
              coverage.faultOf(operation, file, index);
              return plan.faultOf(operation, file, index);
            });
    IsobarException failure = null;
    try {
      sessions();
    } catch (IsobarException e) {
      told = true;
      failure = e;
      if (e instanceof DiskFullException) {
        expected.refused();
      }
    } catch (UncheckedIOException e) {
      // So an open tells, and a read.
      told = true;
    }
    world.storage().faults(FaultPlan.NONE);
    boolean interrupted = Thread.interrupted();
    if (kind.harmless() && told) {
      throw new AssertionError("a call failed that was only " + kind, failure);
    }
    if (interrupted != (kind == FaultKind.INTERRUPTED)) {
      throw new AssertionError(interrupted ? "interrupted by nobody" : "an interrupt is forgotten");
    }
    if (open) {
      afterwards(stage.store(), kind, failure, dice);
    }
    if (world.storage().openFiles() != 0) {
      throw new AssertionError(world.storage().openFiles() + " files left open");
    }
    verifier.verify(Survival.KILLED, world.storage().copy(), options, dice);
  }

  private void afterwards(
      Store store, FaultKind kind, @Nullable IsobarException failure, SplittableRandom dice)
      throws IOException {
    Expected.Moments live = verifier.live(store, dice);
    boolean passed = false;
    if (kind.passes() && failure != null) {
      if (!(failure instanceof DiskFullException)) {
        throw new AssertionError("a full disk was not told as such", failure);
      }
      goOn(store, dice);
      passed = true;
    }
    verifier.verify(Survival.LOST, Survival.LOST.crash(world.storage(), dice), options, dice);
    // A store that has failed makes no last checkpoint, and need not say so again. If there is room
    // again it makes one, without the write that was refused.
    if (passed) {
      expected.checkpointing();
    } else {
      expected.checkpointing(live);
    }
    try {
      store.close();
      if (passed) {
        expected.checkpointed();
      }
    } catch (IsobarException e) {
      if (passed) {
        throw new AssertionError("closing failed, though there was room again", e);
      }
    }
  }

  /** There is room again. */
  private void goOn(Store store, SplittableRandom dice) {
    world.pass(2_000_000_000L);
    store.checkpoint();
    expected.cutTo(verifier.live(store, dice));
    expected.settle(store.treeNames());
    stage.workload.begin();
    for (int i = 0; i < 20; i++) {
      stage.workload.operation();
    }
    expected.checkpointing();
    store.checkpoint();
    expected.checkpointed();
  }

  private void sessions() throws IOException {
    for (int session = 0; session < SESSIONS; session++) {
      stage.open();
      open = true;
      stage.workload.begin();
      int operations = stage.workload.someOperations() / 2;
      for (int i = 0; i < operations; i++) {
        stage.workload.operation();
      }
      open = false;
      stage.close();
    }
  }
}
