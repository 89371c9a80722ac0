package io.isobardb.lsm.schedule;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Which thread waits for which signal: for reports of calls that do not end. Nothing is noted
 * unless somebody has asked for it.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class WaitNotes {
  private static final AtomicInteger ASKED = new AtomicInteger();
  private static final Map<Thread, String> WAITS = new ConcurrentHashMap<>();

  private WaitNotes() {}

  /** Has waits noted until {@link #stop}; waits under way are left out. */
  public static void start() {
    ASKED.getAndIncrement();
  }

  /** Ends what one {@link #start} began. */
  public static void stop() {
    ASKED.getAndDecrement();
  }

  /**
   * The name of the signal that a thread waits for, and what it is within where that is known; null
   * if nothing is noted.
   */
  public static @Nullable String of(Thread thread) {
    return WAITS.get(thread);
  }

  /**
   * The current thread is about to wait.
   *
   * @return whether that was noted: then {@link #goesOn} is to be called
   */
  static boolean waits(String what) {
    if (ASKED.get() == 0) {
      return false;
    }
    WAITS.put(Thread.currentThread(), what + Awaited.described());
    return true;
  }

  static void goesOn() {
    WAITS.remove(Thread.currentThread());
  }
}
