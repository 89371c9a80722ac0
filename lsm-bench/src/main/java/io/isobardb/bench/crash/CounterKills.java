package io.isobardb.bench.crash;

import io.isobardb.bench.crash.KillCycles.Moment;
import io.isobardb.bench.crash.KillCycles.Result;
import io.isobardb.bench.process.ChildJvm;
import io.isobardb.bench.process.WorkDirectory;
import io.isobardb.cli.console.Progress.Watcher;
import io.isobardb.cli.console.Shutdown;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Kills processes whose threads add to counters that they share. After each kill every counter must
 * be what was acknowledged, or more by what was in the making: at most one addition of each thread.
 * Options are new each time; the store is the same.
 *
 * <p>Thread rule: one thread.
 */
final class CounterKills {
  private static final long TIMEOUT_MILLIS = 120_000;
  private static final int PAGE_BYTES = 4096;

  private final SplittableRandom random;
  private final Path directory;
  private final long[] next = new long[CounterVictim.THREADS];
  private final long[] counters = new long[CounterVictim.COUNTERS];

  private CounterKills(long seed, Path directory) {
    this.random = new SplittableRandom(seed);
    this.directory = directory;
  }

  /**
   * Kills {@code cycles} processes, or up to the first after which something is wrong.
   *
   * @param additions about as many as all of them make
   * @param parent where the store's directory is made; made itself if it is missing
   */
  static Result run(long seed, long cycles, long additions, Path parent, Watcher progress)
      throws IOException, InterruptedException {
    Files.createDirectories(parent);
    try (WorkDirectory work = WorkDirectory.temporary(parent, "isobar-kill-")) {
      CounterKills killer = new CounterKills(seed, work.path().resolve("store"));
      Result result = killer.run(seed, cycles, additions, progress);
      if (result.wrong() != null && !Shutdown.isUnderWay()) {
        work.keep();
      }
      return result;
    }
  }

  private Result run(long seed, long cycles, long additions, Watcher progress)
      throws IOException, InterruptedException {
    long start = System.nanoTime();
    long done = 0;
    @Nullable Throwable wrong = null;
    while (done < cycles && wrong == null) {
      done++;
      try {
        // By now so many are to have been made, some of them since the last kill.
        cycle(additions * done / cycles - random.nextLong(1 + additions / cycles / 2));
        if (done == cycles || random.nextInt(8) == 0) {
          KillCycles.inspect(directory, options());
        }
      } catch (AssertionError | RuntimeException e) {
        wrong = e;
      }
      String text =
          String.format(
              Locale.ROOT,
              "kill %d of %d, %,d additions",
              done,
              cycles,
              Arrays.stream(counters).sum());
      progress.at(text, done, cycles);
    }
    double seconds = (System.nanoTime() - start) / 1e9;
    Map<Moment, Long> moments = Map.of(Moment.WRITING, done);
    return new Result(
        seed, done, Arrays.stream(counters).sum(), seconds, moments, wrong, directory);
  }

  private void cycle(long until) throws InterruptedException {
    KillWitness witness = new KillWitness(next, -1, 0);
    ChildJvm child =
        new ChildJvm(CounterVictim.class)
            .flag("-XX:TieredStopAtLevel=1")
            .flag("-Xmx64m")
            .argument(directory.toString())
            .argument(Integer.toString(PAGE_BYTES))
            .argument(Long.toString(random.nextLong()));
    for (long n : next) {
      child.argument(Long.toString(n));
    }
    long most = Math.max(Arrays.stream(next).sum() + CounterVictim.THREADS, until);
    KillCycles.kill(child.start(), witness, () -> witness.await(most, TIMEOUT_MILLIS));
    long[] least = counters.clone();
    int[] maybe = new int[CounterVictim.COUNTERS];
    long[] done = witness.done();
    for (int thread = 0; thread < next.length; thread++) {
      for (long n = next[thread]; n <= done[thread]; n++) {
        least[CounterVictim.counter(thread, n)]++;
      }
      maybe[CounterVictim.counter(thread, done[thread] + 1)]++;
      // Whether that one is there is seen below; it is not made again.
      next[thread] = done[thread] + 2;
    }
    check(least, maybe);
  }

  /** Reads the counters, which become what the next ones are counted from. */
  private void check(long[] least, int[] maybe) {
    try (Store store = Store.open(directory, options())) {
      Tree tree = store.openTree(CounterVictim.TREE, CounterVictim.options());
      for (int counter = 0; counter < counters.length; counter++) {
        byte[] value = tree.get(CounterVictim.key(counter));
        long found = value == null ? 0 : ByteBuffer.wrap(value).getLong();
        if (found < least[counter] || found > least[counter] + maybe[counter]) {
          throw new AssertionError(
              "counter "
                  + counter
                  + " is "
                  + found
                  + ", but "
                  + least[counter]
                  + " additions were acknowledged, and "
                  + maybe[counter]
                  + " were in the making");
        }
        counters[counter] = found;
      }
    }
  }

  private StoreOptions options() {
    return RandomOptions.store(random, PAGE_BYTES);
  }
}
