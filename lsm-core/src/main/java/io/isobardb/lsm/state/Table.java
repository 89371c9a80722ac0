package io.isobardb.lsm.state;

import io.isobardb.lsm.component.ActiveTree;
import io.isobardb.lsm.component.MergedIndex;
import io.isobardb.lsm.component.WrittenEntries;
import io.isobardb.lsm.entry.EntryCursor;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.sstable.SSTable;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.memory.cache.Access;
import io.isobardb.memory.pool.Backoff;
import io.isobardb.memory.stats.Purpose;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A sorted piece of a tree: what a run is made of. Only the keys of the content that lie within
 * {@link #range} count. What lies outside has moved elsewhere.
 *
 * <p>Immutable. Several tables may share their content; {@link TreeStates} frees it with the last
 * state that reaches it.
 */
public sealed interface Table permits Table.Written, Table.Stored {
  /** The keys that count. */
  Range range();

  /** What the table is a piece of. The same object for all tables that share it. */
  Object content();

  /** The same content with other keys that count. */
  Table within(Range range);

  /**
   * A crash now would lose what is here unless the log is kept from this LSN on: the lowest LSN of
   * any entry, or a lower one. An entry that a merge left out counts until the write that hides it
   * is durable, since a crash might take that write. Operands that a merge has folded count as long
   * as the result is here.
   *
   * @param durable the end of what the log has synced
   */
  long minLsn(long durable);

  /** Whether all entries have lower LSNs, for certain. */
  boolean isOlder(long lsn);

  /** Bytes of the whole content, in pages. */
  long sizeBytes();

  /**
   * A cursor over the whole content.
   *
   * @param visible all writes with LSNs up to this one have been applied
   */
  EntryCursor cursor(Access mode, long visible);

  /** Gives the content up, and its file. No new reader can find it. */
  void free();

  /** Gives up what memory holds of the content. A file stays. */
  default void close() {
    free();
  }

  /** Whether the content lies in a file. */
  default boolean hasFile() {
    return false;
  }

  /** Whether the content may hold keys beyond the range. */
  default boolean isBoundedAbove() {
    return range().high() != null;
  }

  /** What is left of this table without the keys of {@code taken}: nothing, one piece or two. */
  default List<Table> without(KeyOrder order, Range taken) {
    List<Table> left = new ArrayList<>(2);
    if (taken.low() != null) {
      addPiece(left, order, new Range(null, taken.low()));
    }
    if (taken.high() != null) {
      addPiece(left, order, new Range(taken.high(), null));
    }
    return left;
  }

  private void addPiece(List<Table> left, KeyOrder order, Range side) {
    Range kept = common(order, side);
    if (kept != null) {
      left.add(within(kept));
    }
  }

  /** The keys of {@code other} that this table may have, or null if it has none for certain. */
  default @Nullable Range common(KeyOrder order, Range other) {
    return range().intersect(order, other);
  }

  /** A boundary that is known a moment after it is published. */
  final class StartLsn {
    private volatile long lsn;

    /** Not known yet. */
    public StartLsn() {
      this(-1);
    }

    public StartLsn(long lsn) {
      this.lsn = lsn;
    }

    /** The boundary; waits the few instructions until it is set. */
    public long get() {
      long value = lsn;
      for (int tries = 0; value < 0; tries++) {
        Backoff.pause(tries);
        value = lsn;
      }
      return value;
    }

    public void set(long lsn) {
      this.lsn = lsn;
    }
  }

  /** Entries in write memory that lie where writers put them. */
  sealed interface Written extends Table permits Active, Indexed {
    @Override
    WrittenEntries content();

    @Override
    default long minLsn(long durable) {
      return content().minLsn();
    }

    @Override
    default boolean isOlder(long lsn) {
      return content().isOlder(lsn);
    }

    @Override
    default long sizeBytes() {
      return content().bytesUsed();
    }

    @Override
    default EntryCursor cursor(Access mode, long visible) {
      Purpose purpose = mode == Access.MERGE ? Purpose.MERGE : Purpose.CURSOR;
      return content().cursor(purpose, range().low(), range().high(), visible);
    }

    @Override
    default void free() {
      content().free();
    }
  }

  /**
   * An active SSTable, sealed or not.
   *
   * @param start from which LSN on writes went into it
   */
  record Active(ActiveTree content, StartLsn start, Range range) implements Written {
    public Active(ActiveTree content, StartLsn start) {
      this(content, start, Range.ALL);
    }

    public long startLsn() {
      return start.get();
    }

    @Override
    public Table within(Range other) {
      return new Active(content, start, other);
    }

    @Override
    public String toString() {
      return "active SSTable " + range;
    }
  }

  /** Several active SSTables below one index. */
  record Indexed(MergedIndex content, Range range) implements Written {
    public Indexed(MergedIndex content) {
      this(content, Range.ALL);
    }

    @Override
    public Table within(Range other) {
      return new Indexed(content, other);
    }

    @Override
    public String toString() {
      return "merged index " + range;
    }
  }

  /**
   * An SSTable, in memory or on disk.
   *
   * @param inputLsn nothing that went into an SSTable in memory had a lower LSN
   * @param folded whether entries of an SSTable in memory may stand for older ones, down to {@code
   *     inputLsn}: as long as they are in memory only, the log is needed from there
   */
  record Stored(SSTable content, long inputLsn, boolean folded, Range range) implements Table {
    /** One on disk. */
    public Stored(SSTable content) {
      this(content, content.meta().minLsn(), false);
    }

    public Stored(SSTable content, long inputLsn, boolean folded) {
      this(content, inputLsn, folded, new Range(null, content.meta().maxKey()));
    }

    @Override
    public Table within(Range other) {
      return new Stored(content, inputLsn, folded, other);
    }

    @Override
    public @Nullable Range common(KeyOrder order, Range other) {
      Range common = range.intersect(order, other);
      return common == null ? null : tighten(order, common);
    }

    @Override
    public boolean isBoundedAbove() {
      return range.high() != null && range.high() != content.meta().maxKey();
    }

    /** None of the keys that count is less. */
    public byte[] lowest() {
      byte[] low = range.low();
      return low == null ? content.meta().minKey() : low;
    }

    /** What of a range the SSTable has keys in, or null if that is nothing. */
    private @Nullable Range tighten(KeyOrder order, Range kept) {
      byte[] min = content.meta().minKey();
      if (!kept.notBeyond(order, min, 0, min.length)) {
        return null;
      }
      // A bound below the first key says nothing, and would seem to overlap the table before.
      boolean bounded = !kept.above(order, min, 0, min.length);
      return bounded ? kept : new Range(null, kept.high());
    }

    @Override
    public long minLsn(long durable) {
      SSTableMeta meta = content.meta();
      boolean settled = !folded && durable > meta.maxLsn();
      return settled ? meta.minLsn() : Math.min(inputLsn, meta.minLsn());
    }

    @Override
    public boolean isOlder(long lsn) {
      return content.meta().maxLsn() < lsn;
    }

    @Override
    public long sizeBytes() {
      return content.meta().sizeBytes();
    }

    @Override
    public EntryCursor cursor(Access mode, long visible) {
      return content.cursor(mode);
    }

    @Override
    public boolean hasFile() {
      return !content.isInMemory();
    }

    @Override
    public void free() {
      content.markObsolete();
      content.release();
    }

    @Override
    public void close() {
      content.release();
    }

    @Override
    public String toString() {
      return content + " " + range;
    }
  }
}
