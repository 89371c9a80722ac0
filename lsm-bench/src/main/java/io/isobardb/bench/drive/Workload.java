package io.isobardb.bench.drive;

import io.isobardb.cli.console.UsageException;

/**
 * What is done to a store: operations drawn independently. Immutable.
 *
 * @param writePercent share of writes; the others are reads
 * @param write what a write does
 * @param scanEntries entries that a read goes over; 0 for a look at a single record
 * @param keys which records are chosen
 * @param hotPercent share of operations that go to the hot trees
 * @param hotTrees the first so many trees
 */
public record Workload(
    int writePercent, Write write, int scanEntries, Keys keys, int hotPercent, int hotTrees) {
  private static final int SCAN = 100;

  /** What a write does. */
  public enum Write {
    /** Replaces a record that is there. */
    UPDATE,
    /** Adds a record; of one tree. */
    INSERT,
    /** Reads a record and replaces it. */
    READ_MODIFY_WRITE
  }

  /** Which records are chosen. */
  public enum Keys {
    /** Each as likely. */
    UNIFORM,
    /** By YCSB's scrambled Zipfian distribution. */
    ZIPF,
    /** Those inserted last most, by Zipf. */
    LATEST,
    /** Those that were never put: a read must find nothing. */
    ABSENT
  }

  /** Checks the shares. */
  public Workload {
    if (writePercent < 0 || writePercent > 100 || hotPercent < 0 || hotPercent > 100) {
      throw new UsageException("shares are not in 0..100 %: " + writePercent + ", " + hotPercent);
    }
  }

  /** Updates and lookups of one tree, or of all trees alike. */
  public static Workload mixed(int writePercent, Keys keys) {
    return new Workload(writePercent, Write.UPDATE, 0, keys, 0, 0);
  }

  /** The same with reads that go over so many entries. */
  public Workload scanning(int entries) {
    return new Workload(writePercent, write, entries, keys, hotPercent, hotTrees);
  }

  /** The same with so many percent of the operations for the first so many trees. */
  public Workload skewed(int percent, int trees) {
    return new Workload(writePercent, write, scanEntries, keys, percent, trees);
  }

  /** YCSB's core workloads, A to F; a scan goes over 50 entries, the mean of YCSB's. */
  public static Workload ycsb(String name) {
    return switch (name) {
      case "A" -> mixed(50, Keys.ZIPF);
      case "B" -> mixed(5, Keys.ZIPF);
      case "C" -> mixed(0, Keys.ZIPF);
      case "D" -> new Workload(5, Write.INSERT, 0, Keys.LATEST, 0, 0);
      case "E" -> new Workload(5, Write.INSERT, 50, Keys.ZIPF, 0, 0);
      case "F" -> new Workload(50, Write.READ_MODIFY_WRITE, 0, Keys.ZIPF, 0, 0);
      default -> throw new UsageException("YCSB has no workload '" + name + "'");
    };
  }

  /** The four workloads of section 6.2.1 of "Breaking Down Memory Walls", by their names. */
  public static Workload named(String name) {
    return switch (name) {
      case "write-only" -> mixed(100, Keys.ZIPF);
      case "write-heavy" -> mixed(50, Keys.ZIPF);
      case "read-heavy" -> mixed(5, Keys.ZIPF);
      case "scan-heavy" -> mixed(5, Keys.ZIPF).scanning(SCAN);
      default -> throw new UsageException("no workload is called '" + name + "'");
    };
  }
}
