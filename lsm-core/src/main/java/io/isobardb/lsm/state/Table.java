package io.isobardb.lsm.state;

import static java.util.Objects.requireNonNull;

import io.isobardb.lsm.component.ActiveTree;
import io.isobardb.lsm.component.MergedIndex;
import io.isobardb.lsm.component.Sealed;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.sstable.SSTable;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.memory.pool.Backoff;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A sorted piece of a tree: an SSTable in memory or on disk, an active SSTable that was sealed, or
 * several of those below one index, of which only the keys within {@link #range} count. What lies
 * outside has moved elsewhere.
 *
 * <p>Immutable. Several tables may share their content; {@link TreeStates} frees it with the last
 * state that reaches it.
 */
public final class Table {
  private final @Nullable Sealed sealed;
  private final @Nullable SSTable sstable;
  private final StartLsn start;
  private final Range range;

  /** For an SSTable in memory: nothing that went into it had a lower LSN. */
  private final long inputLsn;

  /** A boundary that is known a moment after it is published. */
  public static final class StartLsn {
    private volatile long lsn;

    /** Not known yet. */
    public StartLsn() {
      this.lsn = -1;
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

  private static final StartLsn NO_START = new StartLsn(0);

  private Table(
      @Nullable Sealed sealed,
      @Nullable SSTable sstable,
      StartLsn start,
      Range range,
      long inputLsn) {
    this.sealed = sealed;
    this.sstable = sstable;
    this.start = start;
    this.range = range;
    this.inputLsn = inputLsn;
  }

  /** All of an active SSTable, which takes the writes from {@code start} on. */
  public static Table of(ActiveTree tree, StartLsn start) {
    return new Table(tree, null, start, Range.ALL, 0);
  }

  /** All that lies below an index. */
  public static Table of(MergedIndex index) {
    return new Table(index, null, NO_START, Range.ALL, 0);
  }

  /** All of an SSTable. */
  public static Table of(SSTable sstable) {
    return merged(sstable, sstable.meta().minLsn());
  }

  /**
   * All of an SSTable in memory that was merged from tables with entries from {@code inputLsn} on.
   */
  public static Table merged(SSTable sstable, long inputLsn) {
    Range all = new Range(null, sstable.meta().maxKey());
    return new Table(null, sstable, NO_START, all, inputLsn);
  }

  /** From which LSN on writes went into this active SSTable. */
  public long startLsn() {
    return start.get();
  }

  /** The active SSTable, or null if this is none: all else gets no writes. */
  public @Nullable ActiveTree tree() {
    return sealed instanceof ActiveTree tree ? tree : null;
  }

  /** The active SSTable or the merged index, or null if this is an SSTable. */
  public @Nullable Sealed sealed() {
    return sealed;
  }

  /** The SSTable, or null if this is an active SSTable or a merged index. */
  public @Nullable SSTable sstable() {
    return sstable;
  }

  public Range range() {
    return range;
  }

  /** Whether the content may hold keys beyond the range. */
  public boolean isBoundedAbove() {
    byte[] high = range.high();
    return high != null && (sstable == null || high != sstable.meta().maxKey());
  }

  /** What the content is known by: equal for tables that share it. */
  public Object content() {
    return sealed != null ? sealed : requireNonNull(sstable);
  }

  /**
   * From which LSN on a crash now would need the log, for what is here: the lowest of any entry, or
   * lower. What a merge left out counts until that which made it needless is durable, since a crash
   * might take just that.
   *
   * @param durable the end of what the log has synced
   */
  public long minLsn(long durable) {
    if (sealed != null) {
      return sealed.minLsn();
    }
    SSTableMeta meta = requireNonNull(sstable).meta();
    return durable > meta.maxLsn() ? meta.minLsn() : Math.min(inputLsn, meta.minLsn());
  }

  /** Bytes of the whole content, in pages. */
  public long sizeBytes() {
    return sealed != null ? sealed.bytesUsed() : requireNonNull(sstable).meta().sizeBytes();
  }

  /** What is left of this table without the keys of {@code taken}: nothing, one piece or two. */
  public List<Table> without(KeyOrder order, Range taken) {
    List<Table> left = new ArrayList<>(2);
    if (taken.low() != null) {
      add(left, order, new Range(null, taken.low()));
    }
    if (taken.high() != null) {
      add(left, order, new Range(taken.high(), null));
    }
    return left;
  }

  private void add(List<Table> left, KeyOrder order, Range side) {
    Range kept = range.intersect(order, side);
    if (kept == null) {
      return;
    }
    if (sstable == null) {
      left.add(new Table(sealed, null, start, kept, 0));
      return;
    }
    byte[] min = sstable.meta().minKey();
    if (!kept.notBeyond(order, min, 0, min.length)) {
      return;
    }
    // A bound below the first key says nothing, and would seem to overlap the table before.
    boolean bounded = !kept.above(order, min, 0, min.length);
    Range rest = bounded ? kept : new Range(null, kept.high());
    left.add(new Table(null, sstable, start, rest, inputLsn));
  }

  @Override
  public String toString() {
    return content() instanceof SSTable ? content() + " " + range : "sealed " + range;
  }
}
