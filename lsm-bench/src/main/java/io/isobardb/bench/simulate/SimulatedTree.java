package io.isobardb.bench.simulate;

import io.isobardb.bench.simulate.StoreShape.Room;
import io.isobardb.lsm.component.ActiveUse;
import io.isobardb.lsm.merge.MergeChoice;
import io.isobardb.lsm.merge.MergePolicy;
import io.isobardb.lsm.merge.MergeView;
import io.isobardb.lsm.merge.OutputCuts;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.sstable.Packing;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.state.TreeWork;
import io.isobardb.lsm.version.Level;
import io.isobardb.lsm.version.Place;
import io.isobardb.lsm.version.Version;
import io.isobardb.lsm.version.VersionEdit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * One tree, entry by entry: sets of keys in memory, sorted arrays of keys for SSTables. The
 * engine's own policies say what is merged and where outputs end.
 *
 * <p>In memory, what is sealed counts as one run without old versions. Merges take no time.
 */
final class SimulatedTree {
  private static final int TREE_ID = 1;
  private static final int KEY_BYTES = 4;

  /** A filter takes an absent key for a present one with this probability. */
  private static final double FALSE_POSITIVES = 0.01;

  /** An active SSTable that was sealed: how far the sweep was, and where in the log it begins. */
  private record Sealed(long minLsn, long round, int sweep) {}

  private final StoreShape shape;
  private final TreeWork work = new TreeWork();
  private final int keys;
  private final MergePolicy policy;
  private final KeyBits active;
  private final KeyBits sealed;
  private final KeyBits merged;
  private final Deque<Sealed> runs = new ArrayDeque<>();
  private final Map<Long, int[]> contents = new HashMap<>();
  private final byte[] key = new byte[KEY_BYTES];
  private Version version = Version.empty(KeyOrder.BYTES);

  /** The keys of the output that was gathered last, and how many they are. */
  private int[] output = new int[1024];

  private int entriesTaken;
  private int activeEntries;
  private int sealedEntries;
  private long activeWrites;
  private long activeLsn;
  private boolean sliced;
  private int sweep = -1;
  private long round;
  private long nextFile = 1;
  private long flushed;
  private long withinL0;
  private long toTiers;
  private final long[] mergedTo = new long[Place.MAX_LEVELS];

  SimulatedTree(int keys, StoreShape shape) {
    this.shape = shape;
    this.keys = keys;
    this.policy = shape.leveling().policy();
    this.active = new KeyBits(keys);
    this.sealed = new KeyBits(keys);
    this.merged = new KeyBits(keys);
  }

  private Room room() {
    return shape.room();
  }

  long memoryBytes() {
    return (activeEntries + sealedEntries) * room().memoryEntryBytes();
  }

  /** Whether the tree had memory enough for slices when it was last flushed. */
  boolean sliced() {
    return sliced;
  }

  void setSliced(boolean large) {
    sliced = large;
  }

  private long slicedBytes() {
    return sliced ? memoryBytes() : 0;
  }

  /** The lowest LSN of what is in memory only; {@code Long.MAX_VALUE} if nothing is. */
  long minLsn() {
    Sealed oldest = runs.peekFirst();
    if (oldest != null) {
      return oldest.minLsn;
    }
    return activeEntries > 0 ? activeLsn : Long.MAX_VALUE;
  }

  /**
   * Puts a key.
   *
   * @param usedBytes what all trees have in memory
   * @return by how much that grew
   */
  long put(int id, long lsn, long usedBytes) {
    activeWrites++;
    if (!active.add(id)) {
      return 0;
    }
    if (activeEntries++ == 0) {
      activeLsn = lsn;
      activeWrites = 1;
    }
    long held = activeEntries * room().memoryEntryBytes();
    if (held >= room().activeBytes(slicedBytes()) && !mayGrow(held, usedBytes)) {
      long before = memoryBytes();
      seal();
      return room().memoryEntryBytes() + memoryBytes() - before;
    }
    return room().memoryEntryBytes();
  }

  private boolean mayGrow(long held, long usedBytes) {
    long written = activeWrites * room().memoryEntryBytes();
    boolean fits = version.tableCount() == 0;
    ActiveUse use = new ActiveUse(held, memoryBytes(), written, 0, fits, sliced);
    return !Room.SEALING.seals(use, usedBytes, room().writeBytes());
  }

  /** The active SSTable gets no more writes. */
  void seal() {
    if (activeEntries > 0) {
      runs.addLast(new Sealed(activeLsn, round, sweep));
      sealedEntries += sealed.takeAll(active);
      activeEntries = 0;
    }
  }

  boolean hasSealed() {
    return sealedEntries > 0;
  }

  /** Flushes all there is. */
  void flushAll(long recentBytes) {
    seal();
    sweep = -1;
    round++;
    while (hasSealed()) {
      flushSlice(recentBytes);
    }
  }

  /**
   * Flushes the next slice of what is sealed, and merges what there is to merge then.
   *
   * @param recentBytes the most memory that the tree held lately
   */
  void flushSlice(long recentBytes) {
    int first = sealed.next(sweep + 1);
    if (first < 0) {
      first = sealed.next(0);
      round++;
    }
    OutputCuts cuts = OutputCuts.inL0(version, room().sliceBytes(slicedBytes()));
    int next = take(sealed, first, keys - 1, cuts);
    int entries = entriesTaken;
    SSTableMeta table = table(entries);
    sealed.clear(first, output[entries - 1]);
    sealedEntries -= entries;
    flushed += entries;
    round += next < 0 ? 1 : 0;
    sweep = next < 0 ? -1 : output[entries - 1];
    while (!runs.isEmpty() && (sealedEntries == 0 || isPassed(runs.getFirst()))) {
      runs.removeFirst();
    }
    VersionEdit.Builder edit = VersionEdit.of(TREE_ID);
    edit.add(version.place(shape.leveling().l0(), List.of(table)).get(0), table);
    version = version.apply(edit.build());
    merge(recentBytes);
  }

  /** Whether the sweep has gone round since the run was sealed. */
  private boolean isPassed(Sealed run) {
    return round > run.round + 1 || round == run.round + 1 && sweep >= run.sweep;
  }

  private void merge(long recentBytes) {
    while (true) {
      long tableBytes =
          Room.SIZES.merged(room().writeBytes(), version.sizeBytes(), recentBytes, sliced);
      MergeChoice choice =
          policy.choose(
              new MergeView(
                  version,
                  shape.tree(),
                  recentBytes,
                  tableBytes,
                  shape.batches() ? work.batchBytes() : 0,
                  null,
                  List.of(),
                  List.of(),
                  Set.of(MergeChoice.Slot.L0, MergeChoice.Slot.DEEP)));
      if (choice == null) {
        return;
      }
      if (choice.leavesL0()) {
        work.leavesL0(version.l0Bytes());
      }
      long written = carryOut(choice, tableBytes);
      if (choice.leavesL0()) {
        work.leftL0(choice.inputBytes(), written, choice.l0Bytes(), choice.l0Groups());
      }
    }
  }

  private long carryOut(MergeChoice choice, long tableBytes) {
    List<SSTableMeta> outputs = new ArrayList<>();
    if (choice.kind().rewrites()) {
      for (MergeChoice.Input input : choice.inputs()) {
        for (SSTableMeta table : input.tables()) {
          for (int id : contents.remove(table.fileNumber())) {
            merged.add(id);
          }
        }
      }
      Place place = choice.output();
      OutputCuts cuts = OutputCuts.in(version, place, tableBytes);
      int first = id(choice.minKey());
      int last = id(choice.maxKey());
      for (int from = merged.next(first); from >= 0; ) {
        from = take(merged, from, last, cuts);
        outputs.add(table(entriesTaken));
        switch (place.kind()) {
          case GROUP -> withinL0 += entriesTaken;
          case TIER -> toTiers += entriesTaken;
          case LEVEL -> mergedTo[place.height()] += entriesTaken;
        }
      }
      merged.clear(first, last);
    }
    version = version.apply(choice.edit(TREE_ID, version, outputs));
    return outputs.stream().mapToLong(SSTableMeta::sizeBytes).sum();
  }

  /** Gathers an output from {@code first} on; where the next one begins, -1 if there is none. */
  private int take(KeyBits from, int first, int last, OutputCuts cuts) {
    encode(first);
    cuts.begin(key, KEY_BYTES);
    int count = 0;
    int id = first;
    do {
      if (count == output.length) {
        output = Arrays.copyOf(output, 2 * count);
      }
      output[count++] = id;
      id = from.next(id + 1);
      if (id < 0 || id > last) {
        entriesTaken = count;
        return -1;
      }
      encode(id);
    } while (!cuts.before(key, KEY_BYTES, count * room().entryBytes()));
    entriesTaken = count;
    return id;
  }

  private SSTableMeta table(int entries) {
    int[] ids = Arrays.copyOf(output, entries);
    long file = nextFile++;
    contents.put(file, ids);
    byte[] min = bytes(ids[0]);
    byte[] max = bytes(ids[entries - 1]);
    long size = entries * room().entryBytes();
    return new SSTableMeta(
        file,
        TREE_ID,
        1,
        entries,
        0,
        min,
        max,
        0,
        0,
        0,
        1,
        0,
        0,
        size,
        Packing.NONE,
        0,
        SSTableMeta.Expiring.NONE);
  }

  private void encode(int id) {
    key[0] = (byte) (id >>> 24);
    key[1] = (byte) (id >>> 16);
    key[2] = (byte) (id >>> 8);
    key[3] = (byte) id;
  }

  private byte[] bytes(int id) {
    encode(id);
    return key.clone();
  }

  private static int id(byte[] key) {
    return (key[0] & 0xFF) << 24 | (key[1] & 0xFF) << 16 | (key[2] & 0xFF) << 8 | (key[3] & 0xFF);
  }

  /**
   * Data pages that a point read takes from disk, without a cache.
   *
   * @throws IllegalStateException if the key is nowhere: it was not put, or was lost
   */
  double pagesOfRead(int id) {
    if (active.contains(id) || sealed.contains(id)) {
      return 0;
    }
    encode(id);
    double pages = 0;
    for (Level<SSTableMeta> run : version.runs()) {
      int i = run.find(key, 0, KEY_BYTES);
      if (i >= 0) {
        int[] ids = contents.get(run.meta(i).fileNumber());
        if (Arrays.binarySearch(ids, id) >= 0) {
          return pages + 1;
        }
        pages += FALSE_POSITIVES;
      }
    }
    throw new IllegalStateException("key " + id + " is neither in memory nor on disk");
  }

  /** From now on, what is written is counted anew. */
  void countAnew() {
    flushed = 0;
    withinL0 = 0;
    toTiers = 0;
    Arrays.fill(mergedTo, 0);
  }

  long flushed() {
    return flushed;
  }

  long withinL0() {
    return withinL0;
  }

  /** Entries that merges have written to tiers. */
  long toTiers() {
    return toTiers;
  }

  /** Entries that merges wrote to the level of this height. */
  long mergedTo(int height) {
    return mergedTo[height];
  }

  Version version() {
    return version;
  }
}
