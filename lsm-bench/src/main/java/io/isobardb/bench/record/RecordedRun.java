package io.isobardb.bench.record;

import io.isobardb.cli.console.ByteSize;
import io.isobardb.cli.console.Exit;
import io.isobardb.cli.console.FailedException;
import io.isobardb.cli.console.Numbers;
import io.isobardb.cli.console.UsageException;
import io.isobardb.lsm.store.RecordingLayout;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What a recording's file has: {@code Store.startRecording} made it. Immutable once it is read.
 *
 * <p>Thread rule: any thread.
 */
public final class RecordedRun {
  /** What an operation takes on the heap. */
  private static final int OPERATION_BYTES = 1 + 4 + 8 + 4 + 4 + 8;

  /**
   * What was there when the recording began.
   *
   * @param oneKeyIn one key of this many was recorded
   * @param beginMillis when, since the Unix epoch
   * @param memoryBytes the budget
   * @param writeMemoryBytes the part of it for writes
   * @param debtBytes what waited for merges; negative if it is not known
   * @param trees how many there were
   * @param entries of all trees, each version counted as one
   * @param diskBytes of all trees
   */
  public record Begin(
      int oneKeyIn,
      long beginMillis,
      long pageSize,
      long memoryBytes,
      long writeMemoryBytes,
      long debtBytes,
      int trees,
      long entries,
      long diskBytes) {}

  /**
   * What the whole store did while it was recorded.
   *
   * @param hits pages that queries found in the cache
   * @param misses pages that they had to read
   * @param debtBytes what waited for merges at the end; negative if it is not known
   */
  public record Totals(
      long nanos,
      long gets,
      long writes,
      long scans,
      long flushedBytes,
      long mergedBytes,
      long hits,
      long misses,
      long debtBytes) {
    /** All operations. */
    public long operations() {
      return gets + writes + scans;
    }

    /** Bytes that flushes and merges wrote for an operation; NaN without one. */
    public double bytesPerOperation() {
      return operations() == 0 ? Double.NaN : (flushedBytes + mergedBytes) / (double) operations();
    }

    /** The part of the pages that queries asked for, and the cache had; NaN if there was none. */
    public double hitRate() {
      return hits + misses == 0 ? Double.NaN : hits / (double) (hits + misses);
    }
  }

  private final Begin begin;
  private @Nullable Totals totals;
  private int count;
  private byte[] kinds = new byte[1024];
  private int[] trees = new int[1024];
  private long[] hashes = new long[1024];
  private int[] keyBytes = new int[1024];
  private int[] sizes = new int[1024];
  private long[] nanos = new long[1024];

  private RecordedRun(Begin begin) {
    this.begin = begin;
  }

  /** Whether a file begins as a recording does. */
  public static boolean isRecording(Path file) throws IOException {
    if (!Files.isRegularFile(file)) {
      return false;
    }
    try (InputStream in = Files.newInputStream(file)) {
      byte[] magic = in.readNBytes(RecordingLayout.MAGIC_BYTES);
      return magic.length == RecordingLayout.MAGIC_BYTES
          && Frame.number(magic, 0, magic.length) == RecordingLayout.MAGIC;
    }
  }

  /**
   * Reads a file.
   *
   * @param option that has it, for messages
   * @throws UsageException if it is no recording, or of a newer version, or too large for the heap
   * @throws FailedException if it is damaged, with the place
   */
  public static RecordedRun read(String option, Path file) throws IOException {
    if (!isRecording(file)) {
      throw new UsageException(
          option + ": " + file + (Files.exists(file) ? " is no recording" : " is not there"));
    }
    // An operation takes 13 bytes there, or more.
    double heap = Files.size(file) / 13.0 * OPERATION_BYTES;
    if (heap > Runtime.getRuntime().maxMemory() / 2.0) {
      throw new UsageException(option + ": " + file + " is too large for the heap: raise -Xmx");
    }
    try (InputStream in = new BufferedInputStream(Files.newInputStream(file), 1 << 20)) {
      in.skipNBytes(RecordingLayout.MAGIC_BYTES);
      return read(option, file, in);
    }
  }

  private static RecordedRun read(String option, Path file, InputStream in) throws IOException {
    Frame frame = new Frame(file, in);
    if (!frame.next() || frame.kind() != RecordingLayout.HEADER) {
      throw damaged(file, RecordingLayout.MAGIC_BYTES, "it has no header");
    }
    long version = frame.varint();
    if (version < 1 || version > RecordingLayout.VERSION) {
      throw new UsageException(
          option + ": " + file + " has version " + version + ", which this release does not know");
    }
    RecordedRun run = new RecordedRun(begin(frame, version));
    while (run.totals == null && frame.next()) {
      if (frame.kind() == RecordingLayout.END) {
        run.end(file, frame, version);
      } else if (frame.kind() == RecordingLayout.OPERATIONS) {
        run.add(frame);
      } else {
        throw damaged(file, frame.place(), "there is no kind of frame " + frame.kind());
      }
    }
    return run;
  }

  static FailedException damaged(Path file, long place, String what) {
    return new FailedException(
        Exit.FINDING, file + " is damaged at byte " + place + ": " + what + "; record anew");
  }

  /**
   * What a run cost, for people.
   *
   * @param bytesPerOperation that flushes and merges wrote
   * @param hitRate the part of the pages that the cache had; NaN if none was asked for
   * @param debtBytes what waited for merges at the end; below 1 if nothing did, or it is not known
   */
  public static String costText(double bytesPerOperation, double hitRate, long debtBytes) {
    String cached =
        Double.isNaN(hitRate)
            ? ""
            : String.format(Locale.ROOT, ", %.1f %% of pages in the cache", 100 * hitRate);
    return Numbers.significant(bytesPerOperation)
        + " bytes per operation by flushes and merges"
        + cached
        + debtText(debtBytes);
  }

  static String debtText(long debtBytes) {
    return debtBytes <= 0 ? "" : ", " + ByteSize.format(debtBytes) + " to be merged";
  }

  private static Begin begin(Frame frame, long version) {
    int oneKeyIn = (int) frame.varint();
    long millis = frame.varint();
    long pageSize = frame.varint();
    long memory = frame.varint();
    long writeMemory = frame.varint();
    long debt = debt(frame, version);
    int trees = (int) frame.varint();
    long entries = 0;
    long bytes = 0;
    for (int i = 0; i < trees; i++) {
      frame.varint();
      entries += frame.varint();
      bytes += frame.varint();
    }
    return new Begin(oneKeyIn, millis, pageSize, memory, writeMemory, debt, trees, entries, bytes);
  }

  private static long debt(Frame frame, long version) {
    return version >= 2 ? frame.varint() : -1;
  }

  private void end(Path file, Frame frame, long version) {
    long recorded = frame.varint();
    if (recorded != count) {
      throw damaged(file, frame.place(), count + " operations of " + recorded + " are there");
    }
    totals =
        new Totals(
            frame.varint(),
            frame.varint(),
            frame.varint(),
            frame.varint(),
            frame.varint(),
            frame.varint(),
            frame.varint(),
            frame.varint(),
            debt(frame, version));
  }

  private void add(Frame frame) {
    while (frame.hasMore()) {
      if (count == kinds.length) {
        int capacity = count * 2;
        kinds = Arrays.copyOf(kinds, capacity);
        trees = Arrays.copyOf(trees, capacity);
        hashes = Arrays.copyOf(hashes, capacity);
        keyBytes = Arrays.copyOf(keyBytes, capacity);
        sizes = Arrays.copyOf(sizes, capacity);
        nanos = Arrays.copyOf(nanos, capacity);
      }
      kinds[count] = (byte) frame.fixed(1);
      trees[count] = (int) frame.varint();
      nanos[count] = (count == 0 ? 0 : nanos[count - 1]) + frame.varint();
      hashes[count] = frame.fixed(Long.BYTES);
      keyBytes[count] = (int) frame.varint();
      sizes[count] = (int) Math.min(Integer.MAX_VALUE, frame.varint());
      count++;
    }
  }

  public Begin begin() {
    return begin;
  }

  /** What the store did; null if the recording was not closed, as its process was killed. */
  public @Nullable Totals totals() {
    return totals;
  }

  /** Operations that were recorded. */
  public int count() {
    return count;
  }

  /** The kind of an operation, one of {@link RecordingLayout}'s. */
  public int kind(int operation) {
    return kinds[operation];
  }

  public int tree(int operation) {
    return trees[operation];
  }

  /** The hash of its key. */
  public long hash(int operation) {
    return hashes[operation];
  }

  public int keyBytes(int operation) {
    return keyBytes[operation];
  }

  /** Its size, by its kind; see {@link RecordingLayout}. */
  public int size(int operation) {
    return sizes[operation];
  }

  /** When it was done, in nanoseconds since the begin. */
  public long nanos(int operation) {
    return nanos[operation];
  }

  /** How long it took: until the end, or until the last operation. */
  public double seconds() {
    Totals end = totals;
    return (end == null ? count == 0 ? 0 : nanos[count - 1] : end.nanos()) / 1e9;
  }
}
