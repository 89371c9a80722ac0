package io.isobardb.lsm.state;

import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.memory.page.Words;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
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
    this.order = order;
    this.tables = tables.toArray(new Table[0]);
    this.ranges = tables.stream().map(Table::range).toArray(Range[]::new);
    this.prefix = order.isBytes() ? commonPrefix() : new byte[0];
    this.heads = new long[ranges.length];
    for (int i = 0; i < heads.length; i++) {
      byte[] high = ranges[i].high();
      heads[i] =
          high == null || !order.isBytes()
              ? -1L
              : Words.head(high, prefix.length, high.length - prefix.length);
    }
    for (int i = 1; i < this.tables.length; i++) {
      checkDisjoint(this.tables[i - 1], this.tables[i]);
    }
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
    List<Table> left = new ArrayList<>(tables.length + 1);
    for (Table table : tables) {
      left.addAll(table.without(order, taken));
    }
    return left.isEmpty() ? null : new Run(order, left);
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
    long min = Long.MAX_VALUE;
    for (Table table : tables) {
      min = Math.min(min, table.minLsn(durable));
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
