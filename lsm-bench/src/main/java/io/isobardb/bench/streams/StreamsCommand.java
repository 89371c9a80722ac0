package io.isobardb.bench.streams;

import com.fasterxml.jackson.jr.ob.JSON;
import io.isobardb.bench.process.ChildJvm;
import io.isobardb.bench.process.Events;
import io.isobardb.bench.process.WorkDirectory;
import io.isobardb.cli.console.ByteSize;
import io.isobardb.cli.console.Exit;
import io.isobardb.cli.console.FailedException;
import io.isobardb.cli.console.JsonOption;
import io.isobardb.cli.console.Numbers;
import io.isobardb.cli.console.Progress;
import io.isobardb.cli.console.Progress.Watcher;
import io.isobardb.cli.console.TimeSpan;
import io.isobardb.cli.console.UsageException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code streams}: state stores of Kafka Streams, without a broker. */
@Command(
    name = "streams",
    description = "Drives state stores of Kafka Streams as its tasks do, without a broker.",
    footer = {
      "",
      "Profiles:",
      "  many       a thousand state stores in little memory, skewed calls of all kinds",
      "  cached     state that fits memory: gets, puts, both, ranges, windows",
      "  restore    records of a changelog, 1,000 a call",
      "  lifecycle  state stores are made, opened, closed and dropped",
      "  expire     segments of a window store expire",
      "",
      "Engines: isobar; rocksdb, Kafka's own as Kafka configures it; rocksdb-limited, the same with"
          + " one cache and one write buffer manager for all, as Kafka's documentation describes."
          + " Each runs in a process of its own, once per repeat, in turns. Of four state stores one"
          + " is a window store. Of --memory, rocksdb-limited gives half to writes.",
      "",
      "Kafka's RocksDB keeps no log: a killed process loses what was not flushed, and Kafka restores"
          + " that from the changelog. Isobar loses nothing then."
    })
public final class StreamsCommand implements Callable<Integer> {
  private static final int LEAST_MEMORY = 16 << 20;
  private static final int LEAST_HEAP = 64 << 20;

  /** By default Isobar's budget is a quarter of it. */
  private static final long DIRECT_BYTES = 4L << 30;

  /** Where the launcher says what Kafka's class path is: a file. */
  private static final String KAFKA = "isobar.kafka.classpath";

  @Spec private CommandSpec command;

  @Option(
      names = "--profile",
      paramLabel = "NAME",
      description = "What is done (default: ${DEFAULT-VALUE}).",
      defaultValue = "cached")
  private String profile = "";

  @Option(
      names = "--steps",
      split = ",",
      paramLabel = "NAME",
      description =
          "Steps of 'many' and 'cached', of get, put, get-put, range, window (a fetch and a put),"
              + " windows (a fetch of ten), skewed (default: skewed for 'many', the others for"
              + " 'cached').")
  private @Nullable List<String> steps;

  @Option(
      names = "--engine",
      split = ",",
      paramLabel = "NAME",
      description =
          "Engines, of isobar, rocksdb, rocksdb-limited; ratios are to the last (default:"
              + " ${DEFAULT-VALUE}).",
      defaultValue = "isobar,rocksdb")
  private List<String> engines = List.of();

  @Option(
      names = "--stores",
      paramLabel = "N",
      description = "State stores of all tasks together (default: what the profile has).")
  private @Nullable Integer stores;

  @Option(
      names = "--partitions",
      paramLabel = "N",
      description = "Tasks that have them (default: ${DEFAULT-VALUE}).")
  private int partitions = 10;

  @Option(
      names = "--threads",
      paramLabel = "N",
      description = "Threads that the tasks are shared by (default: ${DEFAULT-VALUE}).")
  private int threads = 2;

  @Option(
      names = "--memory",
      paramLabel = "SIZE",
      description =
          "Isobar's budget, and the cache of rocksdb-limited (default: 256 MB for the profile"
              + " 'many' and for rocksdb-limited, else Isobar's default of 1 GB).")
  private @Nullable ByteSize memory;

  @Option(
      names = "--memory-of",
      paramLabel = "NAME=SIZE",
      description =
          "Memory of one engine instead, so that engines can be compared that take as much resident"
              + " memory; may be given for several.")
  private Map<String, ByteSize> memoryOf = new LinkedHashMap<>();

  @Option(
      names = "--heap",
      paramLabel = "SIZE",
      description = "Heap of each process, resident from the start (default: ${DEFAULT-VALUE}).",
      defaultValue = "512MB")
  private ByteSize heap = new ByteSize(0);

  @Option(
      names = "--records",
      paramLabel = "N",
      description = "Records of all state stores together (default: what the profile has).")
  private @Nullable Long records;

  @Option(
      names = "--value-size",
      paramLabel = "SIZE",
      description = "Value length (default: ${DEFAULT-VALUE}).",
      defaultValue = "100")
  private ByteSize valueSize = new ByteSize(0);

  @Option(
      names = "--duration",
      paramLabel = "TIME",
      description = "Of each step of 'many' and 'cached' (default: ${DEFAULT-VALUE}).",
      defaultValue = "5s")
  private TimeSpan duration = new TimeSpan(0);

  @Option(
      names = "--commit-every",
      paramLabel = "TIME",
      description = "How often a thread commits its tasks (default: ${DEFAULT-VALUE}).",
      defaultValue = "5s")
  private TimeSpan commitEvery = new TimeSpan(0);

  @Option(
      names = "--repeats",
      paramLabel = "N",
      description = "Runs per engine (default: ${DEFAULT-VALUE}).")
  private int repeats = 1;

  @Option(
      names = "--seed",
      paramLabel = "N",
      description = "Seed of all choices (default: ${DEFAULT-VALUE}).")
  private long seed = 42;

  @Option(
      names = "--dir",
      paramLabel = "DIR",
      description =
          "Where to put the state (default: a temporary directory); removed after each run.")
  private @Nullable Path dir;

  @Option(
      names = "--property",
      paramLabel = "NAME=VALUE",
      description =
          "A property of the application, such as isobar.ioMode=BUFFERED: RocksDB reads through the"
              + " system's page cache.")
  private Map<String, String> properties = new LinkedHashMap<>();

  @Option(
      names = "--flag",
      paramLabel = "FLAG",
      description = "A flag of each process's JVM, such as one for Flight Recorder.")
  private List<String> flags = new ArrayList<>();

  @Mixin private JsonOption json = new JsonOption();

  @Override
  public Integer call() throws IOException, InterruptedException {
    Profile what = Profile.of(profile);
    List<StreamsEngine> kinds = engines.stream().map(StreamsEngine::of).toList();
    checkValues(what);
    UsageException.checkDistinct("--engine", kinds.stream().map(StreamsEngine::label).toList());
    checkMemoryOf(kinds);
    mixes(what);
    StreamsReport report = new StreamsReport(kinds);
    Map<StreamsEngine, Long> budgets = new LinkedHashMap<>();
    kinds.forEach(engine -> budgets.put(engine, memoryBytes(engine, what)));
    try (WorkDirectory root = WorkDirectory.of(dir, "isobar-streams-");
        Progress progress = Progress.onStandardError()) {
      progress.stage("starting");
      int runs = 0;
      for (int repeat = 0; repeat < repeats; repeat++) {
        // The order changes, so that no engine always finds the machine as the same other one left
        // it.
        List<StreamsEngine> turn = new ArrayList<>(kinds);
        Collections.rotate(turn, -repeat);
        for (StreamsEngine engine : turn) {
          int run = runs++;
          try (WorkDirectory data = WorkDirectory.temporary(root.path(), engine.label() + "-")) {
            run(
                spec(what, engine, budgets.get(engine), data.path(), repeat),
                report,
                (text, done, all) ->
                    progress.update(
                        engine.label() + ": " + text, run + done / all, kinds.size() * repeats));
          }
        }
      }
    }
    PrintWriter out = command.commandLine().getOut();
    out.print(
        json.isGiven()
            ? JSON.std.asString(report.toList()) + "\n"
            : report.text(heap.bytes(), budgets));
    out.flush();
    return 0;
  }

  private void checkValues(Profile what) {
    if (stores != null) {
      Numbers.check("--stores", stores, 1, 100_000);
    }
    Numbers.check("--partitions", partitions, 1, 10_000);
    Numbers.check("--threads", threads, 1, 1024);
    if (memory != null) {
      Numbers.checkAtLeast("--memory", memory, LEAST_MEMORY);
    }
    memoryOf.forEach(
        (name, size) -> {
          StreamsEngine.of(name);
          Numbers.checkAtLeast("--memory-of " + name, size, LEAST_MEMORY);
        });
    Numbers.checkAtLeast("--heap", heap, LEAST_HEAP);
    if (records != null) {
      Numbers.check("--records", records, what.leastRecords, Integer.MAX_VALUE);
    }
    int clients = Math.min(threads, partitions);
    boolean calls = what == Profile.MANY || what == Profile.CACHED;
    if (calls && stores != null && stores != 1 && stores < 2 * clients) {
      throw new UsageException(
          "--stores must be 1, or 2 for each of the "
              + Numbers.count(clients, "thread")
              + " that has tasks");
    }
    Numbers.check("--value-size", valueSize.bytes(), 0, 1 << 20);
    Numbers.checkAboveZero("--duration", duration);
    Numbers.checkAboveZero("--commit-every", commitEvery);
    Numbers.checkAtLeast("--repeats", repeats, 1);
  }

  private void checkMemoryOf(List<StreamsEngine> kinds) {
    for (String name : memoryOf.keySet()) {
      StreamsEngine kind = StreamsEngine.of(name);
      if (!kinds.contains(kind)) {
        throw new UsageException("--memory-of: " + kind.label() + " is not among --engine");
      }
      if (kind == StreamsEngine.ROCKSDB) {
        throw new UsageException(
            "--memory-of: rocksdb has no limit, as Kafka configures it; rocksdb-limited has one");
      }
    }
  }

  private List<Mix> mixes(Profile what) {
    if (steps != null && what != Profile.MANY && what != Profile.CACHED) {
      throw new UsageException("--steps is for the profiles many and cached");
    }
    if (steps != null) {
      return steps.stream().map(Mix::of).toList();
    }
    return what == Profile.MANY
        ? List.of(Mix.SKEWED)
        : Arrays.stream(Mix.values()).filter(mix -> !mix.skewed).toList();
  }

  /** 0 for what is there by default. */
  private long memoryBytes(StreamsEngine engine, Profile what) {
    if (engine == StreamsEngine.ROCKSDB) {
      return 0;
    }
    ByteSize given =
        memoryOf.entrySet().stream()
            .filter(of -> StreamsEngine.of(of.getKey()) == engine)
            .map(Map.Entry::getValue)
            .findFirst()
            .orElse(memory);
    if (given != null) {
      return given.bytes();
    }
    return what == Profile.MANY || engine == StreamsEngine.ROCKSDB_LIMITED ? 256 << 20 : 0;
  }

  private StreamsSpec spec(
      Profile what, StreamsEngine engine, long memoryBytes, Path data, int repeat) {
    return new StreamsSpec(
        engine,
        what,
        mixes(what),
        properties,
        data,
        stores == null ? what.stores : stores,
        partitions,
        threads,
        memoryBytes,
        heap.bytes(),
        records == null ? what.records : records,
        Math.toIntExact(valueSize.bytes()),
        duration.millis() / 1e3,
        commitEvery.millis() / 1e3,
        seed + repeat);
  }

  private void run(StreamsSpec spec, StreamsReport report, Watcher progress)
      throws IOException, InterruptedException {
    ChildJvm child =
        new ChildJvm(StreamsChild.class)
            .classPathFirst(kafka())
            .heapBytes(spec.heapBytes())
            .flag("-XX:+AlwaysPreTouch")
            // Kafka's logger has nowhere to log to.
            .flag("-Dslf4j.internal.verbosity=ERROR")
            .directBytes(DIRECT_BYTES)
            .argument(Events.text(spec));
    flags.forEach(child::flag);
    child.runToEnd(
        spec.engine().label(),
        event -> {
          if (event.get("event").equals("step")) {
            report.add(spec.engine(), StepResult.fromMap(event));
          } else {
            Events.progress(event, progress);
          }
        });
  }

  private static String kafka() throws IOException {
    String file = System.getProperty(KAFKA);
    if (file == null) {
      throw new FailedException(
          Exit.FAILURE,
          "Kafka's libraries are known to ./isobar of a clone alone: start it by that");
    }
    return Files.readString(Path.of(file)).strip();
  }
}
