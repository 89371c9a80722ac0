package io.isobardb.bench.search;

import io.isobardb.bench.experiment.SimulatedLoad;
import io.isobardb.bench.latency.Jobs;
import io.isobardb.bench.latency.RecordedLoad;
import io.isobardb.bench.latency.ScaledLoad;
import io.isobardb.bench.process.ChildJvm;
import io.isobardb.bench.process.Events;
import io.isobardb.bench.ycsb.YcsbLoad;
import io.isobardb.cli.console.UsageException;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.setting.Suggestion;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The workloads that a search can run, by their names. */
final class Loads {
  static final String FIGURES = "figures";

  private static final String SIMULATED = "simulated-";
  private static final String NO_WRITES = "it writes nothing";

  private Loads() {}

  /**
   * How a workload is run.
   *
   * @param name of the workload
   * @param part by which its usual sizes are multiplied
   * @param seconds how long requests of loads in virtual time arrive
   * @param fixed options by name, the same in all runs
   * @param dir where stores on files are made; null for a temporary directory
   */
  record Settings(
      String name, double part, double seconds, Map<String, String> fixed, @Nullable Path dir) {}

  /**
   * The workload of a name.
   *
   * @throws UsageException if there is none, with the nearest one
   */
  static Load of(Settings settings) throws IOException {
    if (isRecorded(settings.name())) {
      return new Recorded(settings);
    }
    String name = settings.name();
    if (YcsbLoad.names().contains(name)) {
      return new Ycsb(settings);
    }
    if (ScaledLoad.names().contains(name)) {
      return new Virtual(settings);
    }
    if (name.startsWith(SIMULATED)
        && SimulatedLoad.names().contains(name.substring(SIMULATED.length()))) {
      return new Simulated(settings);
    }
    List<String> names = names();
    throw new UsageException("there is no workload '" + name + "'" + Suggestion.among(name, names));
  }

  private static List<String> names() {
    List<String> names = new ArrayList<>(YcsbLoad.names());
    names.addAll(ScaledLoad.names());
    SimulatedLoad.names().forEach(each -> names.add(SIMULATED + each));
    return names;
  }

  /** Whether a workload is a file, and no name. */
  static boolean isRecorded(String name) {
    return !names().contains(name.toLowerCase(Locale.ROOT)) && Files.isRegularFile(Path.of(name));
  }

  /** What all have in common. */
  private abstract static class Named implements Load {
    final Settings settings;

    Named(Settings settings) {
      this.settings = settings;
    }

    abstract StoreOptions storeOptions(Map<String, String> options);

    /** What each metric is called among the figures of a run. */
    abstract Map<Metric, String> names();

    /** Why it has no figure of some of these. */
    Map<Metric, String> lacks() {
      return Map.of();
    }

    @Override
    public final Set<Metric> metrics() {
      Set<Metric> has = EnumSet.copyOf(names().keySet());
      has.removeAll(lacks().keySet());
      return has;
    }

    @Override
    public final String lack(Metric metric) {
      return Objects.requireNonNull(lacks().get(metric));
    }

    /** These and the fixed ones. */
    final Map<String, String> all(Map<String, String> options) {
      Map<String, String> all = new TreeMap<>(settings.fixed());
      all.putAll(options);
      return all;
    }

    final Map<String, String> ofStore(Map<String, String> options) {
      return TreeKnobs.without(all(options));
    }

    final TreeOptions ofTree(Map<String, String> options) {
      return TreeKnobs.of(all(options));
    }

    @Override
    public String description() {
      String text = settings.name() + ", " + settings.part() + " of its size";
      if (hasLength()) {
        text += ", " + settings.seconds() + " s";
      }
      return settings.fixed().isEmpty() ? text : text + ", " + new TreeMap<>(settings.fixed());
    }

    /** What requests in virtual time lack. */
    static Map<Metric, String> lacksOf(boolean isPaced, boolean hasWrites) {
      Map<Metric, String> lacks = new EnumMap<>(Metric.class);
      if (isPaced) {
        lacks.put(Metric.THROUGHPUT, "its requests arrive at a rate of their own");
      }
      if (!hasWrites) {
        lacks.put(Metric.WRITTEN, NO_WRITES);
      }
      return lacks;
    }

    /** Whether {@link Settings#seconds} says how long it is. */
    boolean hasLength() {
      return false;
    }

    @Override
    public void check(Map<String, String> options) {
      storeOptions(options);
    }

    @Override
    public String defaultOf(String option) {
      String value = TreeKnobs.value(option, ofTree(Map.of()));
      return value == null ? storeOptions(Map.of()).get(option) : value;
    }

    final Map<Metric, Double> metrics(Map<String, Double> figures) {
      Map<Metric, Double> metrics = new EnumMap<>(Metric.class);
      for (Metric metric : metrics()) {
        Double figure = figures.get(names().get(metric));
        if (figure != null) {
          metrics.put(metric, figure);
        }
      }
      return metrics;
    }
  }

  /** On files, in processes of their own. */
  private static final class Ycsb extends Named {
    private static final Map<Metric, String> NAMES =
        Map.of(
            Metric.THROUGHPUT, YcsbLoad.SERVED,
            Metric.COST, YcsbLoad.PROCESSOR,
            Metric.WRITTEN, YcsbLoad.WRITTEN,
            Metric.P99, YcsbLoad.SLOWEST,
            Metric.SPACE, YcsbLoad.SPACE,
            Metric.MEMORY, YcsbLoad.HELD);

    Ycsb(Settings settings) {
      super(settings);
    }

    private YcsbLoad load(Map<String, String> options) {
      return new YcsbLoad(
          settings.name(), settings.part(), ofStore(options), ofTree(options), settings.dir());
    }

    @Override
    StoreOptions storeOptions(Map<String, String> options) {
      return load(options).storeOptions();
    }

    @Override
    Map<Metric, String> names() {
      return NAMES;
    }

    @Override
    Map<Metric, String> lacks() {
      return settings.name().equals("c") ? Map.of(Metric.WRITTEN, NO_WRITES) : Map.of();
    }

    @Override
    public String costs() {
      return "microseconds of processor time";
    }

    @Override
    public Map<Metric, Double> run(Map<String, String> options, long seed) throws Exception {
      return metrics(load(options).run());
    }
  }

  /** In a process of its own that keeps its files on the heap. */
  private abstract static class InMemory extends Named {
    private final String kind;

    InMemory(Settings settings, String kind) {
      super(settings);
      this.kind = kind;
    }

    abstract long heapBytes(Map<String, String> options);

    @Override
    public final String costs() {
      return "pages read and written";
    }

    @Override
    public final Map<Metric, Double> run(Map<String, String> options, long seed) throws Exception {
      TuneSpec spec =
          new TuneSpec(
              kind,
              settings.name().replaceFirst("^" + SIMULATED, ""),
              settings.part(),
              settings.seconds(),
              all(options),
              seed);
      Map<String, Double> figures = new HashMap<>();
      new ChildJvm(TuneChild.class)
          .flag("-Xmx" + (heapBytes(options) >> 10) + "k")
          .directBytes(storeOptions(options).memoryBudget() + (64L << 20))
          .argument(Events.text(spec))
          .runToEnd(
              settings.name(),
              event -> {
                if (event.get(FIGURES) instanceof Map<?, ?> told) {
                  figures.putAll(Events.numbers(told));
                }
              });
      return metrics(figures);
    }
  }

  /** A load of {@code isobar latency} in virtual time. */
  private static final class Virtual extends InMemory {
    private static final Map<Metric, String> NAMES =
        Map.of(
            Metric.THROUGHPUT, ScaledLoad.SERVED,
            Metric.COST, ScaledLoad.PAGES,
            Metric.WRITTEN, ScaledLoad.WRITTEN,
            Metric.P99, ScaledLoad.SLOWEST,
            Metric.SPACE, ScaledLoad.SPACE,
            Metric.MEMORY, ScaledLoad.HELD);

    Virtual(Settings settings) {
      super(settings, TuneSpec.VIRTUAL);
    }

    @Override
    boolean hasLength() {
      return true;
    }

    private ScaledLoad load(Map<String, String> options) {
      ScaledLoad.Work work =
          new ScaledLoad.Work(Jobs.ORDERED, 0, ofStore(options), ofTree(options));
      return new ScaledLoad(settings.name(), 0, work, settings.part(), settings.seconds());
    }

    @Override
    StoreOptions storeOptions(Map<String, String> options) {
      return load(options).storeOptions();
    }

    @Override
    long heapBytes(Map<String, String> options) {
      return load(options).heapBytes() + storeOptions(options).logLimit();
    }

    @Override
    Map<Metric, String> names() {
      return NAMES;
    }

    @Override
    Map<Metric, String> lacks() {
      return lacksOf(load(Map.of()).isPaced(), load(Map.of()).hasWrites());
    }
  }

  /** A recording, in virtual time. */
  private static final class Recorded extends InMemory {
    private final RecordedLoad load;

    Recorded(Settings settings) throws IOException {
      super(settings, TuneSpec.RECORDED);
      Path file = Path.of(settings.name());
      this.load = RecordedLoad.read("--workload", file, settings.part(), settings.seconds());
    }

    @Override
    boolean hasLength() {
      return settings.seconds() < Double.MAX_VALUE;
    }

    @Override
    StoreOptions storeOptions(Map<String, String> options) {
      return load.storeOptions(ofStore(options), ofTree(options));
    }

    @Override
    long heapBytes(Map<String, String> options) {
      return load.heapBytes(ofStore(options), ofTree(options)) + storeOptions(options).logLimit();
    }

    @Override
    Map<Metric, String> names() {
      return Virtual.NAMES;
    }

    @Override
    Map<Metric, String> lacks() {
      return lacksOf(true, load.hasWrites());
    }
  }

  /** A simulated store: no time, the same bytes on any machine. */
  private static final class Simulated extends InMemory {
    private static final Map<Metric, String> NAMES =
        Map.of(
            Metric.COST, SimulatedLoad.PAGES,
            Metric.WRITTEN, SimulatedLoad.WRITTEN,
            Metric.SPACE, SimulatedLoad.SPACE,
            Metric.MEMORY, SimulatedLoad.HELD);

    Simulated(Settings settings) {
      super(settings, TuneSpec.SIMULATED);
    }

    private SimulatedLoad load(Map<String, String> options) {
      return new SimulatedLoad(
          settings.name().substring(SIMULATED.length()),
          settings.part(),
          ofStore(options),
          ofTree(options));
    }

    @Override
    StoreOptions storeOptions(Map<String, String> options) {
      return load(options).storeOptions();
    }

    @Override
    long heapBytes(Map<String, String> options) {
      return load(options).heapBytes();
    }

    @Override
    Map<Metric, String> names() {
      return NAMES;
    }

    @Override
    Map<Metric, String> lacks() {
      String none = "simulated stores have no time";
      return Map.of(Metric.THROUGHPUT, none, Metric.P99, none);
    }
  }
}
