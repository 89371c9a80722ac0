package io.isobardb.bench.latency;

import io.isobardb.bench.latency.LatencySpec.Machine;
import io.isobardb.bench.latency.Requests.Content;
import io.isobardb.cli.console.UsageException;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.TreeOptions;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * A load of {@code isobar latency} in virtual time, mostly made smaller, as figures: for
 * experiments and searches.
 *
 * @param load its name
 * @param rate requests per second at its peaks; 0 for the load's own
 * @param work how flushes and merges run
 * @param part by which rates, device, memory and records are multiplied; above 0
 * @param seconds how long it runs
 */
public record ScaledLoad(String load, double rate, Work work, double part, double seconds) {
  public static final String SERVED = "requests done [1/s]";
  public static final String PUT = "written by clients [MB/s]";
  public static final String WRITES = "p99 of writes [ms]";
  public static final String READS = "p99 of reads [ms]";
  public static final String WORST_WRITES = "worst second's p99 of writes [ms]";
  public static final String WORST_READS = "worst second's p99 of reads [ms]";
  public static final String SLOWEST = "p99 of the slowest kind of request [ms]";
  public static final String WRITTEN = "written by flushes and merges [B/request]";
  public static final String PAGES = "pages read and written [1/request]";
  public static final String SPACE = "most on disk [bytes per byte of the records]";
  public static final String HELD = "most memory held [B]";

  private static final double MEGABYTE = 1 << 20;
  private static final long DEVICE_BYTES = 200L << 20;
  private static final long BURST_WRITE_BYTES = 100L << 20;
  private static final int CLIENTS = 8;
  private static final int PROCESSORS = 2;
  private static final long LEAST_MEMORY = 8L << 20;
  private static final long LEAST_DEVICE = 64L << 10;
  private static final long LEAST_RECORDS = 1000;

  /**
   * How flushes and merges run.
   *
   * @param jobs in which order, and whether they cost anything
   * @param bytes what they read and write per second at most; 0 for no limit of theirs
   * @param options of the store, by name
   * @param tree options of its tree
   */
  public record Work(Jobs jobs, long bytes, Map<String, String> options, TreeOptions tree) {
    /** With the defaults of a tree. */
    public Work(Jobs jobs, long bytes, Map<String, String> options) {
      this(jobs, bytes, options, TreeOptions.defaults());
    }
  }

  /** The names of all loads. */
  public static List<String> names() {
    return Preset.ALL.stream().map(Preset::name).toList();
  }

  /** Whether requests arrive at a rate that is the load's, and not the engine's. */
  public boolean isPaced() {
    return Preset.of(load).rate() > 0;
  }

  /** Whether any of its requests writes. */
  public boolean hasWrites() {
    Mix mix = Preset.of(load).mix();
    return mix.writes() + mix.updates() > 0;
  }

  /** Heap that the load takes in virtual time: all files are there. */
  public long heapBytes() {
    return (long) spec(1).heapBytes();
  }

  /**
   * The options of its store.
   *
   * @throws UsageException if a store does not take them
   */
  public StoreOptions storeOptions() {
    LatencySpec spec = spec(1);
    Stores.treeOptions(spec);
    return Stores.options(spec);
  }

  /** Runs it. {@code progress} is told how far it is. */
  public Map<String, Double> run(long seed, Consumer<String> progress) {
    LatencySpec spec = spec(seed);
    Outcome outcome =
        VirtualRun.run(
            spec,
            load,
            work.jobs(),
            (text, done, all) -> progress.accept((int) done + " of " + (int) all + " s"));
    return figures(outcome, spec);
  }

  private LatencySpec spec(long seed) {
    Preset preset = Preset.of(load);
    boolean bursts = preset.rate() == 0;
    double peak = (rate > 0 ? rate : preset.rate()) * part;
    Content content =
        new Content(
            preset.mix(),
            Math.max(LEAST_RECORDS, (long) (preset.records() * part)),
            preset.sizes(),
            false,
            50,
            preset.batch());
    Machine machine =
        new Machine(
            bursts ? 1 : CLIENTS,
            PROCESSORS,
            Math.max(LEAST_MEMORY, (long) (preset.memoryBytes() * part)),
            bursts ? Long.MAX_VALUE : device(DEVICE_BYTES),
            bursts ? device(BURST_WRITE_BYTES) : Long.MAX_VALUE,
            Machine.SYNC_NANOS,
            work.bytes() == 0 ? Long.MAX_VALUE : device(work.bytes()));
    return new LatencySpec(
        preset.shape().of(peak, seconds, seed),
        content,
        seconds,
        machine,
        work.options(),
        work.tree(),
        null,
        null,
        seed);
  }

  private long device(long bytes) {
    return Math.max(LEAST_DEVICE, (long) (bytes * part));
  }

  /** What came of a run, by the names above. */
  static Map<String, Double> figures(Outcome outcome, LatencySpec spec) {
    Content content = spec.content();
    Map<String, Double> figures = new LinkedHashMap<>();
    figures.put(SERVED, outcome.servedRate());
    Latencies latencies = outcome.latencies();
    long writes = latencies.of(Kind.WRITE).getTotalCount();
    double record = Client.KEY_BYTES + content.valueBytes().mean();
    double bytes = writes * (double) Math.max(1, content.batch()) * record;
    figures.put(PUT, bytes / MEGABYTE / outcome.seconds());
    if (writes > 0) {
      figures.put(WRITES, LatencyReport.millis(latencies.of(Kind.WRITE), 99));
      figures.put(WORST_WRITES, LatencyReport.worstP99(outcome, Kind.WRITE));
    }
    if (latencies.of(Kind.READ).getTotalCount() > 0) {
      figures.put(READS, LatencyReport.millis(latencies.of(Kind.READ), 99));
      figures.put(WORST_READS, LatencyReport.worstP99(outcome, Kind.READ));
    }
    double slowest =
        LatencyReport.kinds(outcome).stream()
            .mapToDouble(kind -> LatencyReport.millis(latencies.of(kind), 99))
            .max()
            .orElse(0);
    figures.put(SLOWEST, slowest);
    addStored(figures, outcome, spec);
    return figures;
  }

  private static void addStored(Map<String, Double> figures, Outcome outcome, LatencySpec spec) {
    List<Sample> samples = outcome.samples();
    Sample first = samples.get(0);
    Sample last = samples.get(samples.size() - 1);
    double requests = Math.max(1, outcome.latencies().requests());
    double written = ReplayFacts.bytes(first, last);
    double pages = written / Stores.options(spec).pageSize() + last.pagesRead() - first.pagesRead();
    figures.put(WRITTEN, written / requests);
    figures.put(PAGES, pages / requests);
    double most = samples.stream().mapToLong(Sample::diskBytes).max().orElse(0);
    figures.put(SPACE, most / spec.dataBytes());
    double held = samples.stream().mapToLong(Sample::heldBytes).max().orElse(0);
    figures.put(HELD, held);
  }
}
