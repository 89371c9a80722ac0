package io.isobardb.bench.compare;

import io.isobardb.bench.drive.Workload;
import io.isobardb.bench.drive.Workload.Keys;
import java.util.Locale;

/** What a comparison does, in this order. */
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
  /** Reads keys that are not there. */
  ABSENT("absent keys", Workload.mixed(0, Keys.ABSENT));

  /** Scans are dearer: they are this many times fewer than other operations. */
  static final int SCAN_SHARE = 20;

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
      case SCAN -> Math.max(1, operations / SCAN_SHARE);
      default -> operations;
    };
  }

  /** The name on the command line. */
  String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The name in documents. */
  String words() {
    return words;
  }
}
