package io.isobardb.bench.crash;

import io.isobardb.cli.console.Messages;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.option.MergeOperator;
import io.isobardb.lsm.simulation.Watchdog;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.SplittableRandom;

/**
 * A process that is killed while its threads add to counters that they share, by a merge operator.
 * It says {@code THREAD OPERATION} on standard output after each addition, by one write.
 */
final class CounterVictim {
  static final int THREADS = 8;
  static final int COUNTERS = 1000;
  static final String TREE = "counters";

  private static final int SYNC_EVERY = 64;
  private static final byte[] ONE = {0, 0, 0, 0, 0, 0, 0, 1};

  private CounterVictim() {}

  static TreeOptions options() {
    return TreeOptions.builder().mergeOperator(MergeOperator.ADD_LONG).build();
  }

  /** The counter that operation {@code n} of a thread adds to. */
  static int counter(int thread, long n) {
    return new SplittableRandom(n * THREADS + thread).nextInt(COUNTERS);
  }

  static byte[] key(int counter) {
    return ByteBuffer.allocate(Integer.BYTES).putInt(counter).array();
  }

  /** Arguments: directory, page size, seed of the options, and each thread's first operation. */
  public static void main(String[] args) throws InterruptedException {
    Messages.configure();
    PrintStream out = new PrintStream(System.out, false, StandardCharsets.US_ASCII);
    int pageSize = Integer.parseInt(args[1]);
    SplittableRandom random = new SplittableRandom(Long.parseLong(args[2]));
    Watchdog watchdog =
        new Watchdog("the victim with options " + args[2], Watchdog.BOUND, Watchdog::halt);
    Watchdog.Watch watch = watchdog.watch();
    Watchdog.mark("opening");
    StoreOptions options = RandomOptions.patient(RandomOptions.store(random, pageSize));
    Store store = Store.open(Path.of(args[0]), options);
    Tree tree = store.openTree(TREE, options());
    Watchdog.unmark();
    for (int t = 0; t < THREADS; t++) {
      int thread = t;
      long first = Long.parseLong(args[3 + t]);
      KillVictim.start(watchdog, () -> add(tree, thread, first, out));
    }
    watch.close();
    Thread.sleep(Long.MAX_VALUE);
  }

  private static void add(Tree tree, int thread, long first, PrintStream out) {
    for (long n = first; ; n++) {
      Watchdog.mark("operation " + n);
      Durability durability = n % SYNC_EVERY == 0 ? Durability.SYNC : Durability.ASYNC;
      tree.merge(key(counter(thread, n)), ONE, durability);
      String line = thread + " " + n + "\n";
      synchronized (out) {
        out.print(line);
        out.flush();
      }
    }
  }
}
