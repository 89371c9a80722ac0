package io.isobardb.bench.compare;

import java.util.Locale;

/** What a comparison does, in this order. */
public enum Phase {
  /** Inserts every record once, in random key order. */
  LOAD(true),
  /** Reads records, each as likely. */
  READ(false),
  /**
   * Reads records, their popularity after Zipf with exponent 0.99, scattered over the key space.
   */
  ZIPF(false),
  /** Overwrites records, each as likely. */
  UPDATE(true),
  /** Half reads, half overwrites. */
  MIXED(true),
  /** Seeks a random record and visits {@link #SCAN_ENTRIES} entries. */
  SCAN(false),
  /** Reads keys that are not there. */
  ABSENT(false);

  /** How many entries a scan visits. */
  static final int SCAN_ENTRIES = 100;

  /** Scans are dearer: they are this many times fewer than other operations. */
  static final int SCAN_SHARE = 20;

  private final boolean writes;

  Phase(boolean writes) {
    this.writes = writes;
  }

  /**
   * Whether the phase leaves background work behind, which is then waited for and charged to it.
   */
  boolean writes() {
    return writes;
  }

  /** How many operations the phase has when {@code operations} are asked for. */
  long operations(long records, long operations) {
    return switch (this) {
      case LOAD -> records;
      case SCAN -> Math.max(1, operations / SCAN_SHARE);
      default -> operations;
    };
  }

  /** The name on the command line and in reports. */
  String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
