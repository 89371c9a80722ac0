package io.isobardb.lsm.wal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.isobardb.lsm.ForwardingScheduler;
import io.isobardb.lsm.schedule.Scheduler;
import io.isobardb.lsm.schedule.Signal;
import io.isobardb.lsm.schedule.ThreadScheduler;
import io.isobardb.lsm.wal.SyncQueue.Waiter;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.LongPredicate;
import org.junit.jupiter.api.Test;

class SyncQueueTest {
  private static final int MOST = 64;

  /** Has signals that tell in which order they were raised. */
  private static final class Told extends ForwardingScheduler {
    private final int[] raised = new int[2 * MOST];
    private int count;
    private int signals;

    Told(Scheduler scheduler) {
      super(scheduler);
    }

    @Override
    public Signal signal(String name) {
      int number = signals++;
      return new Signal() {
        @Override
        public void await(BooleanSupplier condition) {
          throw new AssertionError();
        }

        @Override
        public boolean await(BooleanSupplier condition, long nanos) {
          throw new AssertionError();
        }

        @Override
        public void raise() {
          raised[count++] = number;
        }
      };
    }

    private List<Integer> take() {
      List<Integer> all = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        all.add(raised[i]);
      }
      count = 0;
      return all;
    }
  }

  @Test
  void thoseAreCalledThatAreServedAndThenTheOldestThatIsNot() {
    try (ThreadScheduler threads = new ThreadScheduler("test", 1)) {
      Told told = new Told(threads);
      SyncQueue queue = new SyncQueue(told);
      Waiter[] waiters = new Waiter[6];
      for (int i = 0; i < waiters.length; i++) {
        waiters[i] = queue.enter(new long[] {80, 16, 96, 24, 104, 32}[i]);
      }
      queue.callDone(lsn -> lsn < 50);
      assertEquals(List.of(1, 3, 5), told.take());
      queue.callNext(lsn -> lsn < 50);
      queue.callNext(lsn -> lsn < 90);
      assertEquals(List.of(0, 2), told.take());
      queue.leave(waiters[0]);
      queue.leave(waiters[5]);
      assertFalse(queue.isEmpty());
      queue.callDone(lsn -> lsn < 100);
      assertEquals(List.of(2), told.take());
      Waiter late = queue.enter(8);
      queue.callAll();
      assertEquals(List.of(4, 6), told.take());
      for (Waiter waiter : waiters) {
        queue.leave(waiter);
      }
      queue.leave(late);
      assertTrue(queue.isEmpty());
      queue.callNext(lsn -> false);
      assertEquals(List.of(), told.take());
    }
  }

  /** With a full heap the log would stay with the thread that is about to give it back. */
  @Test
  void toCallTakesNoHeap() {
    ThreadMXBean memory = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    try (ThreadScheduler threads = new ThreadScheduler("test", 1)) {
      Told told = new Told(threads);
      SyncQueue queue = new SyncQueue(told);
      LongPredicate half = lsn -> lsn < MOST / 2;
      Waiter[] waiters = new Waiter[MOST];
      for (int round = 0; round < 3; round++) {
        for (int i = 0; i < MOST; i++) {
          waiters[i] = queue.enter(i);
        }
        long before = memory.getCurrentThreadAllocatedBytes();
        queue.callDone(half);
        queue.callNext(half);
        queue.callAll();
        long bytes = memory.getCurrentThreadAllocatedBytes() - before;
        if (round > 0) {
          assertEquals(0, bytes);
        }
        assertEquals(MOST + 1, told.take().size());
        for (Waiter waiter : waiters) {
          queue.leave(waiter);
        }
      }
    }
  }
}
