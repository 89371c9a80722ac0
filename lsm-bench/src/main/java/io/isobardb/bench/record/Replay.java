package io.isobardb.bench.record;

import io.isobardb.bench.drive.Dataset;
import io.isobardb.cli.console.UsageException;
import io.isobardb.lsm.store.RecordingLayout;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;

/**
 * A recording as something to be done again: the records that are there at first, and the
 * operations. Immutable.
 *
 * <p>A key is made of the hash of the one that it stands for, so their order is lost. It has that
 * one's length, but 8 bytes at least. All trees become one. Operands are put as values, and deletes
 * of ranges are left out.
 *
 * <p>What the store held before is estimated. Keys that were found by their first lookup were
 * there. Of those that were written first, as many were there as make up the entries that the trees
 * had. What is left of these are records that nobody asks for.
 */
public final class Replay {
  private static final int LEAST_KEY_BYTES = 8;
  private static final int MOST_KEY_BYTES = 500;
  private static final int MOST_VALUE_BYTES = 1 << 20;
  private static final long STRIDE = 0x9e3779b97f4a7c15L;

  /** Sizes are not known of keys that a scan began at; they have this then, if nothing was seen. */
  private static final int USUAL_VALUE_BYTES = 100;

  private static final double PARTS = 1 << 20;

  private final RecordedRun run;
  private final double part;
  private final int[] operations;
  private final long[] records;
  private final int[] recordSizes;
  private final int[] recordKeyBytes;
  private final double meanValue;

  private Replay(
      RecordedRun run,
      double part,
      int[] operations,
      long[] records,
      int[] recordSizes,
      int[] recordKeyBytes,
      double meanValue) {
    this.run = run;
    this.part = part;
    this.operations = operations;
    this.records = records;
    this.recordSizes = recordSizes;
    this.recordKeyBytes = recordKeyBytes;
    this.meanValue = meanValue;
  }

  /**
   * Makes one.
   *
   * @param part of the recorded keys, above 0 and at most 1
   * @throws UsageException if nothing is left
   */
  public static Replay of(RecordedRun run, double part) {
    if (!(part > 0 && part <= 1)) {
      throw new UsageException("a part of a recording is above 0 and at most 1, not " + part);
    }
    int[] operations = new int[run.count()];
    int count = 0;
    long values = 0;
    long valueBytes = 0;
    for (int i = 0; i < run.count(); i++) {
      boolean isTaken = (Dataset.mix(run.hash(i)) & (1 << 20) - 1) < part * PARTS;
      if (isTaken && run.kind(i) != RecordingLayout.DELETE_RANGE) {
        operations[count++] = i;
      }
      int value = valueBytes(run, i);
      if (value >= 0) {
        values++;
        valueBytes += value;
      }
    }
    if (count == 0) {
      throw new UsageException("the recording has no operation that can be done again");
    }
    double mean = values == 0 ? USUAL_VALUE_BYTES : valueBytes / (double) values;
    return new Initial(run, Arrays.copyOf(operations, count), mean).replay(part);
  }

  /** Bytes of the value that an operation tells of, or -1. */
  private static int valueBytes(RecordedRun run, int operation) {
    int size = run.size(operation);
    return switch (run.kind(operation)) {
      case RecordingLayout.PUT, RecordingLayout.MERGE -> size;
      case RecordingLayout.GET -> size - 1;
      default -> -1;
    };
  }

  /** What was there at first; one thread. */
  private static final class Initial {
    private final RecordedRun run;
    private final int[] operations;
    private final double meanValue;
    private long[] keys = new long[1024];
    private int[] sizes = new int[1024];
    private int[] lengths = new int[1024];
    private int count;
    private long keyBytes;

    Initial(RecordedRun run, int[] operations, double meanValue) {
      this.run = run;
      this.operations = operations;
      this.meanValue = meanValue;
    }

    private void add(long key, int size, int length) {
      if (count == keys.length) {
        keys = Arrays.copyOf(keys, count * 2);
        sizes = Arrays.copyOf(sizes, count * 2);
        lengths = Arrays.copyOf(lengths, count * 2);
      }
      keys[count] = key;
      sizes[count] = size;
      lengths[count] = length;
      count++;
      keyBytes += length;
    }

    Replay replay(double part) {
      int[] written = addFound();
      long wanted = Math.round(run.begin().entries() / (double) run.begin().oneKeyIn() * part);
      long old = Math.max(0, Math.min(written.length, wanted - count));
      for (int i = 0; i < old; i++) {
        // Spread over all of them: those that were written first need not be the old ones.
        int at = written[(int) (i * (long) written.length / old)];
        int size = valueBytes(run, at);
        add(key(run, at), size < 0 ? (int) meanValue : size, length(run, at));
      }
      int length = count == 0 ? LEAST_KEY_BYTES * 2 : (int) (keyBytes / count);
      for (long i = 0; count < wanted; i++) {
        add(Dataset.mix(~i * STRIDE), (int) meanValue, length);
      }
      return new Replay(
          run,
          part,
          operations,
          Arrays.copyOf(keys, count),
          Arrays.copyOf(sizes, count),
          Arrays.copyOf(lengths, count),
          meanValue);
    }

    /** Adds what was found by its first lookup; gives the first operations of what may be new. */
    private int[] addFound() {
      Set<Long> seen = new HashSet<>();
      int[] written = new int[operations.length];
      int others = 0;
      for (int at : operations) {
        if (!seen.add(key(run, at))) {
          continue;
        }
        if (run.kind(at) != RecordingLayout.GET) {
          written[others++] = at;
        } else if (run.size(at) > 0) {
          add(key(run, at), run.size(at) - 1, length(run, at));
        }
      }
      return Arrays.copyOf(written, others);
    }
  }

  private static long key(RecordedRun run, int operation) {
    return run.hash(operation) + (run.tree(operation) - 1L) * STRIDE;
  }

  private static int length(RecordedRun run, int operation) {
    return Math.max(LEAST_KEY_BYTES, Math.min(run.keyBytes(operation), MOST_KEY_BYTES));
  }

  /** Where it comes from. */
  public RecordedRun run() {
    return run;
  }

  /** What of the store's memory, rates and device it is to have. */
  public double part() {
    return part / run.begin().oneKeyIn();
  }

  /** Records that are there at first. */
  public int records() {
    return records.length;
  }

  /** Operations. */
  public int count() {
    return operations.length;
  }

  /** The key of a record; a new array. */
  public byte[] recordKey(int record) {
    return key(records[record], recordKeyBytes[record]);
  }

  /** Bytes of a record's value. */
  public int recordBytes(int record) {
    return Math.min(recordSizes[record], MOST_VALUE_BYTES);
  }

  /** The kind of an operation, one of {@link RecordingLayout}'s. */
  public int kind(int operation) {
    return run.kind(operations[operation]);
  }

  /** The key of an operation; a new array. */
  public byte[] key(int operation) {
    int at = operations[operation];
    return key(key(run, at), length(run, at));
  }

  /** A number for what an operation is about; equal for equal keys. */
  public long number(int operation) {
    return key(run, operations[operation]);
  }

  /** Bytes of the value that an operation writes, or entries that it scans. */
  public int size(int operation) {
    int size = run.size(operations[operation]);
    return kind(operation) == RecordingLayout.SCAN ? size : Math.min(size, MOST_VALUE_BYTES);
  }

  /** When it is due, in nanoseconds. */
  public long nanos(int operation) {
    return run.nanos(operations[operation]);
  }

  /** The mean of the values that were seen, in bytes. */
  public double meanValue() {
    return meanValue;
  }

  /** Bytes of all records, those that operations add included. */
  public double dataBytes() {
    double bytes = 0;
    for (int i = 0; i < records.length; i++) {
      bytes += recordKeyBytes[i] + (double) recordSizes[i];
    }
    Set<Long> known = new HashSet<>();
    for (long each : records) {
      known.add(each);
    }
    for (int at : operations) {
      boolean isPut = run.kind(at) == RecordingLayout.PUT || run.kind(at) == RecordingLayout.MERGE;
      if (isPut && known.add(key(run, at))) {
        bytes += length(run, at) + (double) run.size(at);
      }
    }
    return bytes;
  }

  private static byte[] key(long number, int length) {
    byte[] key = new byte[length];
    long bits = number;
    for (int i = 0; i < length; i++) {
      if (i > 0 && i % Long.BYTES == 0) {
        bits = Dataset.mix(bits);
      }
      key[i] = (byte) (bits >>> Long.SIZE - Byte.SIZE * (i % Long.BYTES + 1));
    }
    return key;
  }
}
