package io.isobardb.lsm.merge;

import io.isobardb.lsm.entry.EntryCursor;
import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.entry.LeafCursor;
import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.entry.MergingCursor;
import io.isobardb.lsm.entry.VersionFilter;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.sstable.SSTableWriter;
import java.io.IOException;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Carries entries from a merging cursor into SSTables, leaving out what nobody needs: the inner
 * loop of flushes, memory merges and disk merges alike.
 *
 * <p>Works in steps. Between two steps nothing is locked, and the outputs finished so far are
 * whole.
 *
 * <p>Thread rule: one thread at a time.
 */
public final class Rewrite implements AutoCloseable {
  /** What carrying an entry costs besides its bytes, as if in bytes. */
  private static final int ENTRY_OVERHEAD = 64;

  private static final Predicate<LeafCursor> NONE = entry -> false;

  private final EntryCursor source;
  private final VersionFilter filter;
  private final Function<LeafCursor, Boolean> bottommost;
  private final Supplier<SSTableWriter> writers;
  private final OutputCuts cuts;
  private final long zeroUpTo;

  private @Nullable SSTableWriter writer;
  private long bytesIn;
  private long newestLsn = -1;

  /**
   * @param source stands on the first entry; owned by this from now on
   * @param bottommost whether nothing older of the current key can lie outside of the sources
   * @param writers begins the next output
   * @param cuts where an output is finished
   * @param zeroUpTo entries with LSNs up to this one lose them, since nobody can tell; -1 for none
   */
  public Rewrite(
      MergingCursor source,
      VersionFilter filter,
      Function<LeafCursor, Boolean> bottommost,
      Supplier<SSTableWriter> writers,
      OutputCuts cuts,
      long zeroUpTo) {
    this.source = source;
    this.filter = filter;
    this.bottommost = bottommost;
    this.writers = writers;
    this.cuts = cuts;
    this.zeroUpTo = zeroUpTo;
  }

  /** What became of a step. */
  public enum Outcome {
    /** There is more to do. */
    GOING_ON,
    /** An output has reached its size; {@link #finishOutput} it before the next step. */
    OUTPUT_FULL,
    /** The source is exhausted; {@link #finishOutput} if {@link #hasOutput}. */
    EXHAUSTED
  }

  /** Carries about {@code bytes} of entries. */
  public Outcome step(int bytes) throws IOException {
    return step(bytes, NONE);
  }

  /**
   * Carries about {@code bytes} of entries.
   *
   * @param drops what is left out of what somebody may read
   */
  Outcome step(int bytes, Predicate<LeafCursor> drops) throws IOException {
    long carried = 0;
    while (carried < bytes) {
      if (!source.valid()) {
        return Outcome.EXHAUSTED;
      }
      LeafCursor entry = source.leaf();
      SSTableWriter out = writer;
      if (out == null) {
        cuts.begin(entry.key(), entry.keyLength());
      } else if (cuts.before(entry.key(), entry.keyLength(), out.sizeBytes())
          && !filter.lastKeyIs(entry)) {
        return Outcome.OUTPUT_FULL;
      }
      newestLsn = Math.max(newestLsn, entry.lsn());
      int size = entry.keyLength() + entry.valueLength();
      bytesIn += size;
      carried += ENTRY_OVERHEAD + size;
      boolean deletes = entry.kind() == Kind.DELETE;
      if (filter.keep(entry, deletes && bottommost.apply(entry)) && !drops.test(entry)) {
        add(entry);
      }
      source.next();
    }
    return Outcome.GOING_ON;
  }

  private void add(LeafCursor entry) throws IOException {
    SSTableWriter out = writer;
    if (out == null) {
      out = writers.get();
      writer = out;
    }
    boolean zero = entry.lsn() <= zeroUpTo && !filter.outlivesDelete(entry);
    out.add(entry, zero ? Lsn.ZERO : entry.lsn());
  }

  /** Whether an output is begun. */
  public boolean hasOutput() {
    return writer != null;
  }

  /** Bytes of the output that is begun, 0 if there is none. */
  long outputBytes() {
    SSTableWriter out = writer;
    return out == null ? 0 : out.sizeBytes();
  }

  /** Finishes the output that is begun. */
  public SSTableMeta finishOutput() throws IOException {
    SSTableWriter out = writer;
    if (out == null) {
      throw new IllegalStateException("no output is begun");
    }
    SSTableMeta meta = out.finish();
    writer = null;
    return meta;
  }

  /** The last key carried or left out. */
  public byte[] lastKey() {
    return filter.lastKey();
  }

  /**
   * The highest LSN of all entries carried or left out, -1 if there was none: until that is durable
   * a crash may take what made others needless.
   */
  public long newestLsn() {
    return newestLsn;
  }

  /** Bytes of the keys and values carried or left out. */
  public long bytesIn() {
    return bytesIn;
  }

  /** Closes the source; an output that is begun is given up. */
  @Override
  public void close() {
    source.close();
    SSTableWriter out = writer;
    if (out != null) {
      writer = null;
      out.abort();
    }
  }
}
