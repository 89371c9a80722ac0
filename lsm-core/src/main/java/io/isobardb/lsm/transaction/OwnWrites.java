package io.isobardb.lsm.transaction;

import io.isobardb.lsm.entry.LeafCursor;
import io.isobardb.lsm.entry.RangeDelete;
import io.isobardb.lsm.entry.RangeDeletes;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.read.Overlay;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * What a transaction is going to write to one tree: of each key the last write.
 *
 * <p>Thread rule: one thread at a time, save that cursors may be used by other threads: what they
 * see of a change made meanwhile is not defined, but they do no harm.
 */
public final class OwnWrites implements Overlay {
  /**
   * A put or a delete.
   *
   * @param value null for a delete
   */
  public record Write(byte @Nullable [] value) {
    static final Write DELETE = new Write(null);
  }

  /** Among what is written at once all is as old. */
  private static final long ANY_LSN = 1;

  /** Changes, and looks of cursors, hold its monitor. */
  private final NavigableMap<byte[], Write> writes;

  private long changes;

  /** Ranges whose keys were deleted, before all that is in {@link #writes} now. */
  private volatile RangeDeletes ranges;

  public OwnWrites(KeyOrder order) {
    ranges = RangeDeletes.none(order);
    writes = new TreeMap<>((a, b) -> order.compare(a, 0, a.length, b, 0, b.length));
  }

  /**
   * Puts, or deletes if the value is null.
   *
   * @param key not changed afterwards, nor is {@code value}
   * @return what was to be written before
   */
  public @Nullable Write put(byte[] key, byte @Nullable [] value) {
    changes++;
    synchronized (writes) {
      return writes.put(key, value == null ? Write.DELETE : new Write(value));
    }
  }

  /** What to restore after {@link #deleteRange}. */
  record Before(RangeDeletes ranges, NavigableMap<byte[], Write> writes) {}

  /** Deletes all keys of a range, those written before, too. */
  Before deleteRange(byte @Nullable [] from, byte @Nullable [] to) {
    changes++;
    synchronized (writes) {
      NavigableMap<byte[], Write> within = writes;
      if (from != null) {
        within = within.tailMap(from, true);
      }
      if (to != null) {
        within = within.headMap(to, false);
      }
      Before before = new Before(ranges, new TreeMap<>(within));
      within.clear();
      ranges = ranges.with(new RangeDelete(from, to, ANY_LSN));
      return before;
    }
  }

  /** Takes a {@link #deleteRange} back. */
  void restore(Before before) {
    changes++;
    synchronized (writes) {
      writes.putAll(before.writes());
      ranges = before.ranges();
    }
  }

  /** The ranges whose keys are deleted before all else is written. */
  List<RangeDelete> ranges() {
    return ranges.list();
  }

  @Override
  public boolean hides(byte[] key, int length) {
    RangeDeletes deleted = ranges;
    return !deleted.isEmpty() && deleted.covering(key, length, ANY_LSN) != 0;
  }

  /** Takes a write back. */
  public void restore(byte[] key, @Nullable Write before) {
    changes++;
    synchronized (writes) {
      if (before == null) {
        writes.remove(key);
      } else {
        writes.put(key, before);
      }
    }
  }

  /** The write of a key, or null if there is none. */
  public @Nullable Write get(byte[] key) {
    Write write = writes.get(key);
    return write == null && hides(key, key.length) ? Write.DELETE : write;
  }

  /** Hands out all keys with their values, null for a delete, in the order of the keys. */
  public void forEach(BiConsumer<byte[], byte @Nullable []> action) {
    writes.forEach((key, write) -> action.accept(key, write.value()));
  }

  public boolean isEmpty() {
    return writes.isEmpty() && ranges.isEmpty();
  }

  @Override
  public LeafCursor cursor(long lsn) {
    return new OwnCursor(writes, lsn);
  }

  @Override
  public long changes() {
    return changes;
  }
}
