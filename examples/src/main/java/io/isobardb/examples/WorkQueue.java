package io.isobardb.examples;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Isolation;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.TransactionOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.error.LockTimeoutException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * A queue of jobs with many workers. A worker takes the oldest job that no other one has, and the
 * job is removed when the worker has done it. A job whose worker fails, or whose process ends
 * before that, is taken again, so jobs are done at least once.
 *
 * <p>Shows pessimistic transactions that skip what others have locked: {@code READ_COMMITTED}, so
 * that a worker sees what others have committed meanwhile, and a lock timeout of zero.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class WorkQueue {
  private static final TransactionOptions TAKE =
      TransactionOptions.builder()
          .isolation(Isolation.READ_COMMITTED)
          .lockTimeout(Duration.ZERO)
          .build();

  private final Store store;

  /** Number, big-endian, to job. */
  private final Tree jobs;

  private final AtomicLong next;

  /** The queue in {@code store}; its only one. */
  public WorkQueue(Store store) {
    this.store = store;
    jobs = store.openTree("jobs");
    try (Cursor cursor = jobs.cursor()) {
      next = new AtomicLong(cursor.last() ? ByteBuffer.wrap(cursor.key()).getLong() + 1 : 0);
    }
  }

  /** Adds a job. */
  public void add(String job) {
    byte[] key = ByteBuffer.allocate(8).putLong(next.getAndIncrement()).array();
    jobs.put(key, job.getBytes(UTF_8));
  }

  /**
   * Does the oldest job that no other worker has; returns whether there was one. If {@code worker}
   * throws, the job stays.
   */
  public boolean work(Consumer<String> worker) {
    return store.inTransaction(
        TAKE,
        tx -> {
          try (Cursor cursor = tx.cursor(jobs)) {
            for (boolean more = cursor.first(); more; more = cursor.next()) {
              byte[] key = cursor.key();
              byte[] job;
              try {
                job = tx.getForUpdate(jobs, key);
              } catch (LockTimeoutException e) {
                // Another worker has it.
                continue;
              }
              if (job != null) {
                tx.delete(jobs, key);
                worker.accept(new String(job, UTF_8));
                return true;
              }
              // Done since the cursor was opened.
            }
            return false;
          }
        });
  }

  /** The argument is the directory of the store. */
  public static void main(String[] args) throws InterruptedException {
    StoreOptions options = StoreOptions.builder().memoryBudget(16 << 20).build();
    try (Store store = Store.open(Path.of(args[0]), options)) {
      WorkQueue queue = new WorkQueue(store);
      for (int i = 1; i <= 1000; i++) {
        queue.add("job " + i);
      }
      try {
        queue.work(
            job -> {
              throw new IllegalStateException(job + " failed");
            });
      } catch (IllegalStateException e) {
        System.out.println(e.getMessage());
      }
      queue.work(job -> System.out.println(job + " done"));
      AtomicInteger done = new AtomicInteger();
      List<Thread> workers = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        Thread worker =
            new Thread(
                () -> {
                  while (queue.work(job -> done.incrementAndGet())) {
                    // Until there is none left.
                  }
                });
        worker.start();
        workers.add(worker);
      }
      for (Thread worker : workers) {
        worker.join();
      }
      System.out.println(done + " more done, left: " + queue.work(job -> {}));
    }
  }
}
