package io.isobardb.bench.model;

import io.isobardb.bench.analytic.ColaModel;
import io.isobardb.bench.analytic.LevelDbModel;
import io.isobardb.bench.analytic.ReadModel;
import io.isobardb.bench.analytic.SamtModel;
import io.isobardb.bench.analytic.UniversalModel;
import io.isobardb.bench.analytic.WorstCaseModel;
import io.isobardb.bench.model.EngineEstimate.Load;
import io.isobardb.bench.simulate.KeyStream;
import io.isobardb.bench.simulate.KeyStream.Batches;
import io.isobardb.bench.simulate.LevelDbSimulator;
import io.isobardb.bench.simulate.LevelDbSimulator.Selection;
import io.isobardb.bench.simulate.StagedSimulator;
import io.isobardb.bench.simulate.StoreShape;
import io.isobardb.cli.console.ByteSize;
import io.isobardb.cli.console.Count;
import io.isobardb.cli.console.JsonOption;
import io.isobardb.cli.console.Numbers;
import io.isobardb.cli.console.Progress;
import io.isobardb.cli.console.UsageException;
import io.isobardb.popularity.KeyGroups;
import io.isobardb.popularity.TabulatedPopularity;
import io.isobardb.tuner.model.EngineShape;
import io.isobardb.tuner.model.LevelBounds;
import io.isobardb.tuner.model.LevelSizeOptimiser;
import io.isobardb.tuner.model.Popularity;
import io.isobardb.tuner.model.WriteCost;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code model}: what a write costs in a log-structured design, estimated or simulated. */
@Command(
    name = "model",
    description = "Estimates the bytes written per byte put in a log-structured design.",
    footer = {
      "",
      "The models are those of Lim, Andersen and Kaminsky, FAST 2016; docs/models.md has their"
          + " equations and errors. --design isobar is a model of this store's own design."
    })
public final class ModelCommand implements Callable<Integer> {
  /** More keys would take hours, and gigabytes. */
  private static final double MOST_SIMULATED = 2e8;

  /** With fewer, LevelDB has hardly any levels. */
  private static final double LEAST_OF_FIGURES = 1e5;

  private static final double TABLE_BYTES = 2 << 20;
  private static final int LEVEL0_TABLES = 4;
  private static final double ROUNDS = 10;

  private final Progress progress = Progress.onStandardError();

  @Spec private CommandSpec spec;

  @Parameters(
      arity = "0..1",
      paramLabel = "DIR",
      description = {
        "A store's directory: what its levels hold, and what the model of its design says of its",
        "trees. The store must be closed. Keys and sizes are its own; of the options below it",
        "takes --skew, --write-memory, --log-limit, --memory-used, --memory-weight and --json."
      })
  private @Nullable Path directory;

  @Option(
      names = "--design",
      paramLabel = "DESIGN",
      description = "isobar, leveldb, universal, cola or samt. Default: ${DEFAULT-VALUE}.")
  private Design design = Design.LEVELDB;

  @Option(
      names = "--keys",
      paramLabel = "N",
      description = "How many different keys are written, 2 to 1e12. Default: ${DEFAULT-VALUE}.")
  private Count keys = new Count(10_000_000);

  @Option(
      names = "--item",
      paramLabel = "SIZE",
      description = "Bytes of a key and its value. Default: ${DEFAULT-VALUE}.")
  private ByteSize item = new ByteSize(1000);

  @Option(
      names = "--skew",
      paramLabel = "S",
      description = "Exponent of Zipf's law; 0 is uniform, 0.99 is YCSB's. Default: 0.99.")
  private double skew = 0.99;

  @Option(
      names = "--keys-from",
      paramLabel = "FILE",
      description = {
        "Keys in the order in which they were written, one a line, instead of --keys and --skew.",
        "It is read twice. The first half of it only shows which keys there are."
      })
  private @Nullable Path keysFrom;

  @Option(
      names = "--write-memory",
      paramLabel = "SIZE",
      description = {
        "Size of a memtable, measured as log; isobar: the write memory, at least 1MB.",
        "Default: ${DEFAULT-VALUE}."
      })
  private ByteSize writeMemory = new ByteSize(4 << 20);

  @Option(
      names = "--levels",
      split = ",",
      paramLabel = "SIZE",
      description =
          "leveldb: sizes of all levels but the last, which holds all keys. Default: 10 MB times"
              + " powers of ten.")
  private @Nullable List<ByteSize> levels;

  @Option(names = "--optimise", description = "leveldb: also find the level sizes that cost least.")
  private boolean optimise;

  @Option(
      names = "--max-levels",
      paramLabel = "N",
      description =
          "leveldb: the most levels with --optimise, 1 to 16. Default: as many as there are.")
  private @Nullable Integer maxLevels;

  @Option(
      names = "--max-space",
      paramLabel = "X",
      description =
          "leveldb: bytes in all levels per byte in the last, with --optimise. Default: any."
              + " --runs, --advise: bytes in tiers and levels per byte of distinct keys. Default:"
              + " 1.25.")
  private double maxSpace = Double.POSITIVE_INFINITY;

  @Option(
      names = "--max-reads",
      paramLabel = "X",
      description =
          "leveldb: the most pages that a read takes on average, without filters and cache, with"
              + " --optimise. Default: any.")
  private double maxReads = Double.POSITIVE_INFINITY;

  @Option(
      names = "--growth",
      paramLabel = "R",
      description = "cola, samt: merges that a stage takes. Default: ${DEFAULT-VALUE}.")
  private int growth = 4;

  @Option(
      names = "--tables",
      paramLabel = "N",
      description = "universal: tables at which merging begins. Default: ${DEFAULT-VALUE}.")
  private int tables = 12;

  @Mixin private EngineEstimate engine = new EngineEstimate();

  @Mixin private RunsEstimate runs = new RunsEstimate();

  @Option(
      names = "--simulate",
      description = {
        "Also simulate all keys once and ten times as many writes, entry by entry:",
        "seconds for a million keys, minutes for a hundred million."
      })
  private boolean simulate;

  @Option(
      names = "--largest-first",
      description = "leveldb: simulate that the largest table of a level is merged, not the next.")
  private boolean largestFirst;

  @Option(
      names = "--distinct",
      split = ",",
      paramLabel = "N",
      description = "Also tell how many different keys so many writes have.")
  private List<Count> distinct = List.of();

  @Option(
      names = "--seed",
      paramLabel = "N",
      description = "Of the simulation. Default: ${DEFAULT-VALUE}.")
  private long seed = 1;

  @Option(
      names = "--figures",
      description = {
        "The figures of the paper instead: a table for a document, by the models and, with",
        "--simulate, by simulation. Takes --keys, 1e5 or more, --item and --seed."
      })
  private boolean figures;

  @Mixin private JsonOption json = new JsonOption();

  @Override
  public Integer call() throws IOException {
    Numbers.checkAtLeast("--item", item, 1);
    Numbers.checkAtLeast("--growth", growth, 2);
    Numbers.checkAtLeast("--tables", tables, 2);
    if (maxLevels != null) {
      Numbers.check("--max-levels", maxLevels, 1, 16);
    }
    if (writeMemory.bytes() < item.bytes()) {
      throw new UsageException("--write-memory must hold one --item or more");
    }
    if (!(maxReads > 0)) {
      throw new UsageException("--max-reads must be above 0, not " + maxReads);
    }
    if (design != Design.LEVELDB && (levels != null || optimise)) {
      throw new UsageException("--levels and --optimise are for --design leveldb");
    }
    if (runs.asked() == null) {
      checkNotGiven("--runs or --advise", RunsEstimate.OF_BOTH);
    }
    if (!"--advise".equals(runs.asked())) {
      checkNotGiven("--advise", RunsEstimate.OF_ADVISE);
    }
    if (largestFirst && !(simulate && design == Design.LEVELDB)) {
      throw new UsageException("--largest-first is for --design leveldb with --simulate");
    }
    Path store = directory;
    if (store != null) {
      return printed(ofStore(store));
    }
    Path file = keysFrom;
    if (file != null) {
      checkAlone("--keys-from", "--keys", "--skew", "--simulate", "--trees");
    }
    String asked = runs.asked();
    if (asked != null) {
      checkRuns(asked);
    }
    if (simulate && keys.value() > MOST_SIMULATED) {
      throw new UsageException(
          "--simulate takes at most " + new Count(MOST_SIMULATED) + " keys, not " + keys);
    }
    if (figures) {
      return printed(UsageException.ofArguments(this::paperFigures));
    }
    RecordedKeys recorded = file == null ? null : RecordedKeys.read(file);
    // All that it works with are arguments.
    if (asked != null) {
      RunsReport beside = UsageException.ofArguments(() -> runsReport(recorded));
      return printed(json.isGiven() ? beside.json() : beside.text());
    }
    ModelReport report = UsageException.ofArguments(() -> report(recorded));
    return printed(json.isGiven() ? report.json() : report.text());
  }

  private void checkRuns(String asked) {
    checkAlone(asked, "--levels", "--optimise", "--max-levels", "--max-reads", "--largest-first");
    if (design != Design.ISOBAR && isGiven("--design")) {
      throw new UsageException(asked + " is for --design isobar");
    }
    checkAlone(asked, "--growth", "--tables", "--simulate", "--figures", "--distinct");
    if (!(maxSpace > 1)) {
      throw new UsageException("--max-space must be more than 1, not " + maxSpace);
    }
  }

  private RunsReport runsReport(@Nullable RecordedKeys recorded) {
    Popularity popularity = popularity(recorded, Math.floor(keys.value() / engine.trees()));
    StoreShape store = engine.shape(item.bytes(), writeMemory.bytes());
    EngineShape shape = engine.modelled(store, engine.trees(), popularity.keys());
    return runs.report(workload(recorded), item, shape, popularity, maxSpace);
  }

  private String ofStore(Path store) throws IOException {
    checkAlone("DIR", "--design", "--keys", "--item", "--keys-from", "--trees", "--levels");
    checkAlone("DIR", "--optimise", "--simulate", "--figures", "--distinct", "--flush-whole");
    checkAlone("DIR", "--max-levels", "--max-space", "--max-reads", "--largest-first", "--seed");
    checkAlone("DIR", "--growth", "--tables", "--runs", "--advise");
    StoreEstimate estimate =
        StoreEstimate.of(
            store,
            skew,
            (entryBytes, trees, count) ->
                engine.model(engine.shape(entryBytes, writeMemory.bytes()), trees, count));
    return json.isGiven() ? estimate.json() : estimate.text();
  }

  private int printed(String text) {
    progress.close();
    spec.commandLine().getOut().print(text);
    spec.commandLine().getOut().flush();
    return 0;
  }

  private String paperFigures() {
    checkAlone("--figures", "--design", "--skew", "--keys-from", "--write-memory", "--levels");
    checkAlone("--figures", "--optimise", "--distinct", "--largest-first", "--json");
    if (keys.value() < LEAST_OF_FIGURES) {
      throw new UsageException(
          "--figures takes at least " + new Count(LEAST_OF_FIGURES) + " keys, not " + keys);
    }
    LevelDbModel standard = LevelDbModel.standard(keys.value(), item.bytes());
    PaperFigures.Streams streams = simulate ? this::stream : null;
    return new PaperFigures(standard, tableEntries(), ROUNDS, streams).markdown();
  }

  private ModelReport report(@Nullable RecordedKeys recorded) {
    Popularity popularity = popularity(recorded, keysOfTree());
    ModelReport report = new ModelReport(workload(recorded), item.bytes());
    for (Count each : distinct) {
      report.addUnique(each.value(), popularity.unique(each.value()));
    }
    switch (design) {
      case ISOBAR -> {
        StoreShape shape =
            UsageException.ofArguments(() -> engine.shape(item.bytes(), writeMemory.bytes()));
        engine.addModel(report, shape, popularity);
        if (simulate) {
          engine.addSimulation(report, shape, new Load((int) keysOfTree(), skew, seed), ROUNDS);
        }
      }
      case LEVELDB -> levelDb(report, popularity);
      case UNIVERSAL -> {
        UniversalModel model = new UniversalModel(buffer(), tables, 1, 200);
        report.add("universal", model.cost(popularity));
        simulated(report, () -> StagedSimulator.universal((int) buffer(), model, stream()));
      }
      case COLA -> {
        report.add("COLA", new ColaModel(buffer(), growth).cost(popularity));
        simulated(report, () -> StagedSimulator.cola((int) buffer(), growth, stream()));
      }
      case SAMT -> {
        report.add("SAMT", new SamtModel(buffer(), growth).cost(popularity));
        simulated(report, () -> StagedSimulator.samt((int) buffer(), growth, stream()));
      }
    }
    return report;
  }

  private Popularity popularity(@Nullable RecordedKeys recorded, double count) {
    return recorded == null
        ? TabulatedPopularity.of(KeyGroups.zipf(count, skew))
        : recorded.popularity();
  }

  /** Only this store's own design knows of more than one tree. */
  private double keysOfTree() {
    return design == Design.ISOBAR ? Math.floor(keys.value() / engine.trees()) : keys.value();
  }

  private boolean isGiven(String option) {
    return spec.commandLine().getParseResult().hasMatchedOption(option);
  }

  private void checkNotGiven(String missing, String... options) {
    for (String option : options) {
      if (isGiven(option)) {
        throw new UsageException(option + " is for " + missing);
      }
    }
  }

  private void checkAlone(String chosen, String... others) {
    for (String option : others) {
      if (isGiven(option)) {
        throw new UsageException(chosen + " and " + option + " exclude each other");
      }
    }
  }

  private String workload(@Nullable RecordedKeys recorded) {
    if (recorded != null) {
      return String.format(
          Locale.ROOT,
          "%,d recorded writes, about %,.0f keys, %s each",
          recorded.writes(),
          recorded.popularity().keys(),
          ByteSize.format(item.bytes()));
    }
    return String.format(
        Locale.ROOT,
        "%s keys, %s each, %s",
        keys,
        ByteSize.format(item.bytes()),
        skew == 0 ? "uniform" : "Zipf " + skew);
  }

  private double buffer() {
    return (double) writeMemory.bytes() / item.bytes();
  }

  private KeyStream stream() {
    return stream(skew, Batches.NONE);
  }

  private KeyStream stream(double exponent, Batches batches) {
    double all = keys.value() * (1 + ROUNDS);
    String text = String.format(Locale.ROOT, "simulating %,.0f writes", all);
    progress.stage(text);
    return new KeyStream(
        (int) keys.value(), exponent, seed, batches, given -> progress.update(text, given, all));
  }

  private void simulated(ModelReport report, Supplier<StagedSimulator> made) {
    if (simulate) {
      report.add("simulated", made.get().run(ROUNDS));
    }
  }

  private void levelDb(ModelReport report, Popularity popularity) {
    double count = popularity.keys();
    LevelDbModel standard = LevelDbModel.standard(count, item.bytes());
    double[] sizes = levels == null ? standard.levelEntries() : given(levels, count);
    LevelDbModel model = new LevelDbModel(buffer(), LEVEL0_TABLES, sizes);
    report.addWithReads("LevelDB", model.cost(popularity), reads(model, popularity), sizes);
    report.add("worst case", new WorstCaseModel(model).cost(popularity));
    simulated(report, "simulated", model);
    if (optimise) {
      int most = maxLevels == null ? sizes.length : maxLevels;
      LevelBounds bounds = new LevelBounds(count, buffer(), 1, most, maxSpace);
      double[] best =
          new LevelSizeOptimiser(entries -> bounded(model.withLevels(entries), popularity), bounds)
              .optimise()
              .levelEntries();
      LevelDbModel optimised = model.withLevels(best);
      double reads = reads(optimised, popularity);
      report.addWithReads("optimised", optimised.cost(popularity), reads, best);
      simulated(report, "optimised, simulated", optimised);
    }
  }

  private static double reads(LevelDbModel model, Popularity popularity) {
    return ReadModel.ofTables(model, popularity).costAsWritten(popularity);
  }

  /** What sizes cost; without bounds where reads cost too much. */
  private double bounded(LevelDbModel model, Popularity popularity) {
    boolean reads = maxReads == Double.POSITIVE_INFINITY || reads(model, popularity) <= maxReads;
    return reads ? model.cost(popularity).total() : Double.POSITIVE_INFINITY;
  }

  private void simulated(ModelReport report, String name, LevelDbModel model) {
    if (simulate) {
      Selection selection = largestFirst ? Selection.LARGEST : Selection.ROUND_ROBIN;
      WriteCost cost = new LevelDbSimulator(model, tableEntries(), selection, stream()).run(ROUNDS);
      report.add(name, cost);
    }
  }

  private int tableEntries() {
    return (int) Math.max(1, TABLE_BYTES / item.bytes());
  }

  private double[] given(List<ByteSize> upper, double last) {
    double[] sizes = new double[upper.size() + 1];
    for (int i = 0; i < upper.size(); i++) {
      ByteSize size = upper.get(i);
      if (i > 0 && size.bytes() <= upper.get(i - 1).bytes()) {
        throw new UsageException("--levels must ascend, and " + size + " does not");
      }
      sizes[i] = (double) size.bytes() / item.bytes();
    }
    sizes[upper.size()] = last;
    return sizes;
  }
}
