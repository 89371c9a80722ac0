package io.isobardb.tpcc.kill;

import io.isobardb.tpcc.check.ConsistencyCheck;
import io.isobardb.tpcc.check.Findings;
import io.isobardb.tpcc.load.Loader;
import io.isobardb.tpcc.schema.LoadMark;
import io.isobardb.tpcc.schema.Values;
import io.isobardb.tpcc.store.EngineKind;
import io.isobardb.tpcc.store.TpccStore;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * Runs the load in a process, kills it at a random moment, opens the store, and looks whether all
 * conditions hold and every order that was acknowledged is there; again and again, on the same
 * store. In one of five cycles the moment may fall before the store is open.
 */
public final class KillTest {
  private static final int EARLY_EVERY = 5;
  private static final int EARLY_MILLIS = 1000;
  private static final int CHECK_THREADS = 2;

  private final KillSpec spec;
  private final Values values;
  private final Consumer<String> progress;
  private final List<Acknowledged> all = new ArrayList<>();
  private final List<String> failures = new ArrayList<>();

  /**
   * What came out.
   *
   * @param cycles processes killed
   * @param orders that were acknowledged
   * @param failures what was lost or does not hold; the test ends at the first cycle with any
   */
  public record Result(int cycles, long orders, List<String> failures) {}

  /** A test of a loaded store; {@code progress} is told of each cycle. */
  public KillTest(KillSpec spec, Consumer<String> progress) {
    this.spec = spec;
    this.progress = progress;
    values = Values.part(spec.seed(), 0);
  }

  /** Runs all cycles, or up to the first that fails. */
  public Result run() throws InterruptedException {
    int cycle = 0;
    while (cycle < spec.cycles() && failures.isEmpty()) {
      cycle++;
      boolean early = cycle % EARLY_EVERY == 0;
      int millis = values.uniform(1, early ? EARLY_MILLIS : spec.longestMillis());
      List<Acknowledged> told = killed(cycle, early, millis);
      all.addAll(told);
      verify(cycle == spec.cycles() ? all : told);
      progress.accept(
          String.format(
              "cycle %d of %d: killed %d ms after %s, %d orders acknowledged, %s",
              cycle,
              spec.cycles(),
              millis,
              early ? "its start" : "its first order",
              told.size(),
              failures.isEmpty() ? "all there" : "FAILED"));
    }
    return new Result(cycle, all.size(), List.copyOf(failures));
  }

  /** Starts a process and kills it; returns what it acknowledged. */
  private List<Acknowledged> killed(int cycle, boolean early, int millis)
      throws InterruptedException {
    Process process = start(cycle);
    Thread reaper = new Thread(process::destroyForcibly, "tpcc-reaper");
    Runtime.getRuntime().addShutdownHook(reaper);
    CountDownLatch working = new CountDownLatch(early ? 0 : 1);
    AtomicBoolean endedByItself = new AtomicBoolean();
    Thread killer =
        new Thread(
            () -> {
              try {
                working.await();
                endedByItself.set(process.waitFor(millis, TimeUnit.MILLISECONDS));
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
              // Not Process.destroyForcibly, which closes the pipe with what is still in it.
              process.toHandle().destroyForcibly();
            },
            "tpcc-killer");
    killer.start();
    List<Acknowledged> told = new ArrayList<>();
    try (BufferedReader lines = process.inputReader()) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        Acknowledged order = Acknowledged.parse(line);
        if (order != null) {
          told.add(order);
          working.countDown();
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read what the process of cycle " + cycle + " says", e);
    } finally {
      working.countDown();
      process.waitFor();
      killer.join();
      Runtime.getRuntime().removeShutdownHook(reaper);
    }
    if (endedByItself.get()) {
      failures.add(
          "cycle "
              + cycle
              + ": the process ended by itself, with exit code "
              + process.exitValue()
              + "; see its error above");
    }
    return told;
  }

  private Process start(int cycle) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-XX:+UseSerialGC");
    command.add("-XX:-UsePerfData");
    command.add("-Xmx256m");
    command.add("-XX:MaxDirectMemorySize=" + (spec.store().memoryBytes() + (64L << 20)));
    if (Runtime.version().feature() >= 22) {
      command.add("--enable-native-access=ALL-UNNAMED");
    }
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(KillChild.class.getName());
    command.addAll(spec.arguments(cycle));
    try {
      return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot start " + command.get(0), e);
    }
  }

  private void verify(List<Acknowledged> orders) throws InterruptedException {
    try (TpccStore store = EngineKind.openStore(spec.store())) {
      LoadMark mark = Loader.loaded(store);
      if (mark == null) {
        failures.add("the store does not say any more what is loaded");
        return;
      }
      for (Acknowledged order : orders) {
        String missing = order.missing(store);
        if (missing != null) {
          failures.add(missing);
        }
      }
      Findings findings = ConsistencyCheck.run(store, mark.scale(), CHECK_THREADS, done -> {});
      if (!findings.clean()) {
        failures.add(findings.text());
      }
    }
  }
}
