package io.isobardb.lsm.range;

import io.isobardb.lsm.option.KeyOrder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The range deletes of a tree: a {@link Coverage} for each moment that somebody reads at. They
 * share what they have in common.
 *
 * <p>A reader at LSN {@code s} does not see an entry with LSN {@code e} if a range delete {@code r}
 * covers its key with {@code e < r <= s}. Where an entry lies does not matter. So of the range
 * deletes up to {@code s} that cover a key, the newest one alone counts.
 *
 * <p>Immutable. Its size and the time for a change depend on what can still be seen, not on how
 * many range deletes there were.
 */
public final class RangeDeletes {
  /** Tells at which LSNs somebody reads. */
  @FunctionalInterface
  public interface Readers {
    /** Whether somebody reads at an LSN from {@code from} on, before {@code to}. */
    boolean in(long from, long to);
  }

  /** Nobody reads at what is past. */
  public static final Readers NOBODY = (from, to) -> false;

  /** A moment and its coverage on the heap, without the cuts. */
  private static final int STAGE_BYTES = 96;

  private final KeyOrder order;
  private final @Nullable Stage last;

  private RangeDeletes(KeyOrder order, @Nullable Stage last) {
    this.order = order;
    this.last = last;
  }

  /**
   * All range deletes up to the LSN of one of them, on top of an older moment.
   *
   * <p>A list to which {@code jump} gives a binary tree's paths: a search takes a time that grows
   * as the logarithm of their number, and a new one on top a fixed time (Myers, An applicative
   * random-access stack, 1983).
   */
  private static final class Stage {
    final long lsn;
    final Coverage coverage;
    final @Nullable Stage older;

    /** Some way further back than {@link #older}, or the same. */
    final @Nullable Stage jump;

    /** How many there are, this one included. */
    final int count;

    /** What it takes on the heap besides the older ones, and together with them; about. */
    final long ownBytes;

    final long heapBytes;

    /**
     * @param copied what of the coverage is not that of the older one, in bytes at most
     */
    Stage(long lsn, Coverage coverage, @Nullable Stage older, long copied) {
      this.lsn = lsn;
      this.coverage = coverage;
      this.older = older;
      long all = coverage.heapBytes();
      this.ownBytes = STAGE_BYTES + (older == null ? all : Math.min(all, copied));
      this.heapBytes = ownBytes + (older == null ? 0 : older.heapBytes);
      this.count = 1 + count(older);
      Stage near = older == null ? null : older.jump;
      Stage far = near == null ? null : near.jump;
      // Two jumps of the same length make one that passes both.
      boolean equal = count(older) - count(near) == count(near) - count(far);
      this.jump = near != null && equal ? far : older;
    }
  }

  private static int count(@Nullable Stage stage) {
    return stage == null ? 0 : stage.count;
  }

  /** No range deletes. */
  public static RangeDeletes none(KeyOrder order) {
    return new RangeDeletes(order, null);
  }

  /** These range deletes, for readers at LSNs later than all of them. */
  public static RangeDeletes of(KeyOrder order, List<RangeDelete> deletes) {
    return none(order).withAll(deletes, NOBODY, Long.MAX_VALUE);
  }

  /** The order of their keys. */
  public KeyOrder order() {
    return order;
  }

  /** Whether there are none. */
  public boolean isEmpty() {
    return newest().isEmpty();
  }

  /** How many moments it tells apart. */
  public int moments() {
    return count(last);
  }

  /** What they take on the heap, in bytes; about, and rather more than less. */
  public long heapBytes() {
    return last == null ? 0 : last.heapBytes;
  }

  /** What of that the next range delete adds or copies at least; about. */
  public long copiedBytes() {
    return newest().copiedBytes();
  }

  /** All of them. */
  public Coverage newest() {
    return last == null ? Coverage.none(order) : last.coverage;
  }

  /**
   * Those up to an LSN. If nobody reads there it may be fewer.
   *
   * @see #needed
   */
  public Coverage at(long lsn) {
    Stage at = stage(lsn);
    return at == null ? Coverage.none(order) : at.coverage;
  }

  /**
   * All range deletes up to this LSN are in {@link #at}, which may not have those up to another.
   */
  public long momentAt(long lsn) {
    Stage at = stage(lsn);
    return at == null ? 0 : at.lsn;
  }

  /** Those of the moments up to an LSN. */
  public RangeDeletes upTo(long lsn) {
    Stage at = stage(lsn);
    return at == last ? this : new RangeDeletes(order, at);
  }

  /** The last moment that is not later than this. */
  private @Nullable Stage stage(long lsn) {
    Stage at = last;
    while (at != null && at.lsn > lsn) {
      Stage jump = at.jump;
      at = jump != null && jump.lsn > lsn ? jump : at.older;
    }
    return at;
  }

  /** The newest range delete up to {@code lsn} that covers a key; 0 if none does. */
  public long covering(byte[] key, int length, long lsn) {
    // The later the moment, the newer what covers the key.
    Stage at = last;
    while (at != null) {
      long covering = at.coverage.covering(key, length);
      if (covering <= lsn) {
        return covering;
      }
      Stage jump = at.jump;
      at = jump != null && jump.coverage.covering(key, length) > lsn ? jump : at.older;
    }
    return 0;
  }

  /**
   * These and more, as far as somebody needs them; see {@link #needed}.
   *
   * @param visible not lower than the LSN of any of them
   */
  public RangeDeletes withAll(List<RangeDelete> more, Readers readers, long visible) {
    List<RangeDelete> ascending = new ArrayList<>(more);
    ascending.sort(Comparator.comparingLong(RangeDelete::lsn));
    RangeDeletes all = this;
    for (RangeDelete delete : ascending) {
      all = all.with(delete).needed(readers, visible, 2);
    }
    return all;
  }

  /** These and one more. Takes a time in proportion to the moments that are later. */
  public RangeDeletes with(RangeDelete delete) {
    Stage before = stage(delete.lsn());
    Coverage coverage = before == null ? Coverage.none(order) : before.coverage;
    Stage below = before != null && before.lsn == delete.lsn() ? before.older : before;
    Coverage next = coverage.with(delete);
    long copied = next.copiedBytes() + (before == null || below == before ? 0 : before.ownBytes);
    Stage top = new Stage(delete.lsn(), next, below, copied);
    for (Stage later : stages(moments() - count(before))) {
      next = later.coverage.with(delete);
      top = new Stage(later.lsn, next, top, later.ownBytes + next.copiedBytes());
    }
    return new RangeDeletes(order, top);
  }

  /** The last moments, ascending, {@code most} of them at most. */
  private List<Stage> stages(int most) {
    List<Stage> stages = new ArrayList<>();
    for (Stage at = last; at != null && stages.size() < most; at = at.older) {
      stages.add(at);
    }
    Collections.reverse(stages);
    return stages;
  }

  /**
   * These without those of ranges, up to an LSN each. Takes a time in proportion to all there are
   * in the moments up to the newest of these LSNs, and to what came later.
   *
   * @param gone ascending, disjoint
   */
  public RangeDeletes without(List<RangeDelete> gone) {
    if (gone.isEmpty()) {
      return this;
    }
    long newest = gone.stream().mapToLong(RangeDelete::lsn).max().orElse(0);
    Stage top = null;
    for (Stage stage : stages(moments())) {
      Coverage left;
      long copied = 0;
      if (top == null || top.lsn < newest) {
        left = stage.coverage.without(gone);
        copied = left.heapBytes();
      } else {
        // What it has besides the moment before is newer than all that goes.
        left = top.coverage;
        for (RangeDelete newer : stage.coverage.list(top.lsn)) {
          left = left.with(newer);
          copied += left.copiedBytes();
        }
      }
      top = new Stage(stage.lsn, left, top, copied);
    }
    return new RangeDeletes(order, top);
  }

  /**
   * Those that somebody needs. Of two range deletes that cover a key, the older one is needed by a
   * reader between them only.
   *
   * @param readers the LSNs that are registered
   * @param visible all others read at this LSN or later
   * @param most of how many of the last moments it is asked
   */
  public RangeDeletes needed(Readers readers, long visible, int most) {
    List<Stage> asked = stages(most);
    Stage top = null;
    int kept = 0;
    long gone = 0;
    for (int i = 0; i < asked.size(); i++) {
      Stage stage = asked.get(i);
      boolean isLast = i + 1 == asked.size();
      long next = isLast ? Long.MAX_VALUE : asked.get(i + 1).lsn;
      if (isLast || next > visible || readers.in(stage.lsn, next)) {
        // As long as none before it went it stays what it is.
        if (kept == i) {
          top = stage;
        } else {
          Stage below = kept == 0 ? below(asked) : top;
          top = new Stage(stage.lsn, stage.coverage, below, stage.ownBytes + gone);
        }
        gone = 0;
        kept++;
      } else {
        gone += stage.ownBytes;
      }
    }
    return kept == asked.size() ? this : new RangeDeletes(order, top);
  }

  /** What is older than these. */
  private static @Nullable Stage below(List<Stage> stages) {
    return stages.get(0).older;
  }

  /** Range deletes from which {@link #with} makes this. */
  public List<RangeDelete> list() {
    return list(0);
  }

  /** As {@link #list()}, but only those that are newer than an LSN. */
  public List<RangeDelete> list(long after) {
    List<RangeDelete> all = new ArrayList<>();
    long before = after;
    for (Stage stage : stages(moments() - count(stage(after)))) {
      all.addAll(stage.coverage.list(before));
      before = stage.lsn;
    }
    return all;
  }

  /** The LSN of the last moment; 0 if there is none. */
  public long lastLsn() {
    return last == null ? 0 : last.lsn;
  }

  @Override
  public String toString() {
    return list().toString();
  }
}
