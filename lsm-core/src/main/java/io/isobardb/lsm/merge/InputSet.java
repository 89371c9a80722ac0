package io.isobardb.lsm.merge;

import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.version.Level;
import io.isobardb.lsm.version.Place;
import io.isobardb.lsm.version.PlacedRun;
import io.isobardb.lsm.version.Version;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Set;

/**
 * SSTables on their way into one merge. One of several runs that overlap, as the groups of L0 and
 * the tiers do, never comes without its elders: all that overlap it in strictly older runs, and
 * theirs. Otherwise an older version, left behind there, would hide the newer one now below.
 *
 * <p>Below these runs, what overlaps the set's key range in the levels from the highest one taken
 * to the output level comes too.
 */
final class InputSet {
  private final Version version;
  private final List<PlacedRun> runs;
  private final KeyOrder order;
  private final Set<Long> busy;
  private final BitSet[] taken; // by run, newest first
  private byte[] minKey = new byte[0];
  private byte[] maxKey = new byte[0];
  private boolean any;
  private boolean blocked;
  private long upperBytes;
  private final List<MergeChoice.Input> lower = new ArrayList<>();
  private int lowerFrom;

  /**
   * @param runs those that overlap each other, newest first: groups of L0, or tiers
   * @param busy numbers of the files that are in merges
   */
  InputSet(Version version, List<PlacedRun> runs, Set<Long> busy) {
    this.version = version;
    this.runs = runs;
    this.order = version.order();
    this.busy = busy;
    this.taken = new BitSet[runs.size()];
    for (int i = 0; i < taken.length; i++) {
      taken[i] = new BitSet();
    }
  }

  private InputSet(InputSet other) {
    version = other.version;
    runs = other.runs;
    order = other.order;
    busy = other.busy;
    taken = new BitSet[other.taken.length];
    for (int i = 0; i < taken.length; i++) {
      taken[i] = (BitSet) other.taken[i].clone();
    }
    minKey = other.minKey;
    maxKey = other.maxKey;
    any = other.any;
    blocked = other.blocked;
    upperBytes = other.upperBytes;
  }

  /** A copy, before anything of the levels was taken. */
  InputSet copy() {
    if (!lower.isEmpty()) {
      throw new IllegalStateException("levels were taken");
    }
    return new InputSet(this);
  }

  /** A copy that takes what overlaps in one level more. */
  InputSet withLevel(int height) {
    InputSet copy = new InputSet(this);
    copy.lower.addAll(lower);
    copy.lowerFrom = lowerFrom;
    copy.takeLevels(height, height);
    return copy;
  }

  /** Takes the {@code i}th SSTable of a run, with its elders. */
  void takeWithElders(int group, int i) {
    takeWithElders(group, i, taken.length);
  }

  /**
   * Takes the {@code i}th SSTable of a run, with its elders in some of the runs.
   *
   * @param end one past the oldest of them
   */
  void takeWithElders(int group, int i, int end) {
    Level<SSTableMeta> run = runs.get(group).run();
    byte[] low = run.meta(i).minKey();
    byte[] high = run.meta(i).maxKey();
    take(group, run, i);
    for (int older = group + 1; older < end; older++) {
      Level<SSTableMeta> olderRun = runs.get(older).run();
      int from = olderRun.from(low, 0, low.length);
      int to = from + olderRun.overlapping(low, high).size();
      for (int j = from; j < to; j++) {
        take(older, olderRun, j);
        low = min(low, olderRun.meta(j).minKey());
        high = max(high, olderRun.meta(j).maxKey());
      }
    }
  }

  /**
   * Takes the {@code i}th SSTable of a group, and of the groups between two all that overlap it,
   * and theirs: what is left there overlaps nothing of the set.
   *
   * @param from the newest group
   * @param to one past the oldest
   */
  void takeWithNeighbours(int group, int i, int from, int to) {
    take(group, runs.get(group).run(), i);
    long before;
    do {
      before = upperBytes;
      for (int other = from; other < to; other++) {
        Level<SSTableMeta> run = runs.get(other).run();
        int first = run.from(minKey, 0, minKey.length);
        int end = first + run.overlapping(minKey, maxKey).size();
        for (int j = first; j < end; j++) {
          take(other, run, j);
        }
      }
    } while (upperBytes > before);
  }

  private void take(int group, Level<SSTableMeta> run, int i) {
    if (!taken[group].get(i)) {
      taken[group].set(i);
      upperBytes += run.meta(i).sizeBytes();
      cover(run.meta(i));
    }
  }

  /** Takes one SSTable of a level, to be merged into the next one. */
  void takeOne(int height, SSTableMeta table) {
    upperBytes += table.sizeBytes();
    cover(table);
    lower.add(new MergeChoice.Input(Place.level(height), List.of(table)));
    lowerFrom = lower.size();
  }

  /** Takes what overlaps, from the level at one height down to another, and the latter last. */
  void takeLevels(int fromHeight, int toHeight) {
    for (int height = fromHeight; height >= toHeight; height--) {
      List<SSTableMeta> tables = version.atHeight(height).overlapping(minKey, maxKey);
      if (!tables.isEmpty()) {
        tables.forEach(this::cover);
        lower.add(new MergeChoice.Input(Place.level(height), List.copyOf(tables)));
      }
    }
  }

  private void cover(SSTableMeta table) {
    minKey = any ? min(minKey, table.minKey()) : table.minKey();
    maxKey = any ? max(maxKey, table.maxKey()) : table.maxKey();
    any = true;
    blocked |= busy.contains(table.fileNumber());
  }

  /** Whether an SSTable of the set is in another merge. */
  boolean blocked() {
    return blocked;
  }

  byte[] minKey() {
    return minKey;
  }

  byte[] maxKey() {
    return maxKey;
  }

  /** Bytes that come down: of the runs that overlap, or of the one SSTable. */
  long upperBytes() {
    return upperBytes;
  }

  /** Bytes that were taken of a run. */
  long bytesOf(int group) {
    Level<SSTableMeta> run = runs.get(group).run();
    return taken[group].stream().mapToLong(i -> run.meta(i).sizeBytes()).sum();
  }

  /** How many of the runs SSTables were taken of. */
  int groups() {
    return (int) Arrays.stream(taken).filter(set -> !set.isEmpty()).count();
  }

  /** Bytes that are rewritten to let them in. */
  long lowerBytes() {
    long bytes = 0;
    for (MergeChoice.Input input : lower.subList(lowerFrom, lower.size())) {
      bytes += input.sizeBytes();
    }
    return bytes;
  }

  /** Bytes that are rewritten for each one that comes down. */
  double lowerShare() {
    return lowerBytes() / (double) upperBytes;
  }

  /** Bytes of the oldest of the runs that SSTables were taken of. */
  long oldestBytes() {
    int oldest = taken.length - 1;
    while (taken[oldest].isEmpty()) {
      oldest--;
    }
    return bytesOf(oldest);
  }

  /** The first SSTable of a group behind the {@code i}th that was not taken. */
  int next(int group, int i) {
    return taken[group].nextClearBit(i);
  }

  /** All inputs, newest first. */
  List<MergeChoice.Input> inputs() {
    List<MergeChoice.Input> inputs = new ArrayList<>();
    for (int group = 0; group < taken.length; group++) {
      if (!taken[group].isEmpty()) {
        PlacedRun of = runs.get(group);
        inputs.add(
            new MergeChoice.Input(
                of.place(), taken[group].stream().mapToObj(of.run()::meta).toList()));
      }
    }
    inputs.addAll(lower);
    return inputs;
  }

  private byte[] min(byte[] a, byte[] b) {
    return order.compare(a, 0, a.length, b, 0, b.length) <= 0 ? a : b;
  }

  private byte[] max(byte[] a, byte[] b) {
    return order.compare(a, 0, a.length, b, 0, b.length) >= 0 ? a : b;
  }
}
