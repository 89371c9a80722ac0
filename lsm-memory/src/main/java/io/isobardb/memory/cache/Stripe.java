package io.isobardb.memory.cache;

import java.util.Arrays;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The loads in progress of one share of the keys. Inserting a key into the page table is done under
 * its stripe's lock; reading the page is not.
 */
final class Stripe {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition loadEnded = lock.newCondition();
  private long[] loading = new long[4];
  private int count;

  void lock() {
    lock.lock();
  }

  /**
   * As {@link #lock}, also if the heap is full: a lock that others hold takes a few bytes of it.
   * For the end of a load, which others wait for.
   */
  void lockWhateverHappens() {
    while (true) {
      try {
        lock.lock();
        return;
      } catch (OutOfMemoryError e) {
        Thread.yield(); // No class is loaded for this.
      }
    }
  }

  void unlock() {
    lock.unlock();
  }

  boolean isLoading(long key) {
    return indexOf(key) >= 0;
  }

  /** Waits until nobody loads the key. */
  void awaitLoad(long key) {
    while (isLoading(key)) {
      loadEnded.awaitUninterruptibly();
    }
  }

  void beginLoad(long key) {
    if (count == loading.length) {
      loading = Arrays.copyOf(loading, count * 2);
    }
    loading[count++] = key;
  }

  void endLoad(long key) {
    loading[indexOf(key)] = loading[--count];
    loadEnded.signalAll();
  }

  private int indexOf(long key) {
    for (int i = 0; i < count; i++) {
      if (loading[i] == key) {
        return i;
      }
    }
    return -1;
  }
}
