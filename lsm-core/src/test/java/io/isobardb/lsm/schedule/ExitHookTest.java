package io.isobardb.lsm.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class ExitHookTest {
  private final Queue<String> closed = new ConcurrentLinkedQueue<>();

  private ExitHook.Closer closer(String name, Runnable close) {
    return new ExitHook.Closer() {
      @Override
      public String name() {
        return name;
      }

      @Override
      public void close() {
        throw new AssertionError("the JVM ends");
      }

      @Override
      public void goOnWithout(Predicate<Thread> exiting) {}

      @Override
      public void closeAtExit() {
        close.run();
        closed.add(name);
      }

      @Override
      public String atRisk() {
        return "nothing";
      }
    };
  }

  @Test
  @Timeout(60)
  void oneThatCanNotBeClosedHoldsUpNoOther() {
    ExitHook hook = new ExitHook(TimeUnit.MILLISECONDS.toNanos(500), thread -> false);
    CountDownLatch never = new CountDownLatch(1);
    hook.add(
        closer(
            "stuck",
            () -> {
              while (true) {
                try {
                  never.await();
                  return;
                } catch (InterruptedException e) {
                  continue;
                }
              }
            }));
    hook.add(
        closer(
            "failing",
            () -> {
              throw new IllegalStateException("planted");
            }));
    hook.add(closer("sound", () -> {}));
    hook.closeAll(Thread.currentThread());
    assertEquals("[sound]", closed.toString());
    assertThrows(IllegalStateException.class, hook::checkRunning);
    assertThrows(IllegalStateException.class, () -> hook.add(closer("late", () -> {})));
    never.countDown();
  }

  /** Log4j behind System.Logger, for one, can't begin in a shutdown hook. */
  @Test
  @Timeout(60)
  void aLogThatFailsKeepsNothingFromBeingClosed() {
    ExitHook hook = new ExitHook(TimeUnit.HOURS.toNanos(1), thread -> false);
    hook.add(closer("one", () -> {}));
    hook.add(closer("other", () -> {}));
    try (FailingLog log = new FailingLog(ExitHook.class)) {
      hook.closeAll(Thread.currentThread());
      assertTrue(log.isAsked());
    }
    assertEquals(2, closed.size(), closed.toString());
  }

  @Test
  @Timeout(60)
  void nobodyWaitsForALockOfAThreadThatExits() throws Exception {
    Lock held = new ReentrantLock();
    CountDownLatch taken = new CountDownLatch(1);
    Thread holder =
        new Thread(
            () -> {
              held.lock();
              taken.countDown();
              while (true) {
                LockSupport.park();
              }
            });
    holder.setDaemon(true);
    holder.start();
    taken.await();
    ExitHook hook = new ExitHook(TimeUnit.HOURS.toNanos(1), thread -> thread == holder);
    ExitHook.Closer stuck = closer("stuck", held::lock);
    ExitHook.Closer sound = closer("sound", () -> {});
    hook.add(stuck);
    hook.add(sound);
    hook.closeAll(Thread.currentThread());
    assertEquals("[sound]", closed.toString());
    hook.remove(stuck);
    hook.remove(sound);
  }

  /** The thread of a hook that the JVM knows has not been started; so it can be taken back. */
  @Test
  void theJvmKnowsTheHookWhileThereIsSomethingToClose() throws Exception {
    ExitHook hook = new ExitHook(ExitHook.MOST_NANOS, thread -> false);
    ExitHook.Closer one = closer("one", () -> {});
    ExitHook.Closer other = closer("other", () -> {});
    assertFalse(known(hook));
    hook.add(one);
    hook.add(other);
    assertTrue(known(hook));
    hook.remove(one);
    assertTrue(known(hook));
    hook.remove(other);
    hook.remove(other);
    assertFalse(known(hook));
    assertEquals(List.of(), hook.closers());
    hook.add(one);
    assertTrue(known(hook));
    hook.remove(one);
  }

  private static boolean known(ExitHook hook) throws Exception {
    var field = ExitHook.class.getDeclaredField("hook");
    field.setAccessible(true);
    Thread thread = (Thread) field.get(hook);
    if (thread == null || !Runtime.getRuntime().removeShutdownHook(thread)) {
      return false;
    }
    Runtime.getRuntime().addShutdownHook(thread);
    return true;
  }
}
