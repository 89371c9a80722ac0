package io.isobardb.bench.crash;

import io.isobardb.cli.console.Messages;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.simulation.Watchdog;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The process that is killed. It says on standard output what it does, each line by one write:
 * {@code opening}, {@code open}, {@code THREAD OPERATION} after each write, {@code c COUNT} after
 * each checkpoint, {@code begun STEP} and {@code done STEP} around each chore, {@code closing},
 * {@code closed}.
 */
final class KillVictim {
  private static final int CHECKPOINT_EVERY = 40;
  private static final byte[] ONE = {0, 0, 0, 0, 0, 0, 0, 1};

  private final Store store;
  private final Tree[] trees = new Tree[KillWorkload.TREES];
  private final Tree counter;
  private final Tree sums;
  private final AtomicBoolean ending = new AtomicBoolean();
  private final long made;
  private final PrintStream out;

  private KillVictim(Store store, long made, PrintStream out) {
    this.store = store;
    this.made = made;
    this.out = out;
    for (int i = 0; i < trees.length; i++) {
      trees[i] = store.openTree(KillWorkload.tree(i), KillWorkload.options(i));
    }
    counter = store.openTree(KillWorkload.COUNTER, KillWorkload.counterOptions());
    sums = store.openTree(KillWorkload.SUMS, KillWorkload.sumOptions());
  }

  /**
   * Arguments: directory, page size, seed of the options, milliseconds until it closes the store or
   * -1, the counter's start, when the store was made, a directory for chores, the first of them,
   * and each thread's first operation.
   */
  public static void main(String[] args) throws InterruptedException {
    Messages.configure();
    PrintStream out = new PrintStream(System.out, false, StandardCharsets.US_ASCII);
    int pageSize = Integer.parseInt(args[1]);
    SplittableRandom random = new SplittableRandom(Long.parseLong(args[2]));
    long closeMillis = Long.parseLong(args[3]);
    Watchdog watchdog =
        new Watchdog("the victim with options " + args[2], Watchdog.BOUND, Watchdog::halt);
    Watchdog.Watch watch = watchdog.watch();
    say(out, "opening");
    Watchdog.mark("opening");
    StoreOptions options = RandomOptions.patient(RandomOptions.store(random, pageSize));
    Store store = Store.open(Path.of(args[0]), options);
    KillVictim victim = new KillVictim(store, Long.parseLong(args[5]), out);
    say(out, "open");
    Watchdog.unmark();
    Thread[] threads = new Thread[KillWorkload.THREADS + 1];
    for (int t = 0; t < KillWorkload.THREADS; t++) {
      int thread = t;
      long first = Long.parseLong(args[8 + t]);
      long count = Long.parseLong(args[4]);
      threads[t] = start(watchdog, () -> victim.write(thread, first, count));
    }
    KillChores chores = new KillChores(Path.of(args[6]));
    long step = Long.parseLong(args[7]);
    threads[KillWorkload.THREADS] = start(watchdog, () -> victim.takeSteps(chores, step));
    if (closeMillis >= 0) {
      Thread.sleep(closeMillis);
      victim.ending.set(true);
      for (Thread thread : threads) {
        thread.join();
      }
      say(out, "closing");
      Watchdog.mark("closing");
      store.close();
      say(out, "closed");
      watch.close();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    // To be killed: the background may go on merging.
    Thread.sleep(Long.MAX_VALUE);
  }

  /**
   * Starts a thread of a victim. If that fails, the process ends: it would be killed anyhow, and
   * nobody would see that a thread was missing.
   */
  static Thread start(Watchdog watchdog, Runnable body) {
    Thread thread =
        new Thread(
            () -> {
              try {
                watchdog.watch(body);
              } catch (Throwable e) {
                e.printStackTrace();
                Runtime.getRuntime().halt(1);
              }
            });
    thread.start();
    return thread;
  }

  private static void say(PrintStream out, String line) {
    synchronized (out) {
      out.print(line + "\n");
      out.flush();
    }
  }

  private void write(int thread, long first, long count) {
    addMissing(thread, first - 1);
    for (long n = first; !ending.get(); n++) {
      Watchdog.mark("operation " + n);
      write(thread, n);
      say(out, thread + " " + n);
      if (thread == 0) {
        counter.put(
            new byte[] {(byte) (count % KillWorkload.COUNTER_KEYS)},
            Long.toString(count).getBytes(StandardCharsets.US_ASCII));
        if (n % CHECKPOINT_EVERY == 0) {
          store.checkpoint();
          say(out, "c " + count);
        }
        count++;
      }
    }
  }

  private void takeSteps(KillChores chores, long first) {
    try {
      for (long step = first; !ending.get(); step++) {
        Watchdog.mark("chore " + step);
        say(out, "begun " + step);
        chores.take(store, step);
        say(out, "done " + step);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The last victim may have been killed between a write and its addition. */
  private void addMissing(int thread, long last) {
    if (last >= 0 && !KillWorkload.isBatch(last)) {
      byte[] found = sums.get(KillWorkload.sum(thread, last));
      long sum = found == null ? 0 : ByteBuffer.wrap(found).getLong();
      if (sum < KillWorkload.sumOf(last, last + 1)) {
        sums.merge(KillWorkload.sum(thread, last), ONE, Durability.ASYNC);
      }
    }
  }

  private void write(int thread, long n) {
    byte[] sum = KillWorkload.sum(thread, n);
    byte[] key = KillWorkload.key(thread, n);
    Durability durability = KillWorkload.isSync(n) ? Durability.SYNC : Durability.ASYNC;
    if (KillWorkload.isDelete(n)) {
      long earlier = KillWorkload.deleted(n);
      trees[KillWorkload.treeOf(earlier)].delete(KillWorkload.key(thread, earlier), durability);
    } else if (KillWorkload.isBatch(n)) {
      WriteBatch batch = store.newBatch();
      for (int i = 0; i < trees.length; i++) {
        batch.put(trees[i], key, KillWorkload.value(thread, n), expires(n, i));
      }
      batch.merge(sums, sum, ONE);
      store.write(batch, durability);
    } else {
      int tree = KillWorkload.treeOf(n);
      trees[tree].put(key, KillWorkload.value(thread, n), expires(n, tree), durability);
    }
    if (!KillWorkload.isBatch(n)) {
      sums.merge(sum, ONE, durability);
    }
  }

  private Instant expires(long n, int tree) {
    return KillWorkload.expires(n, tree)
        ? Instant.ofEpochMilli(KillWorkload.expiry(n, made))
        : Instant.MAX;
  }
}
