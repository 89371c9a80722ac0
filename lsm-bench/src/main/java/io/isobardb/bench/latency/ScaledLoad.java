package io.isobardb.bench.latency;

import io.isobardb.bench.latency.LatencySpec.Machine;
import io.isobardb.bench.latency.Requests.Content;
import io.isobardb.lsm.option.Runs;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;

/**
 * A load of {@code isobar latency} in virtual time, made smaller, as figures: for experiments.
 *
 * @param load its name
 * @param rate requests per second at its peaks; 0 for the load's own
 * @param work how flushes and merges run
 * @param part by which rates, device, memory and records are multiplied; above 0, at most 1
 * @param seconds how long it runs
 */
public record ScaledLoad(String load, double rate, Work work, double part, double seconds) {
  public static final String SERVED = "requests done [1/s]";
  public static final String PUT = "written by clients [MB/s]";
  public static final String WRITES = "p99 of writes [ms]";
  public static final String READS = "p99 of reads [ms]";
  public static final String WORST_WRITES = "worst second's p99 of writes [ms]";
  public static final String WORST_READS = "worst second's p99 of reads [ms]";

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
   */
  public record Work(Jobs jobs, long bytes, Map<String, String> options) {}

  /** Runs it. {@code progress} is told how far it is. */
  public Map<String, Double> run(long seed, Consumer<String> progress) {
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
    LatencySpec spec =
        new LatencySpec(
            preset.shape().of(peak, seconds, seed),
            content,
            seconds,
            machine,
            work.options(),
            Runs.leveled(),
            seed);
    Outcome outcome =
        VirtualRun.run(
            spec,
            load,
            work.jobs(),
            (text, done, all) -> progress.accept((int) done + " of " + (int) all + " s"));
    return figures(outcome, content);
  }

  private long device(long bytes) {
    return Math.max(LEAST_DEVICE, (long) (bytes * part));
  }

  private static Map<String, Double> figures(Outcome outcome, Content content) {
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
    return figures;
  }
}
