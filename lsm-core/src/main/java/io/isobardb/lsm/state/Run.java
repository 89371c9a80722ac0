package io.isobardb.lsm.state;

import io.isobardb.lsm.component.ActiveTree;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.version.Level;
import io.isobardb.memory.page.Words;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.function.LongConsumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Disjoint tables in key order: a sealed active SSTable, a level in memory, a group of L0, or a
 * level on disk.
 *
 * <p>Immutable. Finding the one table that may hold a key is a binary search over an array of the
 * tables' upper bounds, eight bytes of each behind what all have in common.
 */
public final class Run {
  private final KeyOrder order;
  private final Table[] tables;

  /** Those of the tables. */
  private final Range[] ranges;

  private final long[] heads;
  private final byte[] prefix;

  public Run(KeyOrder order, List<Table> tables) {
    this(order, tables.toArray(new Table[0]));
    for (int i = 1; i < this.tables.length; i++) {
      checkDisjoint(this.tables[i - 1], this.tables[i]);
    }
  }

  private Run(KeyOrder order, Table[] tables) {
    this.order = order;
    this.tables = tables;
    this.ranges = Arrays.stream(tables).map(Table::range).toArray(Range[]::new);
    this.prefix = order.isBytes() ? commonPrefix() : new byte[0];
    this.heads = new long[ranges.length];
    for (int i = 0; i < heads.length; i++) {
      byte[] high = ranges[i].high();
      heads[i] =
          high == null || !order.isBytes()
              ? -1L
              : Words.head(high, prefix.length, high.length - prefix.length);
    }
  }

  /** The tables of a level, which are disjoint. */
  static Run of(Level<SSTableMeta> level, Function<SSTableMeta, Table> table) {
    return new Run(level.order(), level.elements().stream().map(table).toArray(Table[]::new));
  }

  /** A run of one table. */
  public static Run of(KeyOrder order, Table table) {
    return new Run(order, List.of(table));
  }

  public int size() {
    return tables.length;
  }

  public Table get(int index) {
    return tables[index];
  }

  public List<Table> tables() {
    return Arrays.asList(tables);
  }

  /** The only table whose range may contain the key, or null. */
  public @Nullable Table find(byte[] key) {
    int at = ranges.length == 1 ? 0 : firstNotBefore(key, 0, key.length);
    return at < ranges.length && ranges[at].contains(order, key, 0, key.length) ? tables[at] : null;
  }

  /** The first table that a cursor placed at a key looks into; null if there is none. */
  public @Nullable Table firstFrom(byte[] key, int offset, int length) {
    int at = firstNotBefore(key, offset, length);
    return at < tables.length ? tables[at] : null;
  }

  /** Index of the first table whose upper bound is not before the key; {@link #size} if none. */
  public int firstNotBefore(byte[] key, int offset, int length) {
    int low = 0;
    int high = tables.length;
    if (order.isBytes() && high > 4) {
      int c = comparePrefix(key, offset, length);
      if (c != 0) {
        // Bounds without a limit count as following everything.
        return c < 0 ? 0 : ranges[high - 1].high() == null ? high - 1 : high;
      }
      long head = Words.head(key, offset + prefix.length, length - prefix.length);
      while (low < high) {
        int middle = (low + high) >>> 1;
        if (Long.compareUnsigned(heads[middle], head) < 0) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      high = tables.length;
    }
    while (low < high) {
      // Equal heads are rare: here at most a few steps, or all of them for other orders.
      int middle = order.isBytes() && tables.length > 4 ? low : (low + high) >>> 1;
      if (ranges[middle].notBeyond(order, key, offset, length)) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

  /** This run without the keys of {@code taken}, or null if nothing is left. */
  public @Nullable Run without(Range taken) {
    return without(taken, table -> true);
  }

  /** This run without the keys of {@code taken} of some tables, or null if nothing is left. */
  public @Nullable Run without(Range taken, Predicate<Table> of) {
    List<Table> left = new ArrayList<>(tables.length + 1);
    for (Table table : tables) {
      left.addAll(of.test(table) ? table.without(order, taken) : List.of(table));
    }
    return left.isEmpty() ? null : new Run(order, left);
  }

  /** Some tables of this run, or null if there are none such. */
  public @Nullable Run only(Predicate<Table> of) {
    List<Table> some = tables().stream().filter(of).toList();
    return some.isEmpty() ? null : new Run(order, some);
  }

  /** The tables that may have keys from one up to and with another. */
  public List<Table> overlapping(byte[] first, byte @Nullable [] last) {
    int from = firstNotBefore(first, 0, first.length);
    Range upTo = new Range(null, last);
    int to = from;
    while (to < tables.length && tables[to].common(order, upTo) != null) {
      to++;
    }
    return tables().subList(from, to);
  }

  /**
   * What is to be done when nobody can see {@code taken} of this run any more: sealed active
   * SSTables give back the leaves that none of their other pieces needs. A leaf may reach into what
   * was taken before, so all of the gap counts, not this range alone.
   *
   * @param freed told how many bytes of pages came free
   */
  public List<Runnable> cleanups(Range taken, LongConsumer freed) {
    Run left = without(taken);
    List<Runnable> cleanups = new ArrayList<>();
    Object last = null;
    for (Table table : tables) {
      if (left != null && table instanceof Table.Active sealed && sealed.content() != last) {
        last = sealed.content();
        Range gap = left.gapOf(last, taken);
        if (gap != null) {
          ActiveTree content = sealed.content();
          cleanups.add(() -> freed.accept(content.releaseRange(gap.low(), gap.high())));
        }
      }
    }
    return cleanups;
  }

  /** The tables of this run of which {@code left} has nothing. */
  public List<Table> goneFrom(@Nullable Run left) {
    Set<Object> kept = Collections.newSetFromMap(new IdentityHashMap<>());
    if (left != null) {
      left.tables().forEach(table -> kept.add(table.content()));
    }
    List<Table> gone = new ArrayList<>();
    for (Table table : tables) {
      if (kept.add(table.content())) {
        gone.add(table);
      }
    }
    return gone;
  }

  /** This run with a table more, of keys that it does not have. */
  public Run with(Table table) {
    byte[] high = table.range().high();
    int at = high == null ? tables.length : firstNotBefore(high, 0, high.length);
    List<Table> all = new ArrayList<>(tables());
    all.add(at, table);
    return new Run(order, all);
  }

  /** Between which pieces of a content {@code taken} lies; null if there are none left. */
  private @Nullable Range gapOf(Object content, Range taken) {
    byte[] low = null;
    boolean any = false;
    for (Table table : tables) {
      if (table.content() == content) {
        Range piece = table.range();
        if (!isBefore(piece, taken)) {
          return new Range(low, piece.low());
        }
        low = piece.high();
        any = true;
      }
    }
    return any ? new Range(low, null) : null;
  }

  private boolean isBefore(Range piece, Range other) {
    byte[] high = piece.high();
    byte[] low = other.low();
    return high != null
        && low != null
        && order.compare(high, 0, high.length, low, 0, low.length) <= 0;
  }

  /** Bytes of all that the tables are made of. */
  public long sizeBytes() {
    long bytes = 0;
    Object last = null;
    for (Table table : tables) {
      // The pieces of one content are neighbours.
      if (table.content() != last) {
        last = table.content();
        bytes += table.sizeBytes();
      }
    }
    return bytes;
  }

  /** The lowest of its tables; see {@link Table#minLsn}. */
  public long minLsn(long durable) {
    return minLsn(durable, Range.ALL);
  }

  /** The lowest of its tables that may have keys of a range; see {@link Table#minLsn}. */
  public long minLsn(long durable, Range range) {
    long min = Long.MAX_VALUE;
    for (Table table : tables) {
      if (table.common(order, range) != null) {
        min = Math.min(min, table.minLsn(durable));
      }
    }
    return min;
  }

  private int comparePrefix(byte[] key, int offset, int length) {
    int common = Math.min(prefix.length, length);
    int c = Arrays.compareUnsigned(key, offset, offset + common, prefix, 0, common);
    return c != 0 ? c : common < prefix.length ? -1 : 0;
  }

  private byte[] commonPrefix() {
    byte[] first = null;
    int length = 0;
    for (Range range : ranges) {
      byte[] high = range.high();
      if (high == null) {
        continue;
      }
      if (first == null) {
        first = high;
        length = high.length;
      } else {
        int differs = Arrays.mismatch(first, 0, length, high, 0, high.length);
        length = differs < 0 ? Math.min(length, high.length) : differs;
      }
    }
    return first == null ? new byte[0] : Arrays.copyOf(first, length);
  }

  private void checkDisjoint(Table left, Table right) {
    byte[] high = left.range().high();
    byte[] low = right.range().low();
    byte[] bound =
        low == null && right instanceof Table.Stored stored
            ? stored.content().meta().minKey()
            : low;
    boolean ok = false;
    if (high != null && bound != null) {
      int c = order.compare(high, 0, high.length, bound, 0, bound.length);
      ok = low != null ? c <= 0 : c < 0;
    }
    if (!ok) {
      throw new IllegalStateException("tables of one run overlap: " + left + " and " + right);
    }
  }
}
