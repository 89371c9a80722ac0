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
import java.util.Arrays;
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
  private static final byte[] NO_VALUE = {};

  private EntryCursor source;
  private final VersionFilter filter;
  private final Function<LeafCursor, Boolean> bottommost;
  private final Supplier<SSTableWriter> writers;
  private final OutputCuts cuts;
  private final long zeroUpTo;

  private @Nullable Folder folder;
  private @Nullable SSTableWriter writer;
  private long bytesIn;
  private long newestLsn = -1;

  /** The key of the entry that is next, while the source is closed; null otherwise. */
  private byte @Nullable [] restsAt;

  private long restsAtLsn;

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

  /**
   * Has operands folded from now on.
   *
   * @param with null if the tree has none
   */
  public Rewrite folding(@Nullable Folder with) {
    folder = with;
    return this;
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
    Folder folds = folder;
    while (carried < bytes) {
      boolean more = source.valid();
      if (folds != null && folds.isPending() && !(more && filter.lastKeyIs(source.leaf()))) {
        add(folds.end(true));
      }
      if (!more) {
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
      if (folds != null) {
        fold(folds, entry);
      } else {
        boolean deletes = filter.deletes(entry);
        if (filter.keep(entry, deletes && bottommost.apply(entry))
            && (deletes || !drops.test(entry))) {
          add(entry, deletes);
        }
      }
      source.next();
    }
    return Outcome.GOING_ON;
  }

  /** Carries an entry of a tree that may hold operands. */
  private void fold(Folder with, LeafCursor entry) throws IOException {
    boolean pending = with.isPending() && filter.lastKeyIs(entry);
    // Operands that were written in time count what has expired since.
    boolean deletes =
        Kind.isDelete(entry.kind())
            || !filter.lastKeyIs(entry) && filter.deletes(entry) && with.isNewest(entry);
    boolean forgets = deletes && with.mayForget(entry.lsn());
    boolean kept = filter.keep(entry, forgets && bottommost.apply(entry));
    boolean operand = Kind.isOperand(entry.kind()) && !deletes;
    if (pending && !with.isComplete() && (!(kept && operand) || with.isHidden(entry))) {
      with.add(entry);
    }
    if (!kept) {
      return;
    }
    if (pending) {
      add(with.end(false));
    }
    if (operand) {
      with.begin(entry, bottommost.apply(entry), filter.isReadBelow(entry.lsn()));
    } else {
      add(entry, deletes);
    }
  }

  private void add(@Nullable Folded folded) throws IOException {
    if (folded == null) {
      return;
    }
    byte[] key = folded.key();
    long lsn = lsn(key, key.length, folded.lsn());
    begun().expiring(folded.expiry()).add(key, key.length, lsn, folded.kind(), folded.value());
  }

  /**
   * Adds an entry.
   *
   * @param deletes whether it is a delete marker, or stands for one: then it becomes one
   */
  private void add(LeafCursor entry, boolean deletes) throws IOException {
    long lsn = lsn(entry.key(), entry.keyLength(), entry.lsn());
    if (deletes && !Kind.isDelete(entry.kind())) {
      begun().add(entry.key(), entry.keyLength(), lsn, Kind.DELETE, NO_VALUE);
    } else {
      begun().add(entry, lsn);
    }
  }

  private SSTableWriter begun() {
    SSTableWriter out = writer;
    if (out == null) {
      out = writers.get();
      writer = out;
    }
    return out;
  }

  /** The LSN to write an entry with. */
  private long lsn(byte[] key, int keyLength, long lsn) {
    Folder folds = folder;
    return lsn <= zeroUpTo
            && (folds == null || folds.mayForget(lsn))
            && !filter.isCovered(key, keyLength)
        ? Lsn.ZERO
        : lsn;
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

  /** Closes the source until {@link #resume}, and lets the output give back what it can. */
  void rest() throws IOException {
    SSTableWriter out = writer;
    if (out != null) {
      out.rest();
    }
    if (restsAt == null && source.valid()) {
      restsAt = Arrays.copyOf(source.key(), source.keyLength());
      restsAtLsn = source.lsn();
      source.close();
    }
  }

  /** Whether it rests: there is no step before {@link #resume}. */
  boolean rests() {
    return restsAt != null;
  }

  /**
   * Goes on after a {@link #rest}. An entry that stands in two runs may come a second time, and is
   * left out as every older version that nobody needs.
   *
   * @param reopened over the same entries, standing anywhere; owned by this from now on
   */
  void resume(EntryCursor reopened) {
    byte[] key = restsAt;
    if (key == null) {
      throw new IllegalStateException("it does not rest");
    }
    restsAt = null;
    source = reopened;
    source.seek(key, 0, key.length, restsAtLsn);
  }

  /** Closes the source; an output that is begun is given up. */
  @Override
  public void close() {
    if (restsAt == null) {
      source.close();
    }
    SSTableWriter out = writer;
    if (out != null) {
      writer = null;
      out.abort();
    }
  }
}
