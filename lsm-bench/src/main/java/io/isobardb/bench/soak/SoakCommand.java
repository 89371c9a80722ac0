package io.isobardb.bench.soak;

import io.isobardb.bench.process.Events;
import io.isobardb.cli.console.ByteSize;
import io.isobardb.cli.console.Exit;
import io.isobardb.cli.console.JsonOption;
import io.isobardb.cli.console.Numbers;
import io.isobardb.cli.console.Progress;
import io.isobardb.cli.console.Shutdown;
import io.isobardb.cli.console.TimeSpan;
import io.isobardb.cli.console.UsageException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code soak}: does a store stay right, and in its bounds, for hours? */
@Command(
    name = "soak",
    description = "Keeps a store under mixed load for long, and verifies everything as it goes.",
    footer = {
      "",
      "Threads write, read, scan both ways, run transactions and hold snapshots, each with keys of"
          + " its own, so that it knows what every read must find. Meanwhile the memory budget goes"
          + " up and down, trees come and go, the runs of their levels change, and the disk is slow"
          + " at times. Eight times the store is closed, its files are checked, and all is read"
          + " again; what stays in memory then, on the heap or off it, or open, is a leak. A writer"
          + " must not wait for more than 30 s, and at the end merges must get done.",
      "",
      "If something is wrong, the store is left for a look."
    })
public final class SoakCommand implements Callable<Integer> {
  private static final int LEAST_MEMORY = 12 << 20;
  private static final long PROGRESS_MILLIS = 2_000;

  @Spec private CommandSpec spec;

  @Option(names = "--duration", paramLabel = "TIME", description = "How long. Default: 10m.")
  private @Nullable TimeSpan duration;

  @Option(
      names = "--hours",
      paramLabel = "H",
      description = "How long, in hours; instead of --duration.")
  private @Nullable Double hours;

  @Option(
      names = "--memory",
      paramLabel = "SIZE",
      defaultValue = "64MB",
      description = "The largest memory budget. Default: ${DEFAULT-VALUE}.")
  private ByteSize memory = new ByteSize(0);

  @Option(
      names = "--threads",
      paramLabel = "N",
      description = "Threads that write and read. Default: ${DEFAULT-VALUE}.")
  private int threads = 3;

  @Option(
      names = "--trees",
      paramLabel = "N",
      description = "Trees, 1 to 100. Default: ${DEFAULT-VALUE}.")
  private int trees = 8;

  @Option(
      names = "--keys",
      paramLabel = "N",
      description = "Keys of each thread in each tree. Default: ${DEFAULT-VALUE}.")
  private int keys = 5000;

  @Option(
      names = "--seed",
      paramLabel = "S",
      description = "Of what the threads do. Default: ${DEFAULT-VALUE}.")
  private long seed = 1;

  @Option(names = "--no-spikes", description = "Leave the disk as fast as it is.")
  private boolean noSpikes;

  @Option(
      names = "--dir",
      paramLabel = "DIR",
      description = "Where the store is made. Default: a new temporary directory.")
  private @Nullable Path directory;

  @Option(
      names = "--report",
      paramLabel = "TIME",
      description =
          "Print a line on standard error so often. Default: none, and progress on a terminal.")
  private @Nullable TimeSpan reports;

  @Mixin private JsonOption json = new JsonOption();

  @Override
  public Integer call() throws IOException, InterruptedException {
    Numbers.check("--threads", threads, 1, 500);
    Numbers.check("--trees", trees, 1, 100);
    Numbers.check("--keys", keys, 1, 1 << 20);
    Numbers.checkAtLeast("--memory", memory, LEAST_MEMORY);
    TimeSpan length = length();
    if (reports != null) {
      Numbers.checkAboveZero("--report", reports);
    }
    Path dir = directory != null ? directory : Files.createTempDirectory("isobar-soak-");
    SoakSpec what =
        new SoakSpec(
            dir,
            length.millis(),
            memory.bytes(),
            threads,
            trees,
            keys,
            seed,
            !noSpikes,
            reports == null ? PROGRESS_MILLIS : reports.millis());
    // What is left open is to be told with where it was opened.
    System.setProperty("isobar.leaks", "true");
    SoakResult result;
    try (Progress progress = Progress.onStandardError()) {
      progress.stage("soaking");
      result =
          SoakRun.run(
              what,
              reports == null ? progress::update : (line, done, all) -> System.err.println(line));
    }
    Exit exit = result.wrong() == null ? Exit.SUCCESS : Exit.FINDING;
    if (Shutdown.isUnderWay()) {
      return exit.code();
    }
    PrintWriter out = spec.commandLine().getOut();
    out.print(json.isGiven() ? Events.text(result) + "\n" : text(result));
    if (result.wrong() != null) {
      System.err.println("The store is left in " + dir.toAbsolutePath());
    }
    out.flush();
    return exit.code();
  }

  private TimeSpan length() {
    if (duration != null && hours != null) {
      throw new UsageException("--duration and --hours say the same: give one of them");
    }
    TimeSpan length =
        duration != null ? duration : TimeSpan.parse(hours != null ? hours + "h" : "10m");
    Numbers.checkAboveZero(hours != null ? "--hours" : "--duration", length);
    return length;
  }

  private static String text(SoakResult result) {
    return String.format(
        Locale.ROOT,
        "%,d operations in %d s, %s; %s%n"
            + "disk at most %s, L0 at most %s, at most %s, writers waited %d ms, at most %d ms at a"
            + " time%n"
            + "waiting for merges: at most %s, at the end %s%n"
            + "after closing: heap %s, files open %s%n"
            + "resident then: %s%s%n",
        result.operations(),
        result.seconds(),
        Numbers.count(result.openings(), "opening"),
        result.wrong() == null ? "nothing wrong" : "WRONG: " + result.wrong(),
        ByteSize.format(result.largestDiskBytes()),
        Numbers.count(result.mostL0Groups(), "group"),
        Numbers.count(result.mostTiers(), "tier"),
        result.stallMillis(),
        result.longestStallMillis(),
        ByteSize.format(result.mostMergeDebtBytes()),
        ByteSize.format(result.lastMergeDebtBytes()),
        result.heapAfterCloseBytes().stream().map(ByteSize::format).toList(),
        result.filesAfterClose(),
        result.residentAfterCloseBytes().stream().map(ByteSize::format).toList(),
        result.residentBytesPerHour() == 0
            ? ""
            : (result.residentBytesPerHour() < 0 ? ", -" : ", +")
                + ByteSize.format(Math.abs(result.residentBytesPerHour()))
                + " an hour");
  }
}
