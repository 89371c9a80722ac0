package io.isobardb.lsm.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.error.StoreClosedException;
import io.isobardb.lsm.schedule.Job.Priority;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedScheduler;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

final class SimulatedSchedulerTest {
  private final SimulatedClock clock = new SimulatedClock();
  private final SimulatedScheduler scheduler = new SimulatedScheduler(clock, 1);

  /** Three jobs of three steps each; the order in which they ran. */
  private static String interleaving(SimulatedScheduler scheduler) {
    StringBuilder order = new StringBuilder();
    for (String name : List.of("a", "b", "c")) {
      int[] steps = {0};
      scheduler.submit(
          new StepJob(
              Priority.MERGE_DEEP,
              name,
              () -> {
                order.append(name);
                return ++steps[0] < 3;
              }));
    }
    scheduler.runUntilIdle();
    return order.toString();
  }

  @Test
  void theSeedDecidesTheOrder() {
    Set<String> orders = new HashSet<>();
    Set<Long> hashes = new HashSet<>();
    for (long seed = 0; seed < 20; seed++) {
      SimulatedScheduler first = new SimulatedScheduler(new SimulatedClock(), seed);
      SimulatedScheduler second = new SimulatedScheduler(new SimulatedClock(), seed);
      first.eager((int) seed * 4);
      second.eager((int) seed * 4);
      String order = interleaving(first);
      assertEquals(order, interleaving(second), "seed " + seed);
      assertEquals(first.traceHash(), second.traceHash(), "seed " + seed);
      assertEquals(9, first.steps());
      orders.add(order);
      hashes.add(first.traceHash());
    }
    assertTrue(orders.size() > 10, orders.toString());
    assertEquals(orders.size(), hashes.size());
  }

  @Test
  void awaitingRunsOtherWork() {
    Signal signal = scheduler.signal("room");
    int[] room = {0};
    scheduler.submit(
        new StepJob(
            Priority.FLUSH,
            "flush",
            () -> {
              room[0]++;
              signal.raise();
              return room[0] < 5;
            }));
    signal.await(() -> room[0] == 3);
    assertEquals(3, room[0]);
    assertEquals(1, scheduler.pending());
    scheduler.runUntilIdle();
    assertEquals(5, room[0]);
    assertEquals(0, scheduler.pending());
  }

  @Test
  void aRaiseByTheConditionItselfIsSeen() {
    Signal signal = scheduler.signal("room");
    int[] looks = {0};
    signal.await(
        () -> {
          if (looks[0]++ == 0) {
            signal.raise();
            return false;
          }
          return true;
        });
    assertEquals(2, looks[0]);
  }

  @Test
  void aWaitThatNothingEndsIsFoundAndNamed() {
    Signal signal = scheduler.signal("room in the write memory");
    IllegalStateException e =
        assertThrows(IllegalStateException.class, () -> signal.await(() -> false));
    assertEquals("deadlock: waiting for room in the write memory", e.getMessage());
  }

  @Test
  void aDeadlockInsideAJobReachesTheHarness() {
    Signal inner = scheduler.signal("inner");
    Signal outer = scheduler.signal("outer");
    StepJob job =
        new StepJob(
            Priority.FLUSH,
            "flush",
            () -> {
              inner.await(() -> false);
              return false;
            });
    scheduler.submit(job);
    IllegalStateException e =
        assertThrows(IllegalStateException.class, () -> outer.await(() -> false));
    assertEquals("deadlock: waiting for inner, in a wait for outer", e.getMessage());
    assertEquals(null, job.failure);
  }

  @Test
  void aConditionThatBecomesTrueWithoutARaiseIsALostWakeUp() {
    Signal signal = scheduler.signal("room");
    boolean[] room = {false};
    scheduler.submit(
        new StepJob(
            Priority.FLUSH,
            "flush",
            () -> {
              room[0] = true;
              return false;
            }));
    IllegalStateException e =
        assertThrows(IllegalStateException.class, () -> signal.await(() -> room[0]));
    assertTrue(e.getMessage().startsWith("lost wake-up: room"), e.getMessage());
  }

  @Test
  void aServiceRunsOnlyWhenItWasWoken() {
    LoopService service = new LoopService();
    Service.Handle handle = scheduler.start(service);
    assertFalse(scheduler.runOne());
    service.wanted.incrementAndGet();
    assertFalse(scheduler.runOne(), "nobody woke it");
    handle.wake();
    assertTrue(scheduler.runOne());
    assertEquals(1, service.done);
    handle.stop();
    handle.wake();
    service.wanted.incrementAndGet();
    assertFalse(scheduler.runOne(), "it was stopped");
  }

  @Test
  void timeGoesOnToTheNextAlarmWhenNothingCanRun() {
    LoopService service = new LoopService();
    Signal progress = scheduler.signal("progress");
    service.progress = progress;
    Service.Handle handle = scheduler.start(service);
    handle.wakeWithin(5_000_000);
    handle.wakeWithin(9_000_000);
    assertFalse(scheduler.runOne());
    progress.await(() -> service.runs == 1);
    assertEquals(5_001_000, clock.nanos());
    assertFalse(progress.await(() -> false, 1_000_000));
    assertEquals(6_001_000, clock.nanos());
    handle.wakeWithin(1_000_000);
    scheduler.runFor(10_000_000);
    assertEquals(2, service.runs);
    assertEquals(16_001_000, clock.nanos());
  }

  @Test
  void aStepMayAwaitOthersButIsNeverEnteredAgain() {
    Signal signal = scheduler.signal("partner");
    boolean[] inside = {false};
    int[] count = {0};
    List<StepJob> jobs = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      jobs.add(
          new StepJob(
              Priority.MERGE_DEEP,
              "deep " + i,
              () -> {
                count[0]++;
                signal.raise();
                return count[0] < 10;
              }));
    }
    StepJob waiting =
        new StepJob(
            Priority.FLUSH,
            "flush",
            () -> {
              assertFalse(inside[0], "entered again");
              inside[0] = true;
              int before = count[0];
              signal.await(() -> count[0] > before || count[0] >= 10);
              inside[0] = false;
              return count[0] < 10;
            });
    jobs.forEach(scheduler::submit);
    scheduler.submit(waiting);
    scheduler.runUntilIdle();
    assertEquals(null, waiting.failure);
    assertTrue(count[0] >= 10);
  }

  @Test
  void whatThrowsIsToldAndTheRestGoesOn() {
    Error error = new AssertionError("planned");
    StepJob job =
        new StepJob(
            Priority.FLUSH,
            "flush",
            () -> {
              throw error;
            });
    scheduler.submit(job);
    LoopService service = new LoopService();
    service.broken = true;
    service.wanted.incrementAndGet();
    scheduler.start(service);
    scheduler.runUntilIdle();
    assertEquals(error, job.failure);
    assertInstanceOf(IllegalStateException.class, service.failure);
    assertEquals(0, scheduler.pending());
  }

  @Test
  void closeFailsWhatIsLeft() {
    StepJob job = new StepJob(Priority.FLUSH, "flush", () -> true);
    scheduler.submit(job);
    scheduler.runOne();
    scheduler.close();
    assertInstanceOf(StoreClosedException.class, job.failure);
    assertFalse(scheduler.runOne());
    StepJob late = new StepJob(Priority.FLUSH, "late", () -> true);
    scheduler.submit(late);
    assertInstanceOf(StoreClosedException.class, late.failure);
  }

  @Test
  void anotherThreadIsRefused() throws Exception {
    assertFalse(scheduler.runOne());
    AtomicReference<Throwable> refusal = new AtomicReference<>();
    Thread thread =
        new Thread(
            () -> refusal.set(assertThrows(IllegalStateException.class, () -> scheduler.runOne())));
    thread.start();
    thread.join();
    assertNotEquals(null, refusal.get());
  }
}
