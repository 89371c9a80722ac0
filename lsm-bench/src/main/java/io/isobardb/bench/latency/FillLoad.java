package io.isobardb.bench.latency;

import io.isobardb.bench.latency.LatencySpec.Machine;
import io.isobardb.bench.latency.Requests.Content;
import io.isobardb.bench.latency.Requests.Sizes;
import io.isobardb.cli.console.UsageException;
import io.isobardb.lsm.TreeOptions;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Writes to random keys of an empty store as fast as one client can, in virtual time, as figures:
 * LevelDB's <i>fillrandom</i>, with keys of 16 and values of 100 bytes. The device is that of the
 * load {@code bursts}: writes have a limit, and reads none.
 *
 * @param memoryBytes the store's budget
 * @param options of the store, by name
 * @param batch records of a write that is synced; 0 for single puts
 * @param seconds how long it runs
 */
public record FillLoad(long memoryBytes, Map<String, String> options, int batch, double seconds) {
  private static final long KEYS = 1_000_000;
  private static final int VALUE_BYTES = 100;
  private static final long DEVICE_WRITE_BYTES = 100L << 20;
  private static final int PROCESSORS = 2;

  /**
   * Runs it. {@code progress} is told how far it is.
   *
   * @throws UsageException if a store does not take the options
   */
  public Map<String, Double> run(long seed, Consumer<String> progress) {
    Content content =
        new Content(new Mix(100, 0, 0, 0), KEYS, Sizes.of(VALUE_BYTES), false, 50, batch);
    Machine machine =
        new Machine(
            1,
            PROCESSORS,
            memoryBytes,
            Long.MAX_VALUE,
            DEVICE_WRITE_BYTES,
            Machine.SYNC_NANOS,
            Long.MAX_VALUE);
    LatencySpec spec =
        new LatencySpec(
            new Trace(List.of(Span.full(seconds))),
            content,
            seconds,
            machine,
            options,
            TreeOptions.defaults(),
            null,
            null,
            seed);
    Outcome outcome =
        VirtualRun.runEmpty(
            spec,
            "fill",
            Jobs.ORDERED,
            (text, done, all) -> progress.accept((int) done + " of " + (int) all + " s"));
    return ScaledLoad.figures(outcome, spec);
  }
}
