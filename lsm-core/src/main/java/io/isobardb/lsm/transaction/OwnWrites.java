package io.isobardb.lsm.transaction;

import static java.util.Objects.requireNonNull;

import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.entry.LeafCursor;
import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.expiry.Expiry;
import io.isobardb.lsm.operand.OperandChain;
import io.isobardb.lsm.operand.Operands;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.range.Coverage;
import io.isobardb.lsm.range.RangeDelete;
import io.isobardb.lsm.read.Overlay;
import io.isobardb.lsm.state.TreeHandle;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What a transaction is going to write to one tree: of each key the last write.
 *
 * <p>Thread rule: one thread at a time, save that cursors may be used by other threads: what they
 * see of a change made meanwhile is not defined, but they do no harm.
 */
public final class OwnWrites implements Overlay {
  /**
   * A put, a delete or a merge. Immutable; one that is merged with others has them put together
   * when it is read first.
   */
  public static final class Write {
    public static final Write DELETE = new Write(Kind.DELETE, new byte[0], Expiry.NEVER);

    private final int kind;
    private final long expiry;
    private final byte[] own;

    /** What it is merged with; null for nothing. */
    private final @Nullable Write before;

    /** All put together; null until somebody asks. */
    private volatile byte @Nullable [] whole;

    /**
     * A write of its own.
     *
     * @param kind {@link Kind#PUT}, {@link Kind#DELETE} or {@link Kind#MERGE}
     * @param value empty for a delete; of a merge the value of {@link Operands}
     * @param expiry when it expires; it does not do so before the transaction ends
     */
    public Write(int kind, byte[] value, long expiry) {
      this.kind = kind;
      this.own = value;
      this.expiry = expiry;
      this.before = null;
      this.whole = value;
    }

    private Write(Write before, Write operand) {
      this.kind = Kind.MERGE;
      this.own = operand.value();
      this.expiry = operand.expiry;
      this.before = before;
    }

    /** What comes of a write, null for none, when an operand is merged. */
    static Write merged(@Nullable Write before, Write operand) {
      return before == null ? operand : new Write(before, operand);
    }

    /** {@link Kind#PUT}, {@link Kind#DELETE} or {@link Kind#MERGE}. */
    public int kind() {
      return kind;
    }

    /** When it expires. */
    public long expiry() {
      return expiry;
    }

    /** Empty for a delete; of a merge the value of {@link Operands}. */
    public byte[] value() {
      byte[] all = whole;
      if (all == null) {
        all = together();
        whole = all;
      }
      return all;
    }

    private byte[] together() {
      Deque<byte[]> merges = new ArrayDeque<>();
      Write at = this;
      byte[] first = whole;
      while (first == null) {
        merges.addFirst(at.own);
        at = requireNonNull(at.before);
        first = at.whole;
      }
      Operands.Gathered gathered = new Operands.Gathered(at.kind, first, at.expiry);
      merges.forEach(gathered::add);
      return gathered.toValue();
    }

    /**
     * What the transaction reads.
     *
     * @param below reads what the tree has, which is asked for only if it counts
     * @return a new array, or null if there is no such key
     */
    public byte @Nullable [] read(TreeHandle tree, byte[] key, Supplier<byte @Nullable []> below) {
      if (kind != Kind.MERGE) {
        return Kind.isDelete(kind) ? null : value().clone();
      }
      OperandChain chain = new OperandChain();
      if (!chain.add(kind, Lsn.MAX, value(), expiry)) {
        byte[] base = below.get();
        chain.add(base == null ? Kind.DELETE : Kind.PUT, Lsn.ZERO, base, Expiry.NEVER);
      }
      return tree.fold(chain, key);
    }
  }

  /** Among what is written at once all is as old. */
  private static final long ANY_LSN = 1;

  /** Changes, and looks of cursors, hold its monitor. */
  private final NavigableMap<byte[], Write> writes;

  private long changes;

  /** Ranges whose keys were deleted, before all that is in {@link #writes} now. */
  private volatile Coverage ranges;

  public OwnWrites(KeyOrder order) {
    ranges = Coverage.none(order);
    writes = new TreeMap<>((a, b) -> order.compare(a, 0, a.length, b, 0, b.length));
  }

  /**
   * Takes a write up.
   *
   * @param key not changed afterwards, nor is what is written
   * @return what was to be written before
   */
  public @Nullable Write put(byte[] key, Write write) {
    changes++;
    synchronized (writes) {
      return writes.put(key, write);
    }
  }

  /** What to restore after {@link #deleteRange}. */
  record Before(Coverage ranges, NavigableMap<byte[], Write> writes) {}

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
  public boolean hidesKeys() {
    return !ranges.isEmpty();
  }

  @Override
  public boolean hides(byte[] key, int length) {
    return ranges.covering(key, length) != 0;
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

  /** Hands out all keys with their writes, in the order of the keys. */
  public void forEach(BiConsumer<byte[], Write> action) {
    writes.forEach(action);
  }

  public boolean isEmpty() {
    return writes.isEmpty() && ranges.isEmpty();
  }

  @Override
  public LeafCursor cursor(long lsn, long now) {
    return new OwnCursor(writes, lsn, now);
  }

  @Override
  public long changes() {
    return changes;
  }
}
