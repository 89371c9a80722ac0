package io.isobardb.lsm.merge;

import io.isobardb.lsm.commit.Fullness;
import io.isobardb.lsm.component.MemoryRules;
import io.isobardb.lsm.merge.MemoryMergeChoice.Action;
import io.isobardb.lsm.merge.MemoryMergeView.Runs;
import io.isobardb.lsm.policy.MemoryComponent;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * When a tree's memory is merged, and what of it: the balance of processor time against I/O, which
 * "Breaking Down Memory Walls in LSM-based Storage Systems" leaves open (8). Pure functions; any
 * thread.
 *
 * <p>Many runs of a size are merged once they fill memory: it makes room, and so saves I/O, and
 * costs each entry one merge per tier. When room is wanted all are merged if that has made much of
 * it lately. Fewer are merged only for the time that reads lose with them. Nobody knows how many
 * reads are to come, so that is done when those that were have lost as much as the merge will cost:
 * about twice what would have been best if the worst comes, and nothing where nobody reads
 * (decision 0011).
 *
 * @param component how write memory is arranged
 */
public record MemoryMerging(MemoryComponent component) {
  /** Runs of about the same size that are merged for the sake of room. */
  static final int MANY = 8;

  /** A tree with less than this, or than half of the write memory, is not merged for room. */
  private static final long LEVEL_BYTES = 64 << 20;

  /** An SSTable that a merge makes has one in so many parts of the write memory. */
  private static final int SLICE_SHARE = 64;

  /**
   * The least pages of such an SSTable: filter, index and a half-empty last page are few of them.
   */
  private static final int SLICE_PAGES = 16;

  /**
   * The least number of pages holds while it is at most one in so many parts of the write memory.
   */
  private static final int MOST_SHARE = 16;

  /** All is merged for room once what is new is this share of what was merged before. */
  private static final double FRESH_SHARE = 1;

  /** The same share for a tree that has to be flushed. */
  private static final double FLUSHED_FRESH_SHARE = 0.5;

  /** The active SSTable is sealed for a merge without markers if it has this share of memory. */
  private static final int ACTIVE_SHARE = 4;

  /** A tree of fewer pages counts as this many, when markers are to go. */
  private static final int LEAST_WITHOUT_MARKERS = 64;

  /**
   * Few lookups meet an active SSTable with less than one in so many parts of the tree's memory.
   */
  private static final int LEAST_ACTIVE_SHARE = 64;

  /**
   * Neighbouring runs.
   *
   * @param from place of the youngest, from the youngest run of all
   * @param to behind the place of the oldest
   */
  record Neighbours(int from, int to) {
    int count() {
      return to - from;
    }
  }

  /** What to do with the memory of a tree that is written to and read. */
  MemoryMergeChoice choose(MemoryMergeView view) {
    if (MemoryRules.mergesWhole(component)) {
      return chooseWhole(view);
    }
    if (component == MemoryComponent.LEVELED) {
      return chooseLevel(view);
    }
    if (component != MemoryComponent.PARTITIONED) {
      return MemoryMergeChoice.of(Action.LEAVE);
    }
    Runs runs = view.runs();
    if (markersPay(view)) {
      return withoutMarkers(view);
    }
    // A large active SSTable counts as a run: it is merged with the others once it is sealed.
    if (runs.count() > 0 && view.grown() && paidFor(runs.memoryBytes(), view.lostNanos())) {
      return MemoryMergeChoice.of(Action.SEAL);
    }
    Neighbours chosen = runs.count() < 2 ? null : alike(view);
    return chosen == null
        ? MemoryMergeChoice.of(Action.LEAVE)
        : slices(view, chosen.count(), runs.frozen().length - chosen.to(), MemoryMergeChoice.ALL);
  }

  /**
   * What to do with the memory of a tree that nobody writes to: reads should ask one packed run
   * instead of many, and none that has grown large with room for more. If there are cursors, what
   * is in the active SSTable is merged along with the others. Beside a packed run alone it is
   * packed, too, once asking it has cost reads what that costs.
   */
  MemoryMergeChoice chooseIdle(MemoryMergeView view) {
    Runs runs = view.runs();
    if (component == MemoryComponent.PARTITIONED && markersPay(view)) {
      return withoutMarkers(view);
    }
    boolean none = runs.count() == 0 || runs.areOne();
    boolean seals = view.grown() || activeLoss(view) >= idlePriceNanos(view);
    if (component != MemoryComponent.PARTITIONED
        || none && !seals
        || runs.memoryBytes() < view.sizes().active()) {
      return MemoryMergeChoice.of(Action.LEAVE);
    }
    if (seals) {
      return MemoryMergeChoice.of(Action.SEAL);
    }
    if (runs.open() > 0) {
      return MemoryMergeChoice.of(Action.WAIT);
    }
    MemoryMergeChoice all = slices(view, runs.count(), 0, MemoryMergeChoice.ALL);
    boolean joins = view.cursorNanos() > 0 && runs.activeBytes() > 0;
    return all.action() == Action.MERGE && joins ? MemoryMergeChoice.of(Action.SEAL) : all;
  }

  /**
   * Whether cursors have lost to delete markers what it costs to merge all. Markers go if nothing
   * of the tree is on disk, so that nothing can lie below them.
   */
  private static boolean markersPay(MemoryMergeView view) {
    return view.fits() && paidFor(all(view), view.markerNanos());
  }

  /** A tree of a page or two costs a merge's beginning, too. */
  private static long all(MemoryMergeView view) {
    return Math.max(view.runs().memoryBytes(), LEAST_WITHOUT_MARKERS * view.sizes().page());
  }

  /** Merges all, the active SSTable first sealed if it has its share of that. */
  private static MemoryMergeChoice withoutMarkers(MemoryMergeView view) {
    Runs runs = view.runs();
    if (runs.activeBytes() * ACTIVE_SHARE >= runs.memoryBytes()) {
      return MemoryMergeChoice.of(Action.SEAL);
    }
    return runs.open() > 0
        ? MemoryMergeChoice.of(Action.WAIT)
        : slices(view, runs.count(), 0, MemoryMergeChoice.ALL);
  }

  /**
   * What reads have lost by asking the active SSTable. Few lookups meet a small one, but each
   * cursor has to be placed there.
   */
  private static long activeLoss(MemoryMergeView view) {
    Runs runs = view.runs();
    return runs.activeBytes() * LEAST_ACTIVE_SHARE >= runs.memoryBytes()
        ? view.activeNanos()
        : view.cursorNanos();
  }

  /**
   * What that has to be until {@link #chooseIdle} seals it; {@code Long.MAX_VALUE} if it would not.
   */
  private long idlePriceNanos(MemoryMergeView view) {
    return view.runs().activeBytes() > 0 ? nextPriceNanos(view) : Long.MAX_VALUE;
  }

  /** The same once something was written. */
  private long nextPriceNanos(MemoryMergeView view) {
    Runs runs = view.runs();
    boolean packs = component == MemoryComponent.PARTITIONED && runs.areOne();
    return packs && runs.memoryBytes() >= view.sizes().active()
        ? (long) price(runs.memoryBytes())
        : Long.MAX_VALUE;
  }

  /**
   * What reads have to lose with one run more until {@link #chooseIdle} should be asked again, in
   * nanoseconds; {@code Long.MAX_VALUE} if that need not be. What was written without filling an
   * active SSTable is noticed by that alone.
   */
  long idleNanos(MemoryMergeView view) {
    long price = idlePriceNanos(view);
    return price == Long.MAX_VALUE ? nextPriceNanos(view) : Math.max(0, price - activeLoss(view));
  }

  /** All frozen runs into one SSTable, or below one index. */
  private MemoryMergeChoice chooseWhole(MemoryMergeView view) {
    Runs runs = view.runs();
    if (runs.frozen().length < MemoryRules.PIPELINE) {
      return MemoryMergeChoice.of(Action.LEAVE);
    }
    if (view.room().used() + runs.besidesBytes()
        >= Fullness.USUAL.nearlyFull(view.room().limit())) {
      return MemoryMergeChoice.of(Action.NO_ROOM);
    }
    Action action = component == MemoryComponent.ACCORDION_INDEX ? Action.INDEX : Action.MERGE;
    return new MemoryMergeChoice(
        action, runs.frozen().length, 0, MemoryMergeChoice.ALL, Long.MAX_VALUE, 0);
  }

  /** One SSTable into the level below it, or the oldest sealed run into the first level. */
  private static MemoryMergeChoice chooseLevel(MemoryMergeView view) {
    Runs runs = view.runs();
    int levels = runs.levels().size();
    int sealed = runs.frozen().length - levels;
    long arriving = sealed == 0 ? 0 : runs.frozen()[sealed - 1];
    MemoryLeveling.Pick pick = MemoryLeveling.choose(sealed, arriving, runs.levels());
    if (pick == null) {
      return MemoryMergeChoice.of(Action.LEAVE);
    }
    int inputs = pick.joins() ? 2 : 1;
    return slices(view, inputs, levels + 1 - pick.level() - inputs, pick.table());
  }

  /** A merge of runs into SSTables that need little room besides their inputs. */
  private static MemoryMergeChoice slices(MemoryMergeView view, int inputs, int older, int table) {
    if (view.room().used() > view.room().limit()) {
      return MemoryMergeChoice.of(Action.NO_ROOM);
    }
    long page = view.sizes().page();
    long limit = view.room().limit();
    long share = Math.max(limit / SLICE_SHARE, Math.min(SLICE_PAGES * page, limit / MOST_SHARE));
    long slice = Math.max(2 * page, Math.min(view.sizes().table(), share));
    return new MemoryMergeChoice(Action.MERGE, inputs, older, table, slice, 2 * slice);
  }

  /** Frozen runs that are worth a merge now, by their places among them. */
  private static @Nullable Neighbours alike(MemoryMergeView view) {
    Runs runs = view.runs();
    long half = view.room().limit() / 2;
    return alike(
        runs.frozen(),
        runs.mergedBytes(),
        view.sizes().active(),
        runs.memoryBytes() >= Math.min(LEVEL_BYTES, half),
        freshShare(view, view.room().used() >= half && view.hoped()),
        view.lostNanos());
  }

  /**
   * How much must be new before all is merged for room, as a share of what was merged before. Of a
   * tree that is flushed, what a merge leaves out need not be written to disk, nor merged there.
   *
   * @param wanted whether others could use the room that a merge of all is hoped to make
   */
  private static double freshShare(MemoryMergeView view, boolean wanted) {
    return !wanted ? Double.POSITIVE_INFINITY : view.fits() ? FRESH_SHARE : FLUSHED_FRESH_SHARE;
  }

  /**
   * Neighbours of about a size, or all.
   *
   * @param sizes bytes of the runs that get no writes any more, from the youngest to the oldest
   * @param mergedBytes what of them was merged before
   * @param unit bytes of the smallest runs there are, when they are new
   * @param full whether a merge of many is worth it for room alone
   * @param freshShare of what was merged before, as much has to be new for a merge of all
   * @param lostNanos what reads have lost since the last merge
   * @return null to leave all as it is
   */
  static @Nullable Neighbours alike(
      long[] sizes, long mergedBytes, long unit, boolean full, double freshShare, long lostNanos) {
    long all = LongStream.of(sizes).sum();
    // What is new is merged along with so many times as much that is not.
    boolean fresh = all - mergedBytes >= freshShare * Math.max(1, mergedBytes);
    if (sizes.length > 1 && (fresh || paidFor(all, lostNanos))) {
      return new Neighbours(0, sizes.length);
    }
    for (int from = 0; from < sizes.length; ) {
      long tier = tier(sizes[from], unit);
      long bytes = 0;
      int to = from;
      while (to < sizes.length && tier(sizes[to], unit) <= tier) {
        bytes += sizes[to++];
      }
      Neighbours alike = new Neighbours(from, to);
      if (full && alike.count() >= MANY
          || alike.count() > 1 && lost(alike, sizes.length, lostNanos) >= price(bytes)) {
        return alike;
      }
      from = to;
    }
    return null;
  }

  /** What of it is for those runs not being one. */
  private static double lost(Neighbours runs, int all, double lostNanos) {
    return lostNanos * (runs.count() - 1) / (all - 1);
  }

  /**
   * Whether reads have lost what it costs to merge all, the active SSTable too.
   *
   * @param bytes of all that is in memory
   */
  static boolean paidFor(long bytes, long lostNanos) {
    return lostNanos >= price(bytes);
  }

  private static double price(double bytes) {
    return bytes * MemoryRules.MERGE_NANOS_PER_BYTE;
  }

  /** How often a run of this size can have been merged, {@link #MANY} of a tier at a time. */
  private static long tier(long bytes, long unit) {
    long tier = 0;
    for (long size = bytes / unit; size >= MANY / 2; size /= MANY) {
      tier++;
    }
    return tier;
  }
}
