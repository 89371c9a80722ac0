package io.isobardb.bench.demo;

import io.isobardb.bench.process.ChildJvm;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Tree;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;

/** A process that writes is killed, and its store is opened again. One thread. */
final class KillScene {
  private static final long TICK_MILLIS = 100;
  private static final long TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(60);

  /**
   * What came of it.
   *
   * @param acknowledged writes that had returned
   * @param missing how many of them are not there
   * @param more writes that are there, and had not said so yet
   * @param openMillis how long opening the store took
   */
  record Outcome(long acknowledged, long missing, long more, long openMillis) {}

  private KillScene() {}

  /**
   * Starts a process, kills it, and looks what is left.
   *
   * @param directory of the store; not there yet
   * @param millis how long it may write
   * @param progress is told now and then how many writes have returned
   */
  static Outcome run(Path directory, long millis, LongConsumer progress)
      throws InterruptedException {
    Process victim =
        new ChildJvm(DemoVictim.class)
            .heapBytes(64 << 20)
            .directBytes(64 << 20)
            .argument(directory.toString())
            .start();
    Thread reaper = new Thread(victim::destroyForcibly, "demo-reaper");
    Runtime.getRuntime().addShutdownHook(reaper);
    AtomicLong said = new AtomicLong(-1);
    Thread reader = new Thread(() -> read(victim, said), "demo-reader");
    reader.start();
    try {
      awaitWrites(victim, said);
      for (long waited = 0; waited < millis; waited += TICK_MILLIS) {
        TimeUnit.MILLISECONDS.sleep(TICK_MILLIS);
        progress.accept(said.get());
      }
      if (!victim.isAlive()) {
        throw new IllegalStateException("the process ended before it was killed");
      }
    } finally {
      // Process.destroyForcibly would close the pipe, with what is in it.
      victim.toHandle().destroyForcibly();
      victim.waitFor();
      reader.join();
    }
    Runtime.getRuntime().removeShutdownHook(reaper);
    return look(directory, said.get());
  }

  private static void awaitWrites(Process victim, AtomicLong said) throws InterruptedException {
    long start = System.nanoTime();
    while (said.get() <= 0) {
      if (!victim.isAlive() || System.nanoTime() - start > TIMEOUT_NANOS) {
        throw new IllegalStateException("the process that is to be killed does not write");
      }
      TimeUnit.MILLISECONDS.sleep(TICK_MILLIS / 10);
    }
  }

  private static void read(Process victim, AtomicLong said) {
    try (BufferedReader lines = victim.inputReader()) {
      String complete = lines.readLine();
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        // The last line may be cut.
        said.set(Long.parseLong(complete));
        complete = line;
      }
    } catch (IOException e) {
      throw new UncheckedIOException("can't read what the process says", e);
    }
  }

  /** Opens what a process left that had {@code acknowledged} writes behind it. */
  static Outcome look(Path directory, long acknowledged) {
    long start = System.nanoTime();
    try (Store store = Store.open(directory, DemoVictim.options())) {
      long openMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
      Tree records = store.tree(DemoVictim.TREE);
      long missing = 0;
      for (long n = 0; n < acknowledged; n++) {
        missing += isThere(records, n) ? 0 : 1;
      }
      long more = 0;
      while (isThere(records, acknowledged + more)) {
        more++;
      }
      return new Outcome(acknowledged, missing, more, openMillis);
    }
  }

  private static boolean isThere(Tree records, long n) {
    return Arrays.equals(DemoVictim.key(~n), records.get(DemoVictim.key(n)));
  }
}
