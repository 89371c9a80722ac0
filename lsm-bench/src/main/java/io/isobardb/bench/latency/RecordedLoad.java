package io.isobardb.bench.latency;

import io.isobardb.bench.latency.LatencySpec.Machine;
import io.isobardb.bench.latency.Requests.Content;
import io.isobardb.bench.latency.Requests.Sizes;
import io.isobardb.bench.record.RecordedRun;
import io.isobardb.bench.record.Replay;
import io.isobardb.cli.console.UsageException;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.store.RecordingLayout;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * A recording as a load in virtual time, as figures: for searches. Memory and device are as much
 * smaller than those of the recorded store as its sample of the keys is. Immutable.
 */
public final class RecordedLoad {
  private static final long DEVICE_BYTES = 200L << 20;
  private static final long LEAST_DEVICE = 64L << 10;
  private static final long LEAST_MEMORY = 4L << 20;
  private static final int CLIENTS = 8;
  private static final int PROCESSORS = 2;
  private static final int LEAST_VALUE_BYTES = 1;

  private final String name;
  private final Replay replay;
  private final double seconds;

  private RecordedLoad(String name, Replay replay, double seconds) {
    this.name = name;
    this.replay = replay;
    this.seconds = seconds;
  }

  /**
   * Reads a recording.
   *
   * @param option that has the file, for messages
   * @param part of its keys that are taken, above 0 and at most 1
   * @param seconds of it that are taken
   * @throws UsageException if it is none, or nothing of it is taken
   */
  public static RecordedLoad read(String option, Path file, double part, double seconds)
      throws IOException {
    Replay replay = Replay.of(RecordedRun.read(option, file), part);
    // All that is in the file is done, its last operation included.
    double length = replay.nanos(replay.count() - 1) / 1e9 + 1e-6;
    return new RecordedLoad(
        file.getFileName().toString(), replay, Math.min(seconds, Math.max(length, 1e-3)));
  }

  /** Whether any of its requests writes. */
  public boolean hasWrites() {
    for (int i = 0; i < replay.count(); i++) {
      if (kind(i) == Kind.WRITE) {
        return true;
      }
    }
    return false;
  }

  /** Heap that it takes: all files are there. */
  public long heapBytes(Map<String, String> options, TreeOptions tree) {
    long recording = 64L * replay.run().count();
    return (long) spec(options, tree, 1).heapBytes() + recording;
  }

  /**
   * The options of its store.
   *
   * @throws UsageException if a store does not take them
   */
  public StoreOptions storeOptions(Map<String, String> options, TreeOptions tree) {
    LatencySpec spec = spec(options, tree, 1);
    Stores.treeOptions(spec);
    return Stores.options(spec);
  }

  /** Runs it. {@code progress} is told how far it is. */
  public Map<String, Double> run(
      Map<String, String> options, TreeOptions tree, long seed, Consumer<String> progress) {
    LatencySpec spec = spec(options, tree, seed);
    Outcome outcome =
        VirtualRun.run(
            spec,
            name,
            Jobs.ORDERED,
            (text, done, all) -> progress.accept((int) done + " of " + (int) all + " s"));
    return ScaledLoad.figures(outcome, spec);
  }

  private LatencySpec spec(Map<String, String> options, TreeOptions tree, long seed) {
    return new LatencySpec(
        Trace.steady(1),
        content(),
        seconds,
        machine(PROCESSORS, CLIENTS),
        options,
        tree,
        replay,
        null,
        seed);
  }

  /** What is done again. */
  Replay replay() {
    return replay;
  }

  double seconds() {
    return seconds;
  }

  /** Where it runs, if nothing else is said. */
  Machine machine(int processors, int clients) {
    return new Machine(
        clients,
        processors,
        Math.max(LEAST_MEMORY, (long) (replay.run().begin().memoryBytes() * replay.part())),
        Math.max(LEAST_DEVICE, (long) (DEVICE_BYTES * replay.part())),
        Long.MAX_VALUE,
        Machine.SYNC_NANOS,
        Long.MAX_VALUE);
  }

  private Kind kind(int operation) {
    return switch (replay.kind(operation)) {
      case RecordingLayout.GET -> Kind.READ;
      case RecordingLayout.SCAN -> Kind.SCAN;
      default -> Kind.WRITE;
    };
  }

  /** About what it does, for reports. */
  Content content() {
    int[] counts = new int[Kind.values().length];
    long scanned = 0;
    for (int i = 0; i < replay.count(); i++) {
      Kind kind = kind(i);
      counts[kind.ordinal()]++;
      scanned += kind == Kind.SCAN ? replay.size(i) : 0;
    }
    int reads = percent(counts[Kind.READ.ordinal()]);
    int scans = percent(counts[Kind.SCAN.ordinal()]);
    Mix mix = new Mix(Math.max(0, 100 - reads - scans), reads, Math.min(scans, 100 - reads), 0);
    int entries = (int) (scanned / Math.max(1, counts[Kind.SCAN.ordinal()]));
    return new Content(mix, Math.max(1, replay.records()), sizes(), false, entries, 0);
  }

  private int percent(long count) {
    return (int) Math.round(100.0 * count / replay.count());
  }

  private Sizes sizes() {
    int[] sizes = new int[replay.count()];
    int count = 0;
    for (int i = 0; i < sizes.length; i++) {
      if (kind(i) == Kind.WRITE) {
        sizes[count++] = replay.size(i);
      }
    }
    if (count == 0) {
      return Sizes.of(Math.max(LEAST_VALUE_BYTES, (int) replay.meanValue()));
    }
    Arrays.sort(sizes, 0, count);
    return new Sizes(
        Math.max(LEAST_VALUE_BYTES, sizes[0]),
        Math.max(LEAST_VALUE_BYTES, sizes[count / 2]),
        Math.max(LEAST_VALUE_BYTES, sizes[count - 1]));
  }

  /** Options of {@code isobar latency} that a recording says itself. */
  static final List<String> OWN =
      List.of("--rate", "--mix", "--value-size", "--batch", "--records", "--keys", "--scan");
}
