package io.isobardb.lsm.commit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.component.FirstRoom;
import io.isobardb.lsm.event.Observers;
import io.isobardb.lsm.observe.StallReason;
import io.isobardb.lsm.schedule.Awaited;
import io.isobardb.lsm.schedule.BandwidthRules;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.schedule.Job;
import io.isobardb.lsm.schedule.MeteredStorage;
import io.isobardb.lsm.schedule.WaitLimit;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedScheduler;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.version.L0Limits;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The gate alone, with a flusher that frees a slice at a time for as long as the gate asks for it.
 * All sizes are in 1/64 of the write memory. A wait that nothing ends is told of by the simulation.
 */
class WriteGateTest {
  private static final int PAGE = 4096;
  private static final int PAGES = 4;
  private static final long UNIT = (long) PAGES * PAGE;
  private static final long LIMIT = 64;

  private final PagePool pool = new PagePool(4 * LIMIT * UNIT, PAGE);
  private final Deque<Integer> taken = new ArrayDeque<>();
  private SimulatedClock clock;
  private SimulatedScheduler scheduler;
  private WriteGate gate;
  private long slice = 8;
  private boolean flushing;
  private Runnable onRequest = this::flush;

  static LongStream seeds() {
    return LongStream.range(0, 40);
  }

  private void begin(long seed) {
    clock = new SimulatedClock();
    scheduler = new SimulatedScheduler(clock, seed);
    scheduler.setStepLimit(10_000);
    gate =
        new WriteGate(
            new FirstRoom(pool, () -> 1, 1, LIMIT * UNIT),
            new Environment(
                new SimulatedStorage(clock), clock, scheduler, new SplittableRandom(seed)),
            new Observers("test", new MeteredStorage(new SimulatedStorage(clock), clock)),
            new Flushes(),
            LIMIT * UNIT,
            new Backpressure.Limits(1 << 30, Fullness.USUAL));
  }

  private final class Flushes implements WriteGate.Relief {
    @Override
    public void requestFlush() {
      onRequest.run();
    }

    @Override
    public void suggestFlush() {
      onRequest.run();
    }

    @Override
    public void checkWritable() {}

    @Override
    public void checkSpace() {}

    @Override
    public boolean makeRoom(long bytes, long nanos) {
      return true;
    }
  }

  @AfterEach
  void release() {
    free(taken.size());
    pool.close();
  }

  private void take(long units) {
    for (int i = 0; i < units * PAGES; i++) {
      taken.add(pool.allocate(Purpose.WRITE));
    }
  }

  private void free(long pages) {
    for (long i = Math.min(pages, taken.size()); i > 0; i--) {
      pool.release(taken.remove(), Purpose.WRITE);
    }
  }

  private void write(long units) {
    gate.admit(units * UNIT, new WaitLimit());
    take(units);
  }

  private void flush() {
    if (!flushing && gate.pressed()) {
      flushing = true;
      submit("flush", this::flushSlice);
    }
  }

  private void flushSlice() {
    free(slice * PAGES);
    gate.onFreed(slice * UNIT, slice * UNIT, 1_000);
    flushing = false;
    gate.wake();
    flush();
  }

  /** Has something run while somebody waits. */
  private void submit(String name, Runnable action) {
    scheduler.submit(
        new Job() {
          @Override
          public Priority priority() {
            return Priority.FLUSH;
          }

          @Override
          public String name() {
            return name;
          }

          @Override
          public boolean step() {
            // What clients do, and no job.
            Awaited.apart(action);
            return false;
          }

          @Override
          public void onFailed(Throwable cause) {
            throw new AssertionError(name, cause);
          }
        });
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void flushesGoOnUntilTheLargestWriteThatWaitsFits(long seed) {
    begin(seed);
    take(54);
    submit("smaller write", () -> write(13));
    write(19);
    scheduler.runUntilIdle();
    assertNobodyIsWaitedFor();
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void flushesGoOnForAWriteThatWaitsWhileAnotherLooksForAPage(long seed) {
    begin(seed);
    slice = 4;
    take(54);
    submit("write without a page", () -> gate.awaitRelief(1, null));
    write(19);
    scheduler.runUntilIdle();
    assertNobodyIsWaitedFor();
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void flushesGoOnForAWriteThatWaitsWhileTheWallFalls(long seed) {
    begin(seed);
    slice = 1;
    take(64);
    submit("wall", () -> gate.setLimitBytes(8 * UNIT));
    write(3);
    scheduler.runUntilIdle();
    assertEquals(8 * UNIT, gate.limitBytes());
    assertNobodyIsWaitedFor();
  }

  @Test
  void whoDoesNotWaitLeavesNothingToMakeRoomFor() {
    begin(0);
    take(44);
    gate.admit(20 * UNIT, new WaitLimit());
    assertEquals(0, gate.stalls(StallReason.MEMORY_FULL));
    assertNobodyIsWaitedFor();
  }

  private void assertNobodyIsWaitedFor() {
    long limit = gate.limitBytes();
    long used = gate.usedBytes();
    assertEquals(used - limit / 64 * 56, gate.excessBytes());
    assertEquals(Math.max(0, limit - limit / 16 - used), gate.spareBytes());
    // However small the write memory becomes, it is not too small for somebody who is gone.
    free(taken.size());
    gate.setLimitBytes(16 * UNIT);
    assertFalse(gate.pressed());
  }

  @Test
  void largeWritesDoNotTakeMoreThanThereIsBetweenThem() {
    begin(1);
    long first = gate.claim(40 * UNIT, new WaitLimit());
    assertEquals(40 * UNIT, first);
    boolean[] over = {false};
    submit(
        "the first ends",
        () -> {
          over[0] = true;
          gate.unclaim(first);
        });
    long second = gate.claim(40 * UNIT, new WaitLimit());
    assertTrue(over[0], "both had 80 of 64");
    gate.unclaim(second);
  }

  @Test
  void aLargeWriteWaitsUntilWhatOthersHaveFilledIsFlushed() {
    begin(1);
    take(40);
    long claim = gate.claim(40 * UNIT, new WaitLimit());
    assertTrue(taken.size() <= 24 * PAGES, taken.size() + " pages are in use");
    gate.unclaim(claim);
  }

  @Test
  void aWriteThatIsLargerThanWhatItMayWaitForGetsThat() {
    begin(1);
    take(8);
    assertEquals(56 * UNIT, gate.claim(200 * UNIT, new WaitLimit()));
    gate.unclaim(56 * UNIT);
  }

  @Test
  void aLargeWriteThatWaitsFollowsALimitThatFalls() {
    begin(1);
    long first = gate.claim(50 * UNIT, new WaitLimit());
    submit(
        "the limit falls",
        () -> {
          gate.setLimitBytes(32 * UNIT);
          gate.unclaim(first);
        });
    assertEquals(28 * UNIT, gate.claim(50 * UNIT, new WaitLimit()));
    gate.unclaim(28 * UNIT);
  }

  @Test
  void aLargeWriteGoesOnIfTheRequestItselfFreesMemory() {
    begin(1);
    take(60);
    onRequest =
        () -> {
          free(taken.size());
          gate.onFreed(0, 0, 0);
        };
    assertEquals(20 * UNIT, gate.claim(20 * UNIT, new WaitLimit()));
    assertEquals(0, taken.size());
    gate.unclaim(20 * UNIT);
  }

  @Test
  void aWriteWithoutAPageMakesFlushesGoOnHoweverLittleIsInUse() {
    begin(1);
    take(2);
    assertFalse(gate.pressed());
    gate.awaitRelief(UNIT, new WaitLimit());
    assertEquals(0, taken.size());
    assertFalse(gate.pressed());
  }

  @Test
  void whatTreesKeepLeavesRoomForWhoWaits() {
    begin(1);
    assertEquals(32 * UNIT, gate.mostKeptBytes());
    take(40);
    submit("a look", () -> assertEquals(16 * UNIT, gate.mostKeptBytes()));
    gate.admit(20 * UNIT, 40 * UNIT, new WaitLimit());
  }

  @Test
  void aWaitIsSeenWhileItGoesOn() {
    begin(1);
    take(64);
    onRequest = () -> {};
    submit(
        "a look",
        () -> {
          long before = gate.stallNanos(StallReason.MEMORY_FULL);
          clock.advance(5_000);
          assertEquals(before + 5_000, gate.stallNanos(StallReason.MEMORY_FULL));
          assertEquals(1, gate.stalls(StallReason.MEMORY_FULL));
          free(taken.size());
          gate.wake();
        });
    write(1);
    long all = gate.stallNanos(StallReason.MEMORY_FULL);
    clock.advance(30);
    assertEquals(all, gate.stallNanos(StallReason.MEMORY_FULL));
    assertEquals(1, gate.stalls(StallReason.MEMORY_FULL));
  }

  private BandwidthRules.Pressure pressure(int groups) {
    gate.setL0(new FullL0("t", groups, new L0Limits(4, 20, 36), PAGE));
    return gate.pressure();
  }

  @Test
  void readersPressOnceL0HasTwiceTheGroupsItIsMergedFromOn() {
    begin(1);
    assertEquals(BandwidthRules.Pressure.NONE, pressure(7));
    assertEquals(BandwidthRules.Pressure.READERS, pressure(8));
    assertEquals(BandwidthRules.Pressure.READERS, pressure(18));
    assertEquals(BandwidthRules.Pressure.WRITERS, pressure(19));
    assertEquals(BandwidthRules.Pressure.ALL, pressure(29));
  }
}
