package io.isobardb.lsm.schedule;

import static io.isobardb.lsm.schedule.Job.Priority.FLUSH;
import static io.isobardb.lsm.schedule.Job.Priority.GATHER;
import static io.isobardb.lsm.schedule.Job.Priority.IDLE;
import static io.isobardb.lsm.schedule.Job.Priority.MERGE_DEEP;
import static io.isobardb.lsm.schedule.Job.Priority.MERGE_L0;
import static io.isobardb.lsm.schedule.Job.Priority.MERGE_MEMORY;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Which job is next. */
class JobQueueTest {
  private record Named(Job.Priority priority, String name) implements Job {
    @Override
    public boolean step() {
      return false;
    }

    @Override
    public void onFailed(Throwable cause) {}
  }

  private final Job flush = new Named(FLUSH, "flush");
  private final Job secondFlush = new Named(FLUSH, "second flush");
  private final Job gather = new Named(GATHER, "gather");
  private final Job l0 = new Named(MERGE_L0, "L0");
  private final Job memory = new Named(MERGE_MEMORY, "memory");
  private final Job deep = new Named(MERGE_DEEP, "deep");
  private final Job secondDeep = new Named(MERGE_DEEP, "second deep");
  private final Job idle = new Named(IDLE, "idle");

  private static Job next(JobQueue queue) {
    return Objects.requireNonNull(queue.next(0));
  }

  @Test
  void theMostUrgentIsFirst() {
    JobQueue queue = new JobQueue(5);
    List.of(idle, deep, memory, l0, flush).forEach(queue::add);
    for (Job job : List.of(flush, l0, memory, deep, idle)) {
      assertSame(job, queue.next(0));
    }
    assertNull(queue.next(0));
    assertEquals(5, queue.size());
  }

  @Test
  void aJobThatGivesWayGoesBehindOthersOfItsPriority() {
    JobQueue queue = new JobQueue(1);
    Job deletion =
        new Job() {
          @Override
          public Priority priority() {
            return MERGE_MEMORY;
          }

          @Override
          public String name() {
            return "deletion";
          }

          @Override
          public boolean givesWay() {
            return true;
          }

          @Override
          public boolean step() {
            return true;
          }

          @Override
          public void onFailed(Throwable cause) {}
        };
    queue.add(deletion);
    assertSame(deletion, next(queue));
    assertSame(deletion, queue.nextAfter(deletion, 0));
    queue.add(memory);
    assertEquals(MERGE_MEMORY.ordinal(), queue.urgency());
    assertSame(memory, queue.nextAfter(deletion, 0));
    assertSame(memory, queue.nextAfter(memory, 0));
    queue.add(flush);
    assertSame(flush, queue.nextAfter(memory, 0));
    queue.onEnded(flush);
    assertSame(memory, next(queue));
    queue.onEnded(memory);
    assertSame(deletion, next(queue));
    queue.onEnded(deletion);
    assertEquals(0, queue.size());
  }

  @Test
  void deepMergesNeverHaveAllWorkers() {
    JobQueue queue = new JobQueue(2);
    List.of(deep, secondDeep, idle).forEach(queue::add);
    assertSame(deep, queue.next(0));
    assertNull(queue.next(0));
    queue.add(flush);
    assertSame(flush, queue.next(0));
    queue.onEnded(deep);
    assertSame(secondDeep, queue.next(0));
  }

  @Test
  void aFlushWaitsForNoMergesEnd() {
    JobQueue queue = new JobQueue(1);
    queue.add(deep);
    assertSame(deep, queue.next(0));
    queue.add(flush);
    assertTrue(queue.urgency() < MERGE_DEEP.ordinal(), "the worker does not even look");
    assertSame(flush, queue.nextAfter(deep, 0));
    assertSame(flush, queue.nextAfter(flush, 0));
    queue.onEnded(flush);
    assertSame(deep, queue.next(0));
  }

  @Test
  void amongEqualsNobodyGivesWay() {
    JobQueue queue = new JobQueue(1);
    queue.add(deep);
    queue.add(secondDeep);
    assertSame(deep, queue.next(0));
    assertSame(deep, queue.nextAfter(deep, 0));
    assertEquals(MERGE_DEEP.ordinal(), queue.urgency());
  }

  @Test
  void aMergeOfL0GoesOnBesideFlushes() {
    JobQueue queue = new JobQueue(2);
    queue.add(flush);
    queue.add(l0);
    assertSame(flush, queue.next(0));
    assertSame(l0, queue.next(0));
    queue.add(secondFlush);
    assertSame(l0, queue.nextAfter(l0, 0));
    assertSame(flush, queue.nextAfter(flush, 0));
  }

  @Test
  void theSecondFlushGivesWayToAMergeOfL0() {
    JobQueue queue = new JobQueue(2);
    queue.add(flush);
    queue.add(secondFlush);
    assertSame(flush, next(queue));
    assertSame(secondFlush, next(queue));
    queue.add(l0);
    assertTrue(queue.urgency() < FLUSH.ordinal(), "the workers do not even look");
    assertSame(l0, queue.nextAfter(secondFlush, 0));
    assertSame(flush, queue.nextAfter(flush, 0));
    queue.onEnded(l0);
    assertSame(secondFlush, queue.next(0));
  }

  @Test
  void aSmallMergeOfL0GoesBeforeALargerOneAndLeavesAWorkerToOthers() {
    JobQueue queue = new JobQueue(2);
    queue.add(l0);
    assertSame(l0, next(queue));
    queue.add(gather);
    assertNull(queue.next(0));
    queue.add(memory);
    assertSame(memory, next(queue));
    assertTrue(queue.urgency() < MERGE_L0.ordinal(), "the worker does not even look");
    assertSame(gather, queue.nextAfter(l0, 0));
    queue.onEnded(memory);
    assertNull(queue.next(0));
    queue.add(flush);
    assertSame(flush, next(queue));
    queue.add(secondFlush);
    assertSame(gather, queue.nextAfter(gather, 0));
    queue.onEnded(flush);
    assertSame(secondFlush, next(queue));
    queue.onEnded(gather);
    assertSame(l0, next(queue));
  }

  @Test
  void withThreeWorkersBothMergesOfL0GoOn() {
    JobQueue queue = new JobQueue(3);
    List.of(l0, gather, deep).forEach(queue::add);
    for (Job job : List.of(gather, l0, deep)) {
      assertSame(job, next(queue));
    }
  }

  @Test
  void withOneWorkerASmallMergeGoesBeforeALargerOne() {
    JobQueue queue = new JobQueue(1);
    queue.add(l0);
    assertSame(l0, next(queue));
    queue.add(gather);
    assertSame(gather, queue.nextAfter(l0, 0));
    queue.add(flush);
    assertSame(flush, queue.nextAfter(gather, 0));
    queue.onEnded(flush);
    assertSame(gather, next(queue));
    queue.onEnded(gather);
    assertSame(l0, next(queue));
  }

  @Test
  void withOneWorkerAFlushGoesBeforeAMergeOfL0() {
    JobQueue queue = new JobQueue(1);
    queue.add(l0);
    assertSame(l0, queue.next(0));
    queue.add(flush);
    assertSame(flush, queue.nextAfter(l0, 0));
    assertSame(flush, queue.nextAfter(flush, 0));
    queue.onEnded(flush);
    assertSame(l0, queue.next(0));
    queue.onEnded(l0);
    assertEquals(0, queue.size());
  }

  @Test
  void whatIsHeldBackWaitsAndOthersGoOn() {
    JobQueue queue = new JobQueue(2);
    queue.add(deep);
    assertSame(deep, queue.next(0));
    assertTrue(queue.hold(MERGE_DEEP, true));
    assertTrue(queue.urgency() < MERGE_DEEP.ordinal(), "the worker does not even look");
    assertNull(queue.nextAfter(deep, 0));
    queue.add(secondDeep);
    queue.add(idle);
    queue.add(l0);
    assertSame(l0, queue.next(0));
    assertSame(idle, queue.next(0));
    assertSame(idle, queue.nextAfter(idle, 0));
    queue.onEnded(idle);
    queue.onEnded(l0);
    assertNull(queue.next(0));
    assertEquals(2, queue.size());
    assertTrue(queue.hold(MERGE_DEEP, false));
    assertSame(deep, queue.next(0));
    queue.onEnded(deep);
    assertSame(secondDeep, queue.next(0));
  }

  @Test
  void whatIsHeldBackRestsOnceIfItHasBegun() {
    JobQueue queue = new JobQueue(2);
    queue.add(deep);
    queue.add(secondDeep);
    assertSame(deep, queue.next(0));
    queue.hold(MERGE_DEEP, true);
    assertNull(queue.nextAfter(deep, 0));
    assertSame(deep, queue.nextToRest());
    assertNull(queue.nextToRest());
    queue.onRested(deep);
    assertNull(queue.nextToRest());
    assertEquals(new Scheduler.Interruptions(1, 0, 0, 0), queue.interruptions());
    queue.hold(MERGE_DEEP, false);
    assertSame(deep, queue.next(0));
    queue.add(flush);
    assertSame(flush, queue.nextAfter(deep, 0));
    assertNull(queue.nextToRest(), "it is not held back");
    queue.hold(MERGE_DEEP, true);
    assertSame(deep, queue.nextToRest());
    queue.onEnded(deep);
    assertEquals(new Scheduler.Interruptions(2, 1, 0, 0), queue.interruptions());
    assertEquals(2, queue.size());
  }

  @Test
  void theWorkerOfAJobThatIsHeldBackTakesTheNext() {
    JobQueue queue = new JobQueue(1);
    queue.add(deep);
    assertSame(deep, queue.next(0));
    queue.add(idle);
    queue.hold(MERGE_DEEP, true);
    assertSame(idle, queue.nextAfter(deep, 0));
  }

  @Test
  void whatIsTakenOutIsGone() {
    JobQueue queue = new JobQueue(2);
    queue.add(deep);
    queue.add(flush);
    assertEquals(List.of(flush, deep), queue.clear());
    assertEquals(0, queue.size());
    assertNull(queue.next(0));
  }

  private static final IoLimits SLOW =
      new IoLimits(1 << 20, 1 << 20, false, 16 << 10, 16 << 10, "test");
  private static final long SECOND = 1_000_000_000;

  @Test
  void aJobInDebtIsNotStepped() {
    JobQueue queue = new JobQueue(2);
    queue.limit(SLOW, 0);
    List.of(l0, memory).forEach(queue::add);
    assertSame(l0, queue.next(0));
    queue.charge(l0, new Stepping.Step(true, 1 << 19, 0), 0, 0);
    assertSame(memory, queue.nextAfter(l0, 0), "the worker waits with it");
    assertNull(queue.next(0));
    assertEquals(SECOND / 2, queue.waitNanos(0));
    queue.add(flush);
    assertSame(flush, queue.next(0), "nobody waits for a flush that waits for a merge");
    queue.onEnded(flush);
    assertSame(l0, queue.next(SECOND / 2));
    assertEquals(new Scheduler.Interruptions(0, 0, 1, 0), queue.interruptions());
  }

  @Test
  void nobodyWaitsOnceALimitEnds() {
    JobQueue queue = new JobQueue(1);
    queue.limit(SLOW, 0);
    queue.add(deep);
    assertSame(deep, queue.next(0));
    queue.charge(deep, new Stepping.Step(true, 1 << 20, 0), 0, 0);
    assertNull(queue.nextAfter(deep, 0));
    queue.limit(IoLimits.NONE, 1);
    assertEquals(Long.MAX_VALUE, queue.waitNanos(1));
    assertSame(deep, queue.next(1));
  }

  /** It would be stepped once more though its worker has failed it. */
  @Test
  void aJobStaysWithItsWorkerIfNoChoiceCanBeMade() {
    boolean[] planted = {false};
    SharedIo budget = new SharedIo(100 << 20);
    JobQueue queue = new JobQueue(2);
    queue.share(
        budget.join(
            () -> {
              if (planted[0]) {
                throw new OutOfMemoryError("planted: no heap to divide the budget");
              }
              return 0;
            },
            () -> 0));
    queue.add(deep);
    assertSame(deep, next(queue));
    planted[0] = true;
    budget.join(() -> 0, () -> 0).close(); // So it is divided anew.
    assertThrows(OutOfMemoryError.class, () -> queue.nextAfter(deep, 0));
    planted[0] = false;
    assertEquals(1, queue.size());
    assertNull(queue.next(0));
    queue.onEnded(deep);
    assertEquals(0, queue.size());
    List.of(deep, secondDeep).forEach(queue::add);
    assertSame(deep, next(queue));
    assertNull(queue.next(0), "one of two workers is left to others");
  }
}
