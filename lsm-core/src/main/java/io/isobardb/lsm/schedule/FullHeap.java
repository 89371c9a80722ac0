package io.isobardb.lsm.schedule;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;

/**
 * What must come about though the heap is full, since others would wait for it for ever. A lock
 * that others hold takes a few bytes of heap from the thread that waits for it.
 */
final class FullHeap {
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  private FullHeap() {}

  /** Locks, and tries again as long as there is no heap for the wait. */
  static void lock(Lock lock) {
    while (true) {
      try {
        lock.lock();
        return;
      } catch (OutOfMemoryError e) {
        pause();
      }
    }
  }

  /** Before something is tried again: others may have given heap back by then. */
  static void pause() {
    LockSupport.parkNanos(PAUSE_NANOS);
  }
}
