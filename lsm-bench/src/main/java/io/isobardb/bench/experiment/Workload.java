package io.isobardb.bench.experiment;

/**
 * What is done to a store: operations drawn independently. Immutable.
 *
 * @param writePercent share of updates of records that are there
 * @param scanEntries entries that a read goes over; 0 for a look at a single record
 * @param zipf whether records are chosen by YCSB's scrambled Zipfian distribution, else uniformly
 * @param hotPercent share of operations that go to the hot trees
 * @param hotTrees the first so many trees
 * @param write what a write does
 * @param latest whether those inserted last are read most, by Zipf
 */
record Workload(
    int writePercent,
    int scanEntries,
    boolean zipf,
    int hotPercent,
    int hotTrees,
    Write write,
    boolean latest) {
  static final int SCAN = 100;

  /** What a write does. */
  enum Write {
    /** Replaces a record that is there. */
    UPDATE,
    /** Adds a record; of one tree. */
    INSERT,
    /** Reads a record and replaces it. */
    READ_MODIFY_WRITE
  }

  Workload(int writePercent, int scanEntries, boolean zipf, int hotPercent, int hotTrees) {
    this(writePercent, scanEntries, zipf, hotPercent, hotTrees, Write.UPDATE, false);
  }

  Workload {
    if (writePercent < 0 || writePercent > 100 || hotPercent < 0 || hotPercent > 100) {
      throw new IllegalArgumentException(
          "shares are not in 0..100 %: " + writePercent + ", " + hotPercent);
    }
  }

  /** Updates and lookups of one tree, or of all trees alike. */
  static Workload mixed(int writePercent, boolean zipf) {
    return new Workload(writePercent, 0, zipf, 0, 0);
  }

  /** The same with so many percent of the operations for the first so many trees. */
  Workload skewed(int percent, int trees) {
    return new Workload(writePercent, scanEntries, zipf, percent, trees, write, latest);
  }

  /** YCSB's core workloads, A to F; a scan goes over 50 entries, the mean of YCSB's. */
  static Workload ycsb(String name) {
    return switch (name) {
      case "A" -> mixed(50, true);
      case "B" -> mixed(5, true);
      case "C" -> mixed(0, true);
      case "D" -> new Workload(5, 0, true, 0, 0, Write.INSERT, true);
      case "E" -> new Workload(5, 50, true, 0, 0, Write.INSERT, false);
      case "F" -> new Workload(50, 0, true, 0, 0, Write.READ_MODIFY_WRITE, false);
      default -> throw new IllegalArgumentException("YCSB has no workload '" + name + "'");
    };
  }

  /** The four workloads of the paper's section 6.2.1, by their names. */
  static Workload named(String name) {
    return switch (name) {
      case "write-only" -> mixed(100, true);
      case "write-heavy" -> mixed(50, true);
      case "read-heavy" -> mixed(5, true);
      case "scan-heavy" -> new Workload(5, SCAN, true, 0, 0);
      default -> throw new IllegalArgumentException("no workload is called '" + name + "'");
    };
  }
}
