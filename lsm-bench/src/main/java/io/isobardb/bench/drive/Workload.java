package io.isobardb.bench.drive;

import io.isobardb.cli.console.UsageException;

/**
 * What is done to a store: operations drawn independently. Immutable.
 *
 * @param writePercent share of writes; the others are reads
 * @param write what a write does
 * @param read what a read does
 * @param entries how many entries such a read goes over or asks for; 0 if that does not say
 * @param keys which records are chosen
 * @param hotPercent share of operations that go to the hot trees
 * @param hotTrees the first so many trees
 */
public record Workload(
    int writePercent,
    Write write,
    Read read,
    int entries,
    Keys keys,
    int hotPercent,
    int hotTrees) {
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

  /** What a read does. */
  public enum Read {
    /** Looks at a single record. */
    RECORD,
    /** Looks at a single record where it lies. */
    LOOK,
    /** Goes over entries from a record on. */
    SCAN,
    /** Asks for many records at once. */
    BATCH,
    /** Goes over all entries whose keys begin as a record's does. */
    PREFIX
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
    return new Workload(writePercent, Write.UPDATE, Read.RECORD, 0, keys, 0, 0);
  }

  /** The same with reads that go over so many entries. */
  public Workload scanning(int entries) {
    return reading(Read.SCAN, entries);
  }

  /** The same with reads that ask for so many records at once. */
  public Workload inBatches(int records) {
    return reading(Read.BATCH, records);
  }

  /** The same with reads that go over what begins as a record's key does. */
  public Workload byPrefix() {
    return reading(Read.PREFIX, 0);
  }

  /** The same with reads that look at a single record where it lies, if they looked at a copy. */
  public Workload inPlace() {
    return read == Read.RECORD ? reading(Read.LOOK, 0) : this;
  }

  private Workload reading(Read how, int count) {
    return new Workload(writePercent, write, how, count, keys, hotPercent, hotTrees);
  }

  /** The same with so many percent of the operations for the first so many trees. */
  public Workload skewed(int percent, int trees) {
    return new Workload(writePercent, write, read, entries, keys, percent, trees);
  }

  /** Whether reads go over entries in the order of keys. */
  public boolean scans() {
    return read == Read.SCAN;
  }

  /** YCSB's core workloads, A to F; a scan goes over 50 entries, the mean of YCSB's. */
  public static Workload ycsb(String name) {
    return switch (name) {
      case "A" -> mixed(50, Keys.ZIPF);
      case "B" -> mixed(5, Keys.ZIPF);
      case "C" -> mixed(0, Keys.ZIPF);
      case "D" -> new Workload(5, Write.INSERT, Read.RECORD, 0, Keys.LATEST, 0, 0);
      case "E" -> new Workload(5, Write.INSERT, Read.SCAN, 50, Keys.ZIPF, 0, 0);
      case "F" -> new Workload(50, Write.READ_MODIFY_WRITE, Read.RECORD, 0, Keys.ZIPF, 0, 0);
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
