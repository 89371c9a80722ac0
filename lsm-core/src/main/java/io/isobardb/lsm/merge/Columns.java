package io.isobardb.lsm.merge;

import io.isobardb.lsm.policy.L0Structure;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.version.Level;
import io.isobardb.lsm.version.PlacedRun;
import io.isobardb.lsm.version.Version;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What a merge can take of runs that overlap each other: all groups of L0, or all tiers. It takes a
 * column of keys at a time, with what is older there.
 *
 * <p>Pure functions of what it was made of; any thread.
 */
final class Columns {
  /** A merge takes no more than this many SSTables' bytes, if there is a choice. */
  private static final int MAX_INPUT_TABLES = 25;

  /** The most SSTables of a run that are weighed. */
  private static final int MAX_SEEDS = 128;

  /** A run is merged with newer ones if it is no more than this many times as large. */
  private static final int LARGER_RUN = 2;

  /**
   * So many runs become one while others wait for a larger merge: not fewer, or bytes are rewritten
   * again and again, and the larger merge stands still meanwhile.
   */
  private static final int FEWEST_GATHERED = 8;

  /** Of few runs as many as this part of them, but no fewer than this. */
  private static final int FEWEST_OF_FEW = 4;

  private static final int PART_OF_FEW = 3;

  /** Nor more, so that it does not take long. */
  private static final int MOST_GATHERED = 16;

  /** The part of what a merge should take at most that such a merge takes at most. */
  private static final int GATHERED_PART = 4;

  /** So many of the cheapest sets of runs are looked at in detail. */
  private static final int MOST_TRIED = 64;

  /** More than any ratio of bytes. */
  private static final double TOO_LARGE = 1e12;

  private final Version version;
  private final List<PlacedRun> runs;
  private final Set<Long> busy;
  private final L0Structure structure;
  private final long maxInputBytes;
  private final @Nullable Below below;

  /**
   * What of the levels goes along.
   *
   * @param from the height of the first level of which what overlaps is merged, too
   * @param to the height of the last one, which gets the outputs
   * @param meets whether a running merge writes into the same keys there
   */
  record Below(int from, int to, Predicate<InputSet> meets) {}

  /**
   * @param runs from the newest to the oldest
   * @param busy numbers of the files that are in merges
   * @param below null if nothing below the runs goes along
   * @param maxInputBytes what a merge should take at most
   */
  Columns(
      Version version,
      List<PlacedRun> runs,
      Set<Long> busy,
      L0Structure structure,
      @Nullable Below below,
      long maxInputBytes) {
    this.version = version;
    this.runs = runs;
    this.busy = busy;
    this.structure = structure;
    this.maxInputBytes = maxInputBytes;
    this.below = below;
  }

  /** What a merge should take at most, in bytes. */
  static long maxInputBytes(MergeView view) {
    return MAX_INPUT_TABLES * view.targetBytes();
  }

  /** What to merge down of each run of which anything can be, worked out when asked. */
  Stream<InputSet> toMergeDown() {
    return runsToEmpty().map(this::cheapestOf).filter(Objects::nonNull);
  }

  /** What rewrites least of what is below for what comes down, of all runs. */
  @Nullable InputSet cheapestToMergeDown() {
    return toMergeDown().min(Comparator.comparingDouble(this::cost)).orElse(null);
  }

  /** The runs in the order in which they should be emptied. */
  private Stream<Integer> runsToEmpty() {
    Comparator<Integer> oldestFirst = Comparator.reverseOrder();
    Comparator<Integer> smallestFirst =
        Comparator.comparingInt(index -> runs.get(index).run().size());
    return IntStream.range(0, runs.size())
        .boxed()
        .sorted(
            structure == L0Structure.GREEDY_GROUPED
                ? smallestFirst.thenComparing(oldestFirst)
                : oldestFirst);
  }

  private @Nullable InputSet cheapestOf(int index) {
    int size = runs.get(index).run().size();
    int stride = (size + MAX_SEEDS - 1) / MAX_SEEDS;
    Stream<InputSet> sets =
        IntStream.iterate(0, i -> i < size, i -> i + stride)
            .mapToObj(i -> grow(index, i))
            .filter(Objects::nonNull);
    return structure == L0Structure.GREEDY_GROUPED
        ? sets.min(Comparator.comparingDouble(this::cost)).orElse(null)
        : sets.findFirst().orElse(null);
  }

  /**
   * Too large merges come last, the smallest first; the others by what they rewrite, or if that is
   * nothing below, by what they take.
   */
  private double cost(InputSet set) {
    double bytes = set.upperBytes() + set.lowerBytes();
    if (bytes > maxInputBytes) {
      return TOO_LARGE + bytes;
    }
    return below == null ? -bytes : set.lowerShare();
  }

  /** What {@code wish} has to go down, if anything of it can be merged now. */
  @Nullable InputSet toMergeDown(MergeDown wish) {
    for (int index : runsToEmpty().toList()) {
      PlacedRun placed = runs.get(index);
      for (int i = 0; i < placed.run().size(); i++) {
        boolean goes = wish.goesDown(version, placed.place(), placed.run().meta(i));
        InputSet set = goes ? grow(index, i) : null;
        if (set != null) {
          return set;
        }
      }
    }
    return null;
  }

  /**
   * An SSTable with its elders, and with the younger ones that overlap it as long as the merge does
   * not grow too large. One that is too large without them takes them, too, if no more of the level
   * below is rewritten for them. Null if it can't be merged now.
   */
  private @Nullable InputSet grow(int index, int i) {
    SSTableMeta seed = runs.get(index).run().meta(i);
    InputSet set = new InputSet(version, runs, busy);
    set.takeWithElders(index, i);
    if (set.blocked()) {
      return null;
    }
    for (int younger = index - 1; younger >= 0; younger--) {
      Level<SSTableMeta> run = runs.get(younger).run();
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
    takeBelow(set);
    return set.blocked() || below != null && below.meets().test(set) ? null : set;
  }

  private boolean isWorthwhile(InputSet set, InputSet larger) {
    InputSet all = withBelow(larger);
    if (all.upperBytes() + all.lowerBytes() <= maxInputBytes) {
      return true;
    }
    InputSet before = withBelow(set);
    boolean isTooLarge = before.upperBytes() + before.lowerBytes() > maxInputBytes;
    return below != null && isTooLarge && all.lowerBytes() == before.lowerBytes();
  }

  private InputSet withBelow(InputSet set) {
    InputSet whole = set.copy();
    takeBelow(whole);
    return whole;
  }

  private void takeBelow(InputSet set) {
    if (below != null) {
      set.takeLevels(below.from(), below.to());
    }
  }

  /** The newest runs, as long as none is much larger than those before it together. */
  @Nullable InputSet newestAlike() {
    int from = 0;
    while (from < runs.size() && isBusy(from)) {
      from++;
    }
    int to = from;
    long bytes = 0;
    while (to < runs.size() && !isBusy(to)) {
      long next = runs.get(to).run().sizeBytes();
      if (to > from && (next > LARGER_RUN * bytes || bytes + next > maxInputBytes)) {
        break;
      }
      bytes += next;
      to++;
    }
    return to - from < 2
        ? null
        : neighbours(from, to).stream().max(Comparator.comparingInt(InputSet::groups)).orElse(null);
  }

  private boolean isBusy(int index) {
    return runs.get(index).run().elements().stream()
        .anyMatch(table -> busy.contains(table.fileNumber()));
  }

  /** The adjacent runs that rewrite least of the oldest for what is newer, if any may. */
  @Nullable InputSet cheapestWithin(double most) {
    InputSet best = null;
    double least = most;
    for (int from = 0; from < runs.size() - 1; from++) {
      for (int to = from + 2; to <= runs.size(); to++) {
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

  /**
   * Runs of which some adjacent ones could become one.
   *
   * @param from the newest
   * @param to one past the oldest
   * @param cost bytes to rewrite for each run that goes
   */
  private record Adjacent(int from, int to, double cost) {}

  /**
   * Adjacent runs that become fewer for the least bytes, while another merge goes on. None is
   * larger than the others together: so a byte is rewritten only where its run doubles.
   */
  @Nullable InputSet cheapestToGather() {
    int part = Math.max(FEWEST_OF_FEW, runs.size() / PART_OF_FEW);
    return cheapestToGather(Math.min(FEWEST_GATHERED, part));
  }

  /** The same, of many. */
  @Nullable InputSet cheapestOfMany() {
    return cheapestToGather(FEWEST_GATHERED);
  }

  private @Nullable InputSet cheapestToGather(int fewest) {
    long[] bytes = new long[runs.size()];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = freeBytes(i);
    }
    List<Adjacent> all = new ArrayList<>();
    for (int from = 0; from < bytes.length; from++) {
      long sum = 0;
      long largest = 0;
      int end = Math.min(bytes.length, from + MOST_GATHERED);
      for (int to = from; to < end && bytes[to] > 0; ) {
        sum += bytes[to];
        largest = Math.max(largest, bytes[to]);
        to++;
        if (to - from >= fewest && largest <= sum - largest) {
          all.add(new Adjacent(from, to, (double) sum / (to - from - 1)));
        }
      }
    }
    return all.stream()
        .sorted(Comparator.comparingDouble(Adjacent::cost))
        .limit(MOST_TRIED)
        .flatMap(each -> neighbours(each.from(), each.to()).stream())
        .filter(set -> set.groups() >= fewest)
        .filter(set -> set.upperBytes() <= maxInputBytes / GATHERED_PART)
        .findFirst()
        .orElse(null);
  }

  /** Bytes of a run that are in no merge. */
  private long freeBytes(int index) {
    return runs.get(index).run().elements().stream()
        .filter(table -> !busy.contains(table.fileNumber()))
        .mapToLong(SSTableMeta::sizeBytes)
        .sum();
  }

  /** What may be merged of adjacent runs, each with all that overlaps it there. */
  private List<InputSet> neighbours(int from, int to) {
    List<InputSet> sets = new ArrayList<>();
    int size = runs.get(from).run().size();
    for (int i = 0; i < size; ) {
      InputSet set = new InputSet(version, runs, busy);
      set.takeWithNeighbours(from, i, from, to);
      if (set.groups() > 1 && !set.blocked() && set.upperBytes() <= maxInputBytes) {
        sets.add(set);
      }
      i = set.next(from, i);
    }
    return sets;
  }
}
