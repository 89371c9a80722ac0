package io.isobardb.memory.pool;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * A few counters that many threads add to, each in a cell of its own: that of the slot of {@link
 * Epochs} which the thread holds. A slot has one holder at a time, so adding takes no atomic
 * operation and shares no cache line.
 *
 * <p>Counters that nobody adds to take some 100 bytes. A cell is made when its slot first adds
 * something, and takes 144 bytes. All slots that were made later than the first share one cell, and
 * add to it atomically.
 *
 * <p>Thread rule: all methods may be called by any thread; {@link #add} only while it holds the
 * slot.
 */
public final class SlotCounters {
  private static final VarHandle CELL = MethodHandles.arrayElementVarHandle(long[].class);

  /** With an array's header, more than two cache lines. */
  private static final int CELL_LONGS = 16;

  private static final long[][] NONE = {};

  /** How many slots have a cell of their own. */
  private final int slots;

  private final AtomicLongArray others;

  /** By slot; none before the first is made. A reader that sees an earlier state looks again. */
  private long[][] cells = NONE;

  /** The cells there are, to be summed up. */
  private volatile long[][] made = NONE;

  /**
   * @param epochs whose slots threads hold when they add
   * @param counters how many there are, 1 to 8
   */
  public SlotCounters(Epochs epochs, int counters) {
    if (counters < 1 || counters > CELL_LONGS / 2) {
      throw new IllegalArgumentException("1 to 8 counters, not " + counters);
    }
    this.slots = epochs.slotCount();
    this.others = new AtomicLongArray(counters);
  }

  /**
   * Adds {@code count} to a counter.
   *
   * @return what was added with this slot's cell so far
   */
  public long add(int slot, int counter, long count) {
    int index = Epochs.index(slot);
    long[][] known = cells;
    // The slot's last holder made it, if any did, and gave the slot back since.
    long @Nullable [] cell = index < known.length ? known[index] : null;
    if (cell == null) {
      if (index >= slots) {
        return others.addAndGet(counter, count);
      }
      cell = cell(index);
    }
    long sum = cell[counter] + count;
    CELL.setOpaque(cell, counter, sum);
    return sum;
  }

  private synchronized long[] cell(int index) {
    if (cells == NONE) {
      cells = new long[slots][];
    }
    long @Nullable [] found = cells[index];
    if (found != null) {
      return found;
    }
    long[] cell = new long[CELL_LONGS];
    long[][] longer = Arrays.copyOf(made, made.length + 1);
    longer[made.length] = cell;
    made = longer;
    cells[index] = cell;
    return cell;
  }

  /** The sum of all that was added to a counter; what is added meanwhile may be missing. */
  public long sum(int counter) {
    long sum = others.get(counter);
    for (long[] cell : made) {
      sum += (long) CELL.getOpaque(cell, counter);
    }
    return sum;
  }
}
