package io.isobardb.bench.latency;

import io.isobardb.bench.latency.Requests.Content;
import io.isobardb.bench.record.Replay;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.simulation.VirtualDevice;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A load, and where it is to run.
 *
 * @param trace how many requests arrive when
 * @param content what they do
 * @param seconds how long they arrive
 * @param machine where
 * @param options of the store, by name; they come after its memory
 * @param tree options of the tree, if the engine is Isobar
 * @param replay what is done again; null if the content says what is done
 * @param recording where what is done is recorded; null for nowhere
 * @param seed of all choices
 */
record LatencySpec(
    Trace trace,
    Content content,
    double seconds,
    Machine machine,
    Map<String, String> options,
    TreeOptions tree,
    @Nullable Replay replay,
    @Nullable RecordingFile recording,
    long seed) {
  /**
   * Where a run is recorded.
   *
   * @param oneKeyIn one key of this many is
   */
  record RecordingFile(Path path, int oneKeyIn) {}

  /**
   * Where a load runs.
   *
   * @param clients that serve requests beside each other
   * @param processors in virtual time: how many actors compute at once
   * @param memoryBytes the engine's budget
   * @param deviceBytes read and written per second together; {@link Long#MAX_VALUE} for no limit
   * @param deviceWriteBytes written per second
   * @param syncNanos what a sync takes, besides writing what is not written yet
   * @param jobBytes what flushes and merges read and write per second, on the real clock those of
   *     RocksDB; {@link Long#MAX_VALUE} for no limit of theirs
   */
  record Machine(
      int clients,
      int processors,
      long memoryBytes,
      long deviceBytes,
      long deviceWriteBytes,
      long syncNanos,
      long jobBytes) {
    /** The usual cost of a sync. */
    static final long SYNC_NANOS = 500_000;

    private static final long OPERATIONS = 100_000;

    boolean isDeviceLimited() {
      return deviceBytes < Long.MAX_VALUE || deviceWriteBytes < Long.MAX_VALUE;
    }

    /** What RocksDB's own limiter has, which stands in for the device. */
    long limiterBytes() {
      return Math.min(jobBytes, Math.min(deviceBytes, deviceWriteBytes));
    }

    VirtualDevice.Limits limits() {
      return new VirtualDevice.Limits(
          deviceBytes,
          Math.min(deviceBytes, deviceWriteBytes),
          deviceBytes,
          isDeviceLimited() ? OPERATIONS : Long.MAX_VALUE,
          isDeviceLimited() ? syncNanos : 0);
    }
  }

  long nanos() {
    return (long) (seconds * 1e9);
  }

  /** The same content with other arrivals. */
  LatencySpec with(Trace other) {
    return new LatencySpec(
        other, content, seconds, machine, options, tree, replay, recording, seed);
  }

  /** The requests that arrive within some time. */
  Arrivals arrivals(long endNanos) {
    return replay == null ? new Arrivals(trace, endNanos) : new Arrivals(replay, endNanos);
  }

  /** One that serves them. */
  Server server(Client.Timer timer, Target target, long ofSeed) {
    return replay == null
        ? new Client(timer, target, new Requests(content, ofSeed))
        : new ReplayClient(timer, target.session(), replay);
  }

  /** Records that are there at first. */
  long records() {
    return replay == null ? content.records() : replay.records();
  }

  /** In virtual time all files are on the heap: old and new ones while they are merged. */
  double heapBytes() {
    return 2.5 * dataBytes() + 1.5 * machine.memoryBytes() + (64 << 20);
  }

  /** Bytes of all records, about. */
  double dataBytes() {
    return replay == null
        ? content.records() * (Client.KEY_BYTES + content.valueBytes().mean())
        : replay.dataBytes();
  }
}
