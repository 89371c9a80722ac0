package io.isobardb.bench.latency;

import io.isobardb.bench.latency.LatencySpec.Machine;
import io.isobardb.bench.latency.Requests.Content;
import io.isobardb.bench.latency.Requests.Sizes;
import io.isobardb.cli.console.Progress.Watcher;
import io.isobardb.cli.console.UsageException;
import io.isobardb.lsm.TreeOptions;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Requests for random keys as fast as clients can send them, in virtual time, as figures. Keys have
 * 16 bytes and values 100.
 *
 * @param requests what they do
 * @param place where they do it
 * @param options of the store, by name
 * @param seconds how long it runs
 */
public record FullSpeed(
    Operations requests, Place place, Map<String, String> options, double seconds) {
  private static final int VALUE_BYTES = 100;

  /** Entries that a scan reads. */
  private static final int SCAN = 50;

  /**
   * What requests do; what is neither a write nor a scan is a lookup.
   *
   * @param writes share of writes, in percent
   * @param scans share of scans of 50 entries, in percent
   * @param keys so many there are, each as likely
   * @param isLoaded whether all of them are there when it begins
   * @param batch records of a write that is synced; 0 for single puts
   */
  public record Operations(int writes, int scans, long keys, boolean isLoaded, int batch) {}

  /**
   * Where they run.
   *
   * @param clients that send requests
   * @param processors how many clients and jobs compute at once
   * @param memoryBytes the store's budget
   * @param device what its files lie on
   */
  public record Place(int clients, int processors, long memoryBytes, Device device) {}

  /**
   * A device.
   *
   * @param bytes read and written per second together; {@link Long#MAX_VALUE} for no limit
   * @param writeBytes written per second
   * @param syncMillis what a sync takes, besides writing what is not written yet
   */
  public record Device(long bytes, long writeBytes, double syncMillis) {
    /** That of the load {@code bursts}: writes have a limit, and reads none. */
    public static final Device OF_BURSTS = new Device(Long.MAX_VALUE, 100L << 20, 0.5);
  }

  /**
   * Runs it. {@code progress} is told how far it is.
   *
   * @throws UsageException if a store does not take the options
   */
  public Map<String, Double> run(long seed, Consumer<String> progress) {
    LatencySpec spec = spec(seed);
    Watcher watcher = (text, done, all) -> progress.accept((int) done + " of " + (int) all + " s");
    String name = "full speed";
    Outcome outcome =
        requests.isLoaded
            ? VirtualRun.run(spec, name, Jobs.ORDERED, watcher)
            : VirtualRun.runEmpty(spec, name, Jobs.ORDERED, watcher);
    return ScaledLoad.figures(outcome, spec);
  }

  private LatencySpec spec(long seed) {
    int lookups = 100 - requests.writes - requests.scans;
    Content content =
        new Content(
            new Mix(requests.writes, lookups, requests.scans, 0),
            requests.keys,
            Sizes.of(VALUE_BYTES),
            false,
            SCAN,
            requests.batch);
    Machine machine =
        new Machine(
            place.clients,
            place.processors,
            place.memoryBytes,
            place.device.bytes,
            place.device.writeBytes,
            Math.round(place.device.syncMillis * 1e6),
            Long.MAX_VALUE);
    return new LatencySpec(
        new Trace(List.of(Span.full(seconds))),
        content,
        seconds,
        machine,
        options,
        TreeOptions.defaults(),
        null,
        null,
        seed);
  }
}
