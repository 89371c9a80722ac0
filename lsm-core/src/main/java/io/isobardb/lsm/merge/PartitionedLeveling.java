package io.isobardb.lsm.merge;

import io.isobardb.lsm.merge.MergeChoice.Kind;
import io.isobardb.lsm.merge.MergeChoice.Slot;
import io.isobardb.lsm.policy.L0Structure;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.version.Level;
import io.isobardb.lsm.version.Place;
import io.isobardb.lsm.version.Version;
import io.isobardb.tuner.workload.LevelShares;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Levels of one sorted run each, merged SSTable by SSTable, with grouped L0 and a number of levels
 * that follows the write memory ("Breaking Down Memory Walls in LSM-based Storage Systems", 4.1.2
 * and 4.1.3). Immutable.
 *
 * <p>Order of preference: L1 comes or goes; then by score, from 1 on; then an unwanted L1 is
 * drained. The score of a level is its size over its target. That of L0 is groups over the start,
 * or, for loads in key order that make but one group, its size over what memory or L1 may hold,
 * times the groups at which it stops. However full L0 is, a level that is fuller goes first: what a
 * merge of L0 costs is the size of L1, which would grow and grow. While L1 is unwanted, L0 is
 * merged into L2, along with what overlaps in L1.
 *
 * <p>If L0 has many groups that are small for what they overlap, as with little memory, they are
 * merged with each other first, unless another one is merged down for less (decision 0034).
 */
public final class PartitionedLeveling implements MergePolicy {
  /** A merge takes no more than this many SSTables' bytes, if there is a choice. */
  private static final int MAX_INPUT_TABLES = 25;

  /** The most SSTables of a group that are weighed. */
  private static final int MAX_SEEDS = 128;

  /**
   * The share of delete markers from which on an SSTable is rewritten, not moved, where they can be
   * dropped.
   */
  private static final double MOVED_DELETES = 0.1;

  /**
   * If so many times as much of the level below is rewritten as comes from L0, groups of L0 are
   * merged with each other first. Merges of whole groups of the size of the write memory stay
   * below: L1 is at most T times that, and four groups come at a time.
   */
  private static final int TOO_MUCH = 4;

  /**
   * The same, if all of L0 is less than one SSTable, as with many trees in little memory: to make
   * one of it costs little then, and takes away what small SSTables have besides their entries.
   */
  private static final double TOO_MUCH_FOR_LITTLE = 1.5;

  /** If so many times as much is rewritten, groups of L0 are merged that are less alike, too. */
  private static final int FAR_TOO_MUCH = 8;

  /** A group of L0 is merged with newer ones if it is no more than this many times as large. */
  private static final int LARGER_GROUP = 2;

  private static final String WISHED = "a range is to be merged down";

  /** More than any ratio of bytes. */
  private static final double TOO_LARGE = 1e12;

  private final LevelingOptions options;

  /** The policy with these options. */
  public PartitionedLeveling(LevelingOptions options) {
    this.options = options;
  }

  @Override
  public @Nullable MergeChoice choose(MergeView view) {
    return new Search(view).choose();
  }

  @Override
  public @Nullable MergeChoice choose(MergeView view, MergeDown wish) {
    return new Search(view).choose(wish);
  }

  /** What the levels are to hold; one that is about to come has its share, too. */
  public LevelShares levelShares(MergeView view) {
    return new LevelTargets(options, view).shares();
  }

  /** What L0 holds, once it is to be merged, and what levels hold beyond their targets. */
  @Override
  public long debtBytes(MergeView view) {
    return new Search(view).debtBytes();
  }

  /** A source of merges. L0 has the height of what stands above L1. */
  private record Candidate(int height, double score, String reason) {}

  /** One call. */
  private final class Search {
    private final MergeView view;
    private final Version version;
    private final LevelTargets targets;
    private final Set<Long> busy = new HashSet<>();
    private final int top; // L1's height
    private final boolean draining;

    Search(MergeView view) {
      this.view = view;
      this.version = view.version();
      this.targets = new LevelTargets(options, view);
      this.top = version.levelCount() - 1;
      this.draining = targets.wantsNoL1();
      for (MergeChoice running : view.running()) {
        for (MergeChoice.Input input : running.inputs()) {
          input.tables().forEach(table -> busy.add(table.fileNumber()));
        }
      }
    }

    @Nullable MergeChoice choose() {
      if (view.running().stream().anyMatch(choice -> choice.inputs().isEmpty())) {
        return null;
      }
      MergeChoice change = changeLevels();
      if (change != null) {
        return change;
      }
      for (Candidate candidate : candidates()) {
        MergeChoice choice = choose(candidate);
        if (choice != null) {
          return choice;
        }
      }
      return draining && view.free().contains(Slot.DEEP)
          ? mergeLevel(top, Kind.DRAIN_L1, "L1 is to be dropped")
          : null;
    }

    /** From the top down, so that what has come down a level goes on with what is there. */
    @Nullable MergeChoice choose(MergeDown wish) {
      if (view.running().stream().anyMatch(choice -> choice.inputs().isEmpty())) {
        return null;
      }
      InputSet set = view.free().contains(Slot.L0) ? fromL0(wish) : null;
      if (set != null) {
        return finish(set, outputOfL0(), Kind.MERGE, WISHED);
      }
      if (!view.free().contains(Slot.DEEP)) {
        return null;
      }
      for (int height = top; height > 0; height--) {
        for (SSTableMeta table : wish.above(version, height)) {
          InputSet down = setOf(height, table);
          if (down != null) {
            return finish(down, height - 1, Kind.MERGE, WISHED);
          }
        }
      }
      for (SSTableMeta table : wish.toClean(version)) {
        if (!busy.contains(table.fileNumber())) {
          return MergeChoice.ofRewritten(
              version, new MergeChoice.Input(Place.level(0), List.of(table)), WISHED);
        }
      }
      return null;
    }

    private @Nullable InputSet fromL0(MergeDown wish) {
      for (int group : groupsToLeave()) {
        Level<SSTableMeta> run = version.groups().get(group).run();
        for (int i = 0; i < run.size(); i++) {
          InputSet set = wish.goesDown(version, run.meta(i)) ? grow(group, i) : null;
          if (set != null) {
            return set;
          }
        }
      }
      return null;
    }

    private @Nullable MergeChoice choose(Candidate candidate) {
      boolean l0 = candidate.height() > top;
      if (!view.free().contains(l0 ? Slot.L0 : Slot.DEEP)) {
        return null;
      }
      if (!l0) {
        return mergeLevel(candidate.height(), Kind.MERGE, candidate.reason());
      }
      MergeChoice choice = mergeL0(candidate);
      boolean besideDeeper = view.running().stream().anyMatch(r -> r.slot() == Slot.DEEP);
      return choice == null && besideDeeper ? mergeBlockedL0(candidate) : choice;
    }

    /**
     * Deeper merges hold what each merge of L0 needs. Those are given up, unless they relieve a
     * level that is fuller than L0: then only groups of L0 are merged with each other meanwhile.
     */
    private @Nullable MergeChoice mergeBlockedL0(Candidate candidate) {
      List<MergeChoice> voidable =
          view.voidable().stream()
              .filter(running -> running.slot() == Slot.DEEP)
              .filter(running -> score(running) <= candidate.score())
              .toList();
      if (voidable.isEmpty()) {
        return mergeWithinL0(candidate, newestOfL0());
      }
      MergeView freed = view.withVoidable(voidable).withoutVoidable();
      MergeChoice choice = new Search(freed).mergeL0(candidate);
      if (choice == null) {
        return mergeWithinL0(candidate, newestOfL0());
      }
      return choice.voiding(voidable.stream().filter(running -> meets(choice, running)).toList());
    }

    /** How full the level is that a merge relieves. */
    private double score(MergeChoice running) {
      int height = running.inputs().get(0).place().height();
      return (double) version.atHeight(height).sizeBytes() / targets.targetBytes(height);
    }

    private boolean meets(MergeChoice choice, MergeChoice running) {
      return choice.sharesInput(running)
          || running.output().equals(choice.output())
              && compare(choice.minKey(), running.maxKey()) <= 0
              && compare(running.minKey(), choice.maxKey()) <= 0;
    }

    private @Nullable MergeChoice changeLevels() {
      long batch = targets.batchBytes();
      String memory =
          view.plan() != null
              ? "a plan of "
                  + view.plan().count()
                  + (view.plan().count() == 1 ? " level" : " levels")
              : batch > 0
                  ? mega(batch) + " from L0 at a time"
                  : mega(targets.writeMemoryBytes()) + " of write memory";
      if (targets.wantsLevel()) {
        return MergeChoice.ofLevels(Kind.ADD_LEVEL, top + 1, "L1 is too large for " + memory);
      }
      boolean receives = view.running().stream().anyMatch(r -> r.goesTo(top));
      if (draining && version.atHeight(top).isEmpty() && !receives) {
        return MergeChoice.ofLevels(Kind.DROP_LEVEL, top, "L2 is small enough for " + memory);
      }
      return null;
    }

    private List<Candidate> candidates() {
      List<Candidate> candidates = new ArrayList<>();
      int groups = version.groups().size();
      long l0Bytes = version.l0Bytes();
      double score = l0Score(l0Bytes);
      if (score >= 1) {
        String reason = String.format(Locale.ROOT, "L0 has %d groups, %s", groups, mega(l0Bytes));
        candidates.add(new Candidate(top + 1, score, reason));
      }
      for (int height = draining ? top - 1 : top; height > 0; height--) {
        long bytes = version.atHeight(height).sizeBytes() - leavingBytes(height);
        long target = targets.targetBytes(height);
        if (bytes >= target) {
          String reason =
              String.format(
                  Locale.ROOT, "L%d holds %s of %s", top + 1 - height, mega(bytes), mega(target));
          candidates.add(new Candidate(height, (double) bytes / target, reason));
        }
      }
      candidates.sort(
          Comparator.comparingDouble(Candidate::score)
              .thenComparingInt(Candidate::height)
              .reversed());
      return candidates;
    }

    private double l0Score(long l0Bytes) {
      long fair = Math.max(targets.writeMemoryBytes(), top == 0 ? 0 : targets.targetBytes(top));
      double byBytes = (double) l0Bytes / options.l0Limits().stop() / fair;
      return Math.max((double) version.groups().size() / options.l0Limits().start(), byBytes);
    }

    long debtBytes() {
      long l0Bytes = version.l0Bytes();
      long debt = l0Score(l0Bytes) >= 1 ? l0Bytes : 0;
      for (int height = top; height > 0; height--) {
        long target = draining && height == top ? 0 : targets.targetBytes(height);
        debt += Math.max(0, version.atHeight(height).sizeBytes() - target);
      }
      return debt;
    }

    /** Bytes of a level that running merges take down, or drop with SSTables of L0. */
    private long leavingBytes(int height) {
      long bytes = 0;
      for (MergeChoice running : view.running()) {
        for (MergeChoice.Input input : running.inputs()) {
          boolean leaves =
              !input.place().inL0()
                  && input.place().height() == height
                  && (running.output().inL0() || running.output().height() < height);
          bytes += leaves ? input.sizeBytes() : 0;
        }
      }
      return bytes;
    }

    // ---- L0

    private @Nullable MergeChoice mergeL0(Candidate candidate) {
      List<Integer> groups = groupsToLeave();
      InputSet first = toMergeDown(groups).findFirst().orElse(null);
      if (first == null) {
        return null;
      }
      if (!rewritesTooMuch(first)) {
        return finish(first, outputOfL0(), Kind.MERGE, candidate.reason());
      }
      MergeChoice within = mergeWithinL0(candidate, isLittle() ? null : newestOfL0());
      if (within != null) {
        return within;
      }
      // The newest may be a small rest of a sweep: then other groups are worth it, too, but not if
      // that rewrites more than it takes to merge another group down.
      InputSet least =
          toMergeDown(groups).min(Comparator.comparingDouble(InputSet::lowerShare)).orElse(first);
      boolean any = isLittle() || first.lowerShare() > FAR_TOO_MUCH;
      within = any ? mergeWithinL0(candidate, cheapestOfL0(least.lowerShare())) : null;
      return within != null ? within : finish(least, outputOfL0(), Kind.MERGE, candidate.reason());
    }

    /** What to merge down of each group of L0 of which anything can be, worked out when asked. */
    private Stream<InputSet> toMergeDown(List<Integer> groups) {
      return groups.stream().map(this::cheapestOf).filter(Objects::nonNull);
    }

    private @Nullable InputSet cheapestOf(int group) {
      int size = version.groups().get(group).run().size();
      int stride = (size + MAX_SEEDS - 1) / MAX_SEEDS;
      Stream<InputSet> sets =
          IntStream.iterate(0, i -> i < size, i -> i + stride)
              .mapToObj(i -> grow(group, i))
              .filter(Objects::nonNull);
      return options.l0() == L0Structure.GREEDY_GROUPED
          ? sets.min(Comparator.comparingDouble(this::costL0)).orElse(null)
          : sets.findFirst().orElse(null);
    }

    private boolean rewritesTooMuch(InputSet set) {
      return set.lowerShare() > (isLittle() ? TOO_MUCH_FOR_LITTLE : TOO_MUCH);
    }

    private boolean isLittle() {
      return version.l0Bytes() < view.targetBytes();
    }

    /**
     * Makes one of groups of L0, as in tiering: each byte is rewritten a few times, until L0 is
     * worth a merge with the level below. The output takes the place of the oldest. It is as wide
     * as inputs that overlap each other. So what was flushed beside them meanwhile can stay in any
     * of their groups.
     */
    private @Nullable MergeChoice mergeWithinL0(Candidate candidate, @Nullable InputSet best) {
      if (best == null || !options.mergesWithinL0() || options.l0() == L0Structure.ORIGINAL) {
        return null;
      }
      List<MergeChoice.Input> inputs = best.inputs();
      return new MergeChoice(
          Kind.MERGE,
          inputs,
          inputs.get(inputs.size() - 1).place(),
          best.minKey(),
          best.maxKey(),
          false,
          String.format(
              Locale.ROOT,
              "%s, little for what it overlaps: %s of %d groups into one",
              candidate.reason(),
              mega(best.upperBytes()),
              inputs.size()));
    }

    /** The newest groups, as long as none is much larger than those before it together. */
    private @Nullable InputSet newestOfL0() {
      int from = 0;
      while (from < version.groups().size() && isBusy(from)) {
        from++;
      }
      int to = from;
      long bytes = 0;
      while (to < version.groups().size() && !isBusy(to)) {
        long next = version.groups().get(to).run().sizeBytes();
        if (to > from && (next > LARGER_GROUP * bytes || bytes + next > maxInputBytes())) {
          break;
        }
        bytes += next;
        to++;
      }
      return to - from < 2
          ? null
          : neighbours(from, to).stream()
              .max(Comparator.comparingInt(InputSet::groups))
              .orElse(null);
    }

    private boolean isBusy(int group) {
      return version.groups().get(group).run().elements().stream()
          .anyMatch(table -> busy.contains(table.fileNumber()));
    }

    /** The adjacent groups that rewrite least of the oldest for what is newer, if any may. */
    private @Nullable InputSet cheapestOfL0(double most) {
      InputSet best = null;
      double least = most;
      int groups = version.groups().size();
      for (int from = 0; from < groups - 1; from++) {
        for (int to = from + 2; to <= groups; to++) {
          for (InputSet set : neighbours(from, to)) {
            double cost = set.oldestBytes() / (double) (set.upperBytes() - set.oldestBytes());
            if (cost < least) {
              best = set;
              least = cost;
            }
          }
        }
      }
      return best;
    }

    /** What may be merged of groups, each with all that overlaps it there. */
    private List<InputSet> neighbours(int from, int to) {
      List<InputSet> sets = new ArrayList<>();
      int size = version.groups().get(from).run().size();
      for (int i = 0; i < size; ) {
        InputSet set = new InputSet(version, busy);
        set.takeWithNeighbours(from, i, from, to);
        if (set.groups() > 1 && !set.blocked() && set.upperBytes() <= maxInputBytes()) {
          sets.add(set);
        }
        i = set.next(from, i);
      }
      return sets;
    }

    /** The groups in the order in which they should be emptied. */
    private List<Integer> groupsToLeave() {
      Comparator<Integer> oldestFirst = Comparator.reverseOrder();
      Comparator<Integer> smallestFirst =
          Comparator.comparingInt(group -> version.groups().get(group).run().size());
      return IntStream.range(0, version.groups().size())
          .boxed()
          .sorted(
              options.l0() == L0Structure.GREEDY_GROUPED
                  ? smallestFirst.thenComparing(oldestFirst)
                  : oldestFirst)
          .toList();
    }

    private int outputOfL0() {
      return draining ? top - 1 : top;
    }

    /** Too large merges come last, the smallest first; the others by what they rewrite. */
    private double costL0(InputSet set) {
      double bytes = set.upperBytes() + set.lowerBytes();
      return bytes > maxInputBytes() ? TOO_LARGE + bytes : set.lowerShare();
    }

    /**
     * An SSTable of L0 with its elders, and with the younger ones that overlap it as long as the
     * merge does not grow too large. One that is too large without them takes them, too, if no more
     * of the level below is rewritten for them. Null if it can't be merged now.
     */
    private @Nullable InputSet grow(int group, int i) {
      SSTableMeta seed = version.groups().get(group).run().meta(i);
      InputSet set = new InputSet(version, busy);
      set.takeWithElders(group, i);
      if (set.blocked()) {
        return null;
      }
      for (int younger = group - 1; younger >= 0; younger--) {
        Level<SSTableMeta> run = version.groups().get(younger).run();
        int from = run.from(seed.minKey(), 0, seed.minKey().length);
        int to = from + run.overlapping(seed.minKey(), seed.maxKey()).size();
        for (int j = from; j < to; j++) {
          InputSet larger = set.copy();
          larger.takeWithElders(younger, j);
          if (!larger.blocked() && isWorthwhile(set, larger)) {
            set = larger;
          }
        }
      }
      set.takeLevels(top, outputOfL0());
      return set.blocked() || meets(set, outputOfL0()) ? null : set;
    }

    private boolean isWorthwhile(InputSet set, InputSet larger) {
      InputSet all = withLevels(larger);
      if (all.upperBytes() + all.lowerBytes() <= maxInputBytes()) {
        return true;
      }
      InputSet before = withLevels(set);
      boolean isTooLarge = before.upperBytes() + before.lowerBytes() > maxInputBytes();
      return isTooLarge && all.lowerBytes() == before.lowerBytes();
    }

    private InputSet withLevels(InputSet set) {
      InputSet whole = set.copy();
      whole.takeLevels(top, outputOfL0());
      return whole;
    }

    private long maxInputBytes() {
      return MAX_INPUT_TABLES * view.targetBytes();
    }

    // ---- L1 and below

    private @Nullable MergeChoice mergeLevel(int height, Kind kind, String reason) {
      Level<SSTableMeta> below = version.atHeight(height - 1);
      SSTableMeta best = null;
      double bestRank = 0;
      for (SSTableMeta table : version.atHeight(height).elements()) {
        if (busy.contains(table.fileNumber())) {
          continue;
        }
        double rank = MergeRank.of(options.selection(), table, below);
        if ((best == null || rank < bestRank) && setOf(height, table) != null) {
          best = table;
          bestRank = rank;
        }
      }
      InputSet set = best == null ? null : setOf(height, best);
      return set == null ? null : finish(set, height - 1, kind, reason);
    }

    private @Nullable InputSet setOf(int height, SSTableMeta table) {
      InputSet set = new InputSet(version, busy);
      set.takeOne(height, table);
      set.takeLevels(height - 1, height - 1);
      return set.blocked() || meets(set, height - 1) ? null : set;
    }

    // ---- both

    /** Whether a running merge writes into the same keys of the same level. */
    private boolean meets(InputSet set, int outputHeight) {
      for (MergeChoice running : view.running()) {
        if (running.goesTo(outputHeight)
            && !running.inputs().isEmpty()
            && compare(set.minKey(), running.maxKey()) <= 0
            && compare(running.minKey(), set.maxKey()) <= 0) {
          return true;
        }
      }
      return false;
    }

    private int compare(byte[] a, byte[] b) {
      return version.order().compare(a, 0, a.length, b, 0, b.length);
    }

    private MergeChoice finish(InputSet set, int outputHeight, Kind kind, String reason) {
      List<MergeChoice.Input> inputs = set.inputs();
      boolean bottommost = version.nothingBelow(outputHeight, set.minKey(), set.maxKey());
      boolean single = inputs.size() == 1 && inputs.get(0).tables().size() == 1;
      boolean moves =
          single
              && !(bottommost
                  && MergeRank.deleteShare(inputs.get(0).tables().get(0)) > MOVED_DELETES);
      String what =
          String.format(
              Locale.ROOT,
              "%s: %s into %s of L%d",
              reason,
              mega(set.upperBytes()),
              mega(set.lowerBytes()),
              top + 1 - outputHeight);
      return new MergeChoice(
          moves ? Kind.MOVE : kind,
          inputs,
          Place.level(outputHeight),
          set.minKey(),
          set.maxKey(),
          bottommost,
          what);
    }
  }

  private static String mega(long bytes) {
    return String.format(Locale.ROOT, "%.1f MB", bytes / (double) (1 << 20));
  }
}
