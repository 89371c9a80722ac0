package io.isobardb.bench.compare;

import io.isobardb.bench.drive.Workload;
import io.isobardb.bench.drive.Workload.Keys;
import io.isobardb.cli.console.UsageException;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** What a comparison can do; the load comes first. */
public enum Phase {
  /** Inserts every record once, in random key order. */
  LOAD("load", Workload.mixed(100, Keys.UNIFORM)),
  /** Reads records, each as likely. */
  READ("read, uniform", Workload.mixed(0, Keys.UNIFORM)),
  /**
   * Reads records, their popularity after Zipf with exponent 0.99, scattered over the key space.
   */
  ZIPF("read, Zipf", Workload.mixed(0, Keys.ZIPF)),
  /** Overwrites records, each as likely. */
  UPDATE("update", Workload.mixed(100, Keys.UNIFORM)),
  /** Half reads, half overwrites. */
  MIXED("half and half", Workload.mixed(50, Keys.UNIFORM)),
  /** Seeks a random record and visits a hundred entries. */
  SCAN("scan of 100", Workload.mixed(0, Keys.UNIFORM).scanning(100)),
  /** The same right after updates, half of them Zipf's, before anything is settled. */
  SCAN_UNSETTLED("scan of 100, unsettled", Workload.mixed(0, Keys.UNIFORM).scanning(100)),
  /** Seeks a random record and visits ten thousand entries. */
  SCAN_LONG("scan of 10,000", Workload.mixed(0, Keys.UNIFORM).scanning(10_000)),
  /** Scans what begins like a key that is not there: nothing. */
  SCAN_ABSENT("empty scan", Workload.mixed(0, Keys.ABSENT).byPrefix()),
  /** Asks for a hundred records at once. */
  MULTIGET("multiGet of 100", Workload.mixed(0, Keys.UNIFORM).inBatches(100)),
  /** Reads records in a thousand virtual threads, whatever number of threads is asked for. */
  GET_VIRTUAL("read, 1,000 virtual threads", Workload.mixed(0, Keys.UNIFORM)),
  /** Reads keys that are not there. */
  ABSENT("absent keys", Workload.mixed(0, Keys.ABSENT));

  /** The threads of {@link #GET_VIRTUAL}. */
  static final int VIRTUAL_THREADS = 1000;

  private final String words;
  private final Workload workload;

  Phase(String words, Workload workload) {
    this.words = words;
    this.workload = workload;
  }

  /** What is done; a load does it to each record once. */
  Workload workload() {
    return workload;
  }

  /**
   * Whether the phase leaves background work behind, which is then waited for and charged to it.
   */
  boolean writes() {
    return workload.writePercent() > 0;
  }

  /** How many operations the phase has when {@code operations} are asked for. */
  long operations(long records, long operations) {
    return switch (this) {
      case LOAD -> records;
      // Dearer, and so fewer.
      case SCAN, SCAN_UNSETTLED -> Math.max(1, operations / 20);
      case SCAN_LONG -> Math.max(1, operations / 2000);
      case MULTIGET -> Math.max(1, operations / 50);
      default -> operations;
    };
  }

  /** The name on the command line. */
  String label() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** The phase of that name; the error lists the names there are. */
  static Phase of(String label) {
    for (Phase phase : values()) {
      if (phase.label().equalsIgnoreCase(label.strip())) {
        return phase;
      }
    }
    throw new UsageException(
        "'"
            + label
            + "' is none of "
            + Arrays.stream(values()).map(Phase::label).collect(Collectors.joining(", ")));
  }

  /** The name in documents. */
  String words() {
    return words;
  }
}
