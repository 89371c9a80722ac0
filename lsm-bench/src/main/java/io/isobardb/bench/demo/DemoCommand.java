package io.isobardb.bench.demo;

import io.isobardb.bench.process.WorkDirectory;
import io.isobardb.cli.console.ByteSize;
import io.isobardb.cli.console.Exit;
import io.isobardb.cli.console.JsonOption;
import io.isobardb.cli.console.Numbers;
import io.isobardb.cli.console.Progress;
import io.isobardb.cli.console.UsageException;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.observe.StoreStats;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code demo}: many trees on one budget, the wall that moves, a process that is killed. */
@Command(
    name = "demo",
    description = "Shows in less than a minute what Isobar is for; begin here.",
    footer = {
      "",
      "Nothing to configure, and nothing is left behind. Needs some 100 MB of memory and up to 2 GB"
          + " in the directory of temporary files. The figures are those of this run: 'isobar"
          + " compare' and 'isobar experiment' measure."
    })
public final class DemoCommand implements Callable<Integer> {
  private static final int TREES = 500;
  private static final long BUDGET_BYTES = 48 << 20;
  private static final double WRITE_SECONDS = 8;
  private static final double READ_SECONDS = 14;
  private static final double KILL_SECONDS = 2;
  private static final long TICK_MILLIS = 200;

  @Spec private CommandSpec spec;

  @Option(
      names = "--pace",
      hidden = true,
      defaultValue = "1",
      description = "Makes all scenes so many times as long.")
  private double pace;

  @Mixin private JsonOption json = new JsonOption();

  private final Map<String, Object> results = new LinkedHashMap<>();

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (!(pace > 0 && pace <= 100)) {
      throw new UsageException("--pace must be above 0 and at most 100, not " + pace);
    }
    PrintWriter out = spec.commandLine().getOut();
    try (WorkDirectory work = WorkDirectory.of(null, "isobar-demo-");
        Progress progress = Progress.onStandardError()) {
      twoScenesOfMemory(work.path().resolve("trees"), progress, out);
      KillScene.Outcome outcome = killed(work.path().resolve("killed"), progress, out);
      say(
          out,
          "",
          "Go on with: isobar compare --records 200000 --repeats 1   (against other engines)",
          "            isobar experiment list                        (what the paper claims)",
          "            README.md                                     (a first program)");
      json.print(out, results, "");
      return (outcome.missing() == 0 ? Exit.SUCCESS : Exit.FINDING).code();
    }
  }

  private void say(PrintWriter out, String... lines) {
    if (json.isGiven()) {
      return;
    }
    for (String line : lines) {
      out.println(line);
    }
    out.flush();
  }

  private static StoreOptions options() {
    return ExperimentalOptions.set(
            StoreOptions.builder()
                .memoryBudget(BUDGET_BYTES)
                // A store in use decides every minute or so; here there is no time for that.
                .memoryTuner(tuner -> tuner.interval(Duration.ofSeconds(1))),
            e -> e.tunerMaxStep(0.25))
        .build();
  }

  private void twoScenesOfMemory(Path directory, Progress progress, PrintWriter out)
      throws InterruptedException {
    say(
        out,
        String.format("1. %d trees, one budget of %s", TREES, ByteSize.format(BUDGET_BYTES)),
        "   Two threads write to all trees in turn. No tree has memory of its own: what is written,",
        "   the indexes, the filters and the cache share the budget.");
    try (Store store = Store.open(directory, options());
        DemoLoad load = new DemoLoad(store, TREES)) {
      double rate = watch(store, load, "put", WRITE_SECONDS * pace, progress);
      StoreStats written = store.stats();
      results.put("trees", TREES);
      results.put("budgetBytes", BUDGET_BYTES);
      results.put("putsPerSecond", rate);
      results.put("peakBytes", written.ledger().peakBytes());
      results.put("diskBytes", written.diskBytes());
      say(
          out,
          String.format(
              Locale.ROOT,
              "   %,.0f puts a second. At most %s of the %s were taken, and %s are on disk.",
              rate,
              ByteSize.format(written.ledger().peakBytes()),
              ByteSize.format(BUDGET_BYTES),
              ByteSize.format(written.diskBytes())),
          "",
          "2. The wall between writes and cache moves",
          "   Now the trees are only read. The store measures what more cache would save, and takes",
          "   the memory for it from the writes, step by step.",
          "   at first   " + bar(written));
      load.read();
      double first = watch(store, load, "get", READ_SECONDS * pace / 4, progress);
      watch(store, load, "get", READ_SECONDS * pace / 2, progress);
      double last = watch(store, load, "get", READ_SECONDS * pace / 4, progress);
      StoreStats after = store.stats();
      String end = bar(after);
      results.put(
          "writeMemoryBytes",
          List.of(written.writeMemoryLimitBytes(), after.writeMemoryLimitBytes()));
      results.put("getsPerSecond", List.of(first, last));
      say(out, "   in the end " + end);
      if (end.equals(bar(written))) {
        say(
            out,
            "   It stayed: this machine did too little in the time for the cache to gain by it.");
      }
      say(
          out,
          String.format(
              Locale.ROOT,
              "   %,.0f gets a second in the first quarter of the time, %,.0f in the last.",
              first,
              last),
          "");
    }
  }

  private static String bar(StoreStats stats) {
    return MemoryBar.draw(stats.writeMemoryLimitBytes(), stats.ledger().limitBytes());
  }

  /** Shows for some time how memory is divided; returns operations per second. */
  private static double watch(
      Store store, DemoLoad load, String what, double seconds, Progress progress)
      throws InterruptedException {
    long start = System.nanoTime();
    long before = load.operations();
    long shown = before;
    long shownNanos = start;
    while (System.nanoTime() - start < seconds * 1e9) {
      TimeUnit.MILLISECONDS.sleep(TICK_MILLIS);
      long now = load.operations();
      long nanos = System.nanoTime();
      double rate = (now - shown) * 1e9 / (nanos - shownNanos);
      progress.update(
          String.format(Locale.ROOT, "   %s  %,9.0f %ss/s", bar(store.stats()), rate, what));
      shown = now;
      shownNanos = nanos;
    }
    double rate = (load.operations() - before) * 1e9 / (System.nanoTime() - start);
    progress.close();
    return rate;
  }

  private KillScene.Outcome killed(Path directory, Progress progress, PrintWriter out)
      throws InterruptedException {
    say(
        out,
        "3. kill -9",
        "   Another process writes, without waiting for the disk, and says how far it is. It is"
            + " killed,",
        "   and the store opened again.");
    KillScene.Outcome outcome =
        KillScene.run(
            directory,
            (long) (1000 * KILL_SECONDS * pace),
            count -> progress.update(String.format("   %,d writes acknowledged", count)));
    progress.close();
    results.put("acknowledgedWrites", outcome.acknowledged());
    results.put("missingWrites", outcome.missing());
    results.put("openMillis", outcome.openMillis());
    say(
        out,
        String.format(
            "   %s had been acknowledged: %s.",
            Numbers.count(outcome.acknowledged(), "write"),
            outcome.missing() == 0
                ? String.format("all are there, and %,d that had not said so yet", outcome.more())
                : String.format("WRONG: %,d are missing", outcome.missing())),
        String.format("   Opening the store took %,d ms.", outcome.openMillis()));
    return outcome;
  }
}
