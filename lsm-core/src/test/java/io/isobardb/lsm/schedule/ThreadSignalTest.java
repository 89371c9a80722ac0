package io.isobardb.lsm.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class ThreadSignalTest {
  private final Signal signal = new ThreadSignal("test");

  @Test
  void noWakeUpIsLostBetweenTwoThreadsInTurns() throws Exception {
    takeTurns(new ThreadSignal("spinning"), new ThreadSignal("spinning"), 50_000);
    takeTurns(new ThreadSignal("sleeping", 0), new ThreadSignal("sleeping", 0), 20_000);
    takeTurns(new ThreadSignal("sleeping", 0), new ThreadSignal("spinning"), 20_000);
  }

  /** Each turn ends only when the other side has seen it: one lost wake-up, and this hangs. */
  private static void takeTurns(Signal there, Signal back, int turns) throws Exception {
    AtomicInteger turn = new AtomicInteger();
    Thread thread =
        new Thread(
            () -> {
              for (int i = 0; i < turns; i++) {
                int mine = 2 * i + 1;
                there.await(() -> turn.get() == mine);
                turn.set(mine + 1);
                back.raise();
              }
            });
    thread.setDaemon(true);
    thread.start();
    for (int i = 0; i < turns; i++) {
      int mine = 2 * i + 2;
      turn.set(mine - 1);
      there.raise();
      back.await(() -> turn.get() == mine);
    }
    thread.join();
    assertEquals(2 * turns, turn.get());
  }

  @Test
  void aRaiseBetweenALookAndTheSleepIsNotMissed() {
    Signal sleeping = new ThreadSignal("sleeping", 0);
    int[] looks = {0};
    boolean[] room = {false};
    sleeping.await(
        () -> {
          boolean seen = room[0];
          if (++looks[0] == 2) {
            room[0] = true;
            sleeping.raise();
          }
          return seen;
        });
    assertEquals(3, looks[0]);
  }

  @Test
  void manyWaitersSeeManyRaisers() throws Exception {
    AtomicLong value = new AtomicLong();
    int raisers = 2;
    int each = 50_000;
    List<Thread> threads = new ArrayList<>();
    for (int t = 0; t < 4; t++) {
      threads.add(
          new Thread(
              () -> {
                while (value.get() < (long) raisers * each) {
                  long seen = value.get();
                  signal.await(() -> value.get() > seen || seen == (long) raisers * each);
                }
              }));
    }
    for (int t = 0; t < raisers; t++) {
      threads.add(
          new Thread(
              () -> {
                for (int i = 0; i < each; i++) {
                  value.incrementAndGet();
                  signal.raise();
                }
              }));
    }
    threads.forEach(Thread::start);
    for (Thread thread : threads) {
      thread.join();
    }
  }

  @Test
  void aConditionMayTakeALockThatTheRaiserHolds() throws Exception {
    Object lock = new Object();
    int[] value = {0};
    Thread waiter =
        new Thread(
            () -> {
              for (int i = 1; i <= 2000; i++) {
                int wanted = i;
                signal.await(
                    () -> {
                      synchronized (lock) {
                        return value[0] >= wanted;
                      }
                    });
              }
            });
    waiter.start();
    for (int i = 1; i <= 2000; i++) {
      synchronized (lock) {
        value[0] = i;
        signal.raise();
      }
    }
    waiter.join();
  }

  @Test
  void aTimedWaitEndsWithoutTheCondition() {
    assertFalse(signal.await(() -> false, 1_000_000));
    assertTrue(signal.await(() -> true, 0));
  }

  @Test
  void interruptsDoNotEndAWait() throws Exception {
    for (boolean timed : new boolean[] {false, true}) {
      AtomicReference<Boolean> flag = new AtomicReference<>();
      boolean[] open = {false};
      AtomicInteger looks = new AtomicInteger();
      Thread waiter =
          new Thread(
              () -> {
                Thread.currentThread().interrupt();
                Runnable wait =
                    timed
                        ? () ->
                            assertTrue(signal.await(() -> look(looks, open), Long.MAX_VALUE / 4))
                        : () -> signal.await(() -> look(looks, open));
                wait.run();
                flag.set(Thread.currentThread().isInterrupted());
              });
      waiter.start();
      while (waiter.getState() != Thread.State.WAITING
          && waiter.getState() != Thread.State.TIMED_WAITING) {
        Thread.onSpinWait();
      }
      for (int i = 0; i < 100; i++) {
        waiter.interrupt();
        Thread.yield();
      }
      assertTrue(waiter.isAlive());
      synchronized (open) {
        open[0] = true;
      }
      signal.raise();
      waiter.join();
      assertEquals(Boolean.TRUE, flag.get());
    }
  }

  private static boolean look(AtomicInteger looks, boolean[] open) {
    looks.incrementAndGet();
    synchronized (open) {
      return open[0];
    }
  }

  @Test
  void aConditionThatThrowsLeavesNoWaiterBehind() {
    assertThrows(
        IllegalStateException.class,
        () ->
            signal.await(
                () -> {
                  throw new IllegalStateException("planned");
                }));
    signal.raise();
    assertFalse(signal.await(() -> false, 1000));
  }
}
