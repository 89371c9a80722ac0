package io.isobardb.lsm.schedule;

import static io.isobardb.lsm.schedule.Job.Priority.FLUSH;
import static io.isobardb.lsm.schedule.Job.Priority.IDLE;
import static io.isobardb.lsm.schedule.Job.Priority.MERGE_DEEP;
import static io.isobardb.lsm.schedule.Job.Priority.MERGE_L0;
import static io.isobardb.lsm.schedule.Job.Priority.MERGE_MEMORY;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
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
    public void failed(Throwable cause) {}
  }

  private final Job flush = new Named(FLUSH, "flush");
  private final Job secondFlush = new Named(FLUSH, "second flush");
  private final Job l0 = new Named(MERGE_L0, "L0");
  private final Job memory = new Named(MERGE_MEMORY, "memory");
  private final Job deep = new Named(MERGE_DEEP, "deep");
  private final Job secondDeep = new Named(MERGE_DEEP, "second deep");
  private final Job idle = new Named(IDLE, "idle");

  private static Job next(JobQueue queue) {
    return Objects.requireNonNull(queue.next());
  }

  @Test
  void theMostUrgentIsFirst() {
    JobQueue queue = new JobQueue(5);
    List.of(idle, deep, memory, l0, flush).forEach(queue::add);
    for (Job job : List.of(flush, l0, memory, deep, idle)) {
      assertSame(job, queue.next());
    }
    assertNull(queue.next());
    assertEquals(5, queue.size());
  }

  @Test
  void deepMergesNeverHaveAllWorkers() {
    JobQueue queue = new JobQueue(2);
    List.of(deep, secondDeep, idle).forEach(queue::add);
    assertSame(deep, queue.next());
    assertNull(queue.next());
    queue.add(flush);
    assertSame(flush, queue.next());
    queue.ended(deep);
    assertSame(secondDeep, queue.next());
  }

  @Test
  void aFlushWaitsForNoMergesEnd() {
    JobQueue queue = new JobQueue(1);
    queue.add(deep);
    assertSame(deep, queue.next());
    queue.add(flush);
    assertTrue(queue.urgency() < MERGE_DEEP.ordinal(), "the worker does not even look");
    assertSame(flush, queue.nextAfter(deep));
    assertSame(flush, queue.nextAfter(flush));
    queue.ended(flush);
    assertSame(deep, queue.next());
  }

  @Test
  void amongEqualsNobodyGivesWay() {
    JobQueue queue = new JobQueue(1);
    queue.add(deep);
    queue.add(secondDeep);
    assertSame(deep, queue.next());
    assertSame(deep, queue.nextAfter(deep));
    assertEquals(MERGE_DEEP.ordinal(), queue.urgency());
  }

  @Test
  void aMergeOfL0GoesOnBesideFlushes() {
    JobQueue queue = new JobQueue(2);
    queue.add(flush);
    queue.add(l0);
    assertSame(flush, queue.next());
    assertSame(l0, queue.next());
    queue.add(secondFlush);
    assertSame(l0, queue.nextAfter(l0));
    assertSame(flush, queue.nextAfter(flush));
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
    assertSame(l0, queue.nextAfter(secondFlush));
    assertSame(flush, queue.nextAfter(flush));
    queue.ended(l0);
    assertSame(secondFlush, queue.next());
  }

  @Test
  void withOneWorkerAFlushGoesBeforeAMergeOfL0() {
    JobQueue queue = new JobQueue(1);
    queue.add(l0);
    assertSame(l0, queue.next());
    queue.add(flush);
    assertSame(flush, queue.nextAfter(l0));
    assertSame(flush, queue.nextAfter(flush));
    queue.ended(flush);
    assertSame(l0, queue.next());
    queue.ended(l0);
    assertEquals(0, queue.size());
  }

  @Test
  void whatIsHeldBackWaitsAndOthersGoOn() {
    JobQueue queue = new JobQueue(2);
    queue.add(deep);
    assertSame(deep, queue.next());
    assertTrue(queue.hold(MERGE_DEEP, true));
    assertTrue(queue.urgency() < MERGE_DEEP.ordinal(), "the worker does not even look");
    assertNull(queue.nextAfter(deep));
    queue.add(secondDeep);
    queue.add(idle);
    queue.add(l0);
    assertSame(l0, queue.next());
    assertSame(idle, queue.next());
    assertSame(idle, queue.nextAfter(idle));
    queue.ended(idle);
    queue.ended(l0);
    assertNull(queue.next());
    assertEquals(2, queue.size());
    assertTrue(queue.hold(MERGE_DEEP, false));
    assertSame(deep, queue.next());
    queue.ended(deep);
    assertSame(secondDeep, queue.next());
  }

  @Test
  void whatIsHeldBackRestsOnceIfItHasBegun() {
    JobQueue queue = new JobQueue(2);
    queue.add(deep);
    queue.add(secondDeep);
    assertSame(deep, queue.next());
    queue.hold(MERGE_DEEP, true);
    assertNull(queue.nextAfter(deep));
    assertSame(deep, queue.nextToRest());
    assertNull(queue.nextToRest());
    queue.rested(deep);
    assertNull(queue.nextToRest());
    assertEquals(new Scheduler.Interruptions(1, 0), queue.interruptions());
    queue.hold(MERGE_DEEP, false);
    assertSame(deep, queue.next());
    queue.add(flush);
    assertSame(flush, queue.nextAfter(deep));
    assertNull(queue.nextToRest(), "it is not held back");
    queue.hold(MERGE_DEEP, true);
    assertSame(deep, queue.nextToRest());
    queue.ended(deep);
    assertEquals(new Scheduler.Interruptions(2, 1), queue.interruptions());
    assertEquals(2, queue.size());
  }

  @Test
  void theWorkerOfAJobThatIsHeldBackTakesTheNext() {
    JobQueue queue = new JobQueue(1);
    queue.add(deep);
    assertSame(deep, queue.next());
    queue.add(idle);
    queue.hold(MERGE_DEEP, true);
    assertSame(idle, queue.nextAfter(deep));
  }

  @Test
  void whatIsTakenOutIsGone() {
    JobQueue queue = new JobQueue(2);
    queue.add(deep);
    queue.add(flush);
    assertEquals(List.of(flush, deep), queue.clear());
    assertEquals(0, queue.size());
    assertNull(queue.next());
  }
}
