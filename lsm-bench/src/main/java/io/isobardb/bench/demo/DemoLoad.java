package io.isobardb.bench.demo;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.Tree;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Threads that write new records to all trees of a store, and later read them, the first ones most
 * often. Records take turns over the trees.
 *
 * <p>Thread rule: used by one thread; starts the others.
 */
final class DemoLoad implements AutoCloseable {
  private static final int THREADS = 2;
  private static final int VALUE_BYTES = 200;
  private static final long MOST_RECORDS = 4_000_000;
  private static final long FULL_NANOS = 10_000_000;

  /** Spreads records over the key space. */
  private static final long SCATTER = 0x9E3779B97F4A7C15L;

  private enum Mode {
    WRITE,
    READ,
    END
  }

  private final List<Tree> trees = new ArrayList<>();
  private final List<Thread> threads = new ArrayList<>();
  private final AtomicLong next = new AtomicLong();
  private final LongAdder operations = new LongAdder();
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private volatile Mode mode = Mode.WRITE;

  /** Opens the trees and begins to write. */
  DemoLoad(Store store, int treeCount) {
    for (int i = 0; i < treeCount; i++) {
      trees.add(store.openTree("tree-" + i));
    }
    for (int i = 0; i < THREADS; i++) {
      SplittableRandom random = new SplittableRandom(i);
      Thread thread = new Thread(() -> work(random), "demo-" + i);
      thread.setDaemon(true);
      threads.add(thread);
      thread.start();
    }
  }

  private void work(SplittableRandom random) {
    byte[] value = new byte[VALUE_BYTES];
    try {
      while (mode != Mode.END) {
        if (mode == Mode.READ) {
          readOne(random);
        } else if (next.get() < MOST_RECORDS) {
          random.nextBytes(value);
          long record = next.getAndIncrement();
          tree(record).put(key(record), value);
        } else {
          // Enough for a demonstration, and for the disk.
          LockSupport.parkNanos(FULL_NANOS);
          continue;
        }
        operations.increment();
      }
    } catch (RuntimeException | Error e) {
      failure.compareAndSet(null, e);
    }
  }

  private void readOne(SplittableRandom random) {
    // The newest few may not have been written yet.
    long record = (long) (Math.pow(random.nextDouble(), 3) * (next.get() - THREADS));
    if (record >= 0 && tree(record).get(key(record)) == null) {
      throw new IllegalStateException("record " + record + " was written and is not there");
    }
  }

  private Tree tree(long record) {
    return trees.get((int) (record % trees.size()));
  }

  private static byte[] key(long record) {
    return Long.toUnsignedString(record * SCATTER).getBytes(StandardCharsets.US_ASCII);
  }

  /** From now on records are only read. */
  void read() {
    mode = Mode.READ;
  }

  /** Operations so far. */
  long operations() {
    check();
    return operations.sum();
  }

  private void check() {
    Throwable thrown = failure.get();
    if (thrown != null) {
      throw new IllegalStateException("the load failed: " + thrown.getMessage(), thrown);
    }
  }

  /** Ends the threads. */
  @Override
  public void close() {
    mode = Mode.END;
    try {
      for (Thread thread : threads) {
        thread.join();
      }
    } catch (InterruptedException e) {
      // They end by themselves, at the latest when the store is closed.
      Thread.currentThread().interrupt();
    }
  }
}
