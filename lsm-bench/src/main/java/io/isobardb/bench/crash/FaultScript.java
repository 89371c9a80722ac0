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
  private final SplittableRandom random;
  private final Expected expected = new Expected();
  private final Verifier verifier;
  private final Workload workload;
  private final SimulatedWorld world;
  private final StoreOptions options;
  private @Nullable Store store;
  private boolean told;

  FaultScript(long seed, Coverage coverage) {
    this.coverage = coverage;
    this.random = new SplittableRandom(seed);
    this.verifier = new Verifier(expected, coverage);
    this.workload = new Workload(seed, random, expected, coverage, () -> false);
    this.world = new SimulatedWorld(random.nextLong());
    this.options = RandomOptions.store(random, workload.pageSize());
  }

  /** How many calls the workload makes when none fails. */
  long calls() throws IOException {
    sessions();
    long calls = world.storage().operations();
    world.checkClosed();
    return calls;
  }

  boolean isWide() {
    return workload.isWide();
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
    if (store != null) {
      afterwards(store, kind, failure, dice);
    }
    if (world.storage().openFiles() != 0) {
      throw new AssertionError(world.storage().openFiles() + " files left open");
    }
    verifier.verify(Survival.KILLED, world.storage().copy(), options, dice);
  }

  private void afterwards(
      Store open, FaultKind kind, @Nullable IsobarException failure, SplittableRandom dice)
      throws IOException {
    Expected.Moments live = verifier.live(open, dice);
    boolean passed = false;
    if (kind.passes() && failure != null) {
      if (!(failure instanceof DiskFullException)) {
        throw new AssertionError("a full disk was not told as such", failure);
      }
      goOn(open, dice);
      passed = true;
    }
    verifier.verify(Survival.LOST, Survival.LOST.crash(world.storage(), dice), options, dice);
    store = null;
    // A store that has failed makes no last checkpoint, and need not say so again. If there is room
    // again it makes one, without the write that was refused.
    if (passed) {
      expected.checkpointing();
    } else {
      expected.checkpointing(live);
    }
    try {
      open.close();
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
  private void goOn(Store open, SplittableRandom dice) {
    world.pass(2_000_000_000L);
    open.checkpoint();
    expected.cutTo(verifier.live(open, dice));
    expected.settle(open.treeNames());
    workload.begin();
    for (int i = 0; i < 20; i++) {
      workload.operation();
    }
    expected.checkpointing();
    open.checkpoint();
    expected.checkpointed();
  }

  private void sessions() throws IOException {
    for (int session = 0; session < SESSIONS; session++) {
      Store opened = world.open(options);
      store = opened;
      opened.addListener(coverage);
      workload.on(world, opened);
      workload.begin();
      int operations = workload.someOperations() / 2;
      for (int i = 0; i < operations; i++) {
        workload.operation();
      }
      close(opened);
    }
  }

  private void close(Store open) {
    store = null;
    expected.checkpointing();
    open.close();
    expected.checkpointed();
  }
}
