package io.isobardb.lsm.merge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.entry.VersionFilter;
import io.isobardb.lsm.merge.MergeChoice.Slot;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.option.Runs;
import io.isobardb.lsm.policy.L0Structure;
import io.isobardb.lsm.policy.MergeSelection;
import io.isobardb.lsm.policy.TreeShape;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.version.L0Limits;
import io.isobardb.lsm.version.Level;
import io.isobardb.lsm.version.Place;
import io.isobardb.lsm.version.Tables;
import io.isobardb.lsm.version.Version;
import io.isobardb.lsm.version.VersionEdit;
import io.isobardb.tuner.workload.LevelShares;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Flushes and merges carried out on SSTables that are maps, several merges at once, the write
 * memory changing: what reads find must be what was written last, and what snapshots find what had
 * been when they were taken.
 */
@Tag("any-jdk")
class MergeModelTest {
  private static final int KEYS = 300;
  private static final int TARGET_ENTRIES = 8;
  private static final long ENTRY_BYTES = 100;
  private static final long DELETED = -1;

  /** A version of a key. */
  private record Written(long lsn, boolean delete) {
    long value() {
      return delete ? DELETED : lsn;
    }
  }

  /** By file, then by key: the versions, newest first. */
  private final Map<Long, NavigableMap<Integer, List<Written>>> contents = new HashMap<>();

  /** By key: all that was written, by LSN. */
  private final Map<Integer, TreeMap<Long, Written>> history = new HashMap<>();

  private static final TreeMap<Long, Written> NOTHING = new TreeMap<>();

  private final ShownEntry entry = new ShownEntry();

  /** LSNs that somebody reads at. */
  private final TreeSet<Long> snapshots = new TreeSet<>();

  /** Who takes and closes snapshots: other draws stay as they were. */
  private SplittableRandom readers = new SplittableRandom(0);

  private final List<MergeChoice> running = new ArrayList<>();
  private SplittableRandom random = new SplittableRandom();
  private SplittableRandom losses = new SplittableRandom();
  private Version version = Version.empty(KeyOrder.BYTES);
  private MergePolicy policy = LevelingOptions.DEFAULT.policy();
  private L0Structure structure = L0Structure.GREEDY_GROUPED;
  private long memoryBytes = 2_000;
  private long batchBytes;

  /** What levels are planned to hold, and who draws that: other draws stay as they were. */
  private TreeShape shape = TreeShape.DEFAULT;

  private @Nullable LevelShares plan;

  private SplittableRandom plans = new SplittableRandom(0);
  private long clock;
  private long nextFile = 1;
  private final Map<MergeChoice.Kind, Integer> kinds = new HashMap<>();
  private int withinL0;
  private int gathered;
  private int toTiers;
  private int withinTiers;
  private int fromTiers;
  private int throughTiers;
  private int pastLevels;
  private int voided;
  private int wished;
  private int indebted;
  private int keptMarkers;

  @Test
  void readsFindTheNewestWhateverIsMerged() {
    for (long seed = 0; seed < Long.getLong("isobar.merge.seeds", 40); seed++) {
      run(seed);
    }
    assertTrue(indebted > 1000, indebted + " times merges were due");
    assertTrue(keptMarkers > 100, keptMarkers + " delete markers stayed for snapshots alone");
    if (policy instanceof PartitionedLeveling) {
      assertAllWasTried();
    }
  }

  /** Of {@link PartitionedLeveling}: another policy may do less. */
  private void assertAllWasTried() {
    // What range deletes hide is dropped without asking the policy.
    for (MergeChoice.Kind kind : EnumSet.complementOf(EnumSet.of(MergeChoice.Kind.DROP_TABLES))) {
      assertTrue(kinds.getOrDefault(kind, 0) > 10, kind + " was hardly chosen: " + kinds);
    }
    assertTrue(toTiers > 10, toTiers + " merges went to tiers");
    assertTrue(withinTiers > 10, withinTiers + " merges within tiers");
    assertTrue(fromTiers > 10, fromTiers + " merges left the tiers");
    assertTrue(throughTiers > 10, throughTiers + " merges of L0 took tiers along");
    assertTrue(withinL0 > 10, withinL0 + " merges within L0");
    assertTrue(gathered > 10, gathered + " merges within L0 beside another one of L0");
    assertTrue(pastLevels > 3, pastLevels + " merges of L0 went past a level");
    assertTrue(voided > 10, voided + " merges were given up");
    assertTrue(wished > 100, wished + " merges were done for reads");
  }

  private void run(long seed) {
    random = new SplittableRandom(seed);
    plans = new SplittableRandom(~seed);
    plan = null;
    readers = new SplittableRandom(seed + 1);
    losses = new SplittableRandom(seed + 2);
    structure = L0Structure.values()[(int) (seed % 3)];
    int start = 2 + random.nextInt(3);
    policy =
        new LevelingOptions(
                random.nextInt(3) == 0 ? 0 : 2 + random.nextInt(4),
                1 + random.nextDouble(),
                structure,
                MergeSelection.values()[random.nextInt(2)],
                new L0Limits(start, 8, 12),
                random.nextInt(3) == 0 ? 500L << random.nextInt(5) : 0,
                random.nextInt(4) != 0)
            .policy();
    shape = new TreeShape(Runs.leveled(), 1.01 + random.nextDouble());
    contents.clear();
    history.clear();
    snapshots.clear();
    version = Version.empty(KeyOrder.BYTES);
    for (int step = 0; step < 300; step++) {
      switch (random.nextInt(8)) {
        case 0, 1 -> flush();
        case 2, 3, 4 -> start(losses.nextInt(3) == 0);
        case 5, 6 -> finishOne();
        default -> {
          memoryBytes = random.nextInt(6) == 0 ? 200L << random.nextInt(7) : memoryBytes;
          batchBytes = random.nextInt(6) == 0 ? 100L << random.nextInt(9) : batchBytes;
          plan = plans.nextInt(6) == 0 ? drawPlan() : plan;
          shape = plans.nextInt(6) == 0 ? drawShape() : shape;
        }
      }
      takeAndClose();
      check("seed " + seed + ", step " + step);
    }
    do {
      while (!running.isEmpty()) {
        finishOne();
        check("seed " + seed + ", at the end");
      }
      start(false);
    } while (!running.isEmpty());
    assertTrue(version.groups().size() < start, "seed " + seed + " left " + version);
    assertEquals(0, debt(), "seed " + seed + " left " + version);
  }

  /** One to four levels of any sizes, or none. */
  private @Nullable LevelShares drawPlan() {
    List<Double> shares = new ArrayList<>(List.of(1.0));
    for (int levels = plans.nextInt(5); levels > 1; levels--) {
      shares.add(shares.get(shares.size() - 1) * (0.01 + 0.99 * plans.nextDouble()));
    }
    return plans.nextInt(3) == 0 ? null : new LevelShares(shares);
  }

  private TreeShape drawShape() {
    Runs runs =
        switch (plans.nextInt(5)) {
          case 0 -> Runs.leveled();
          case 1 -> Runs.of(3, 1, 1);
          case 2 -> Runs.tiered(2 + plans.nextInt(3));
          default -> Runs.lazy(2 + plans.nextInt(3));
        };
    return new TreeShape(runs, 1.2 + 2 * plans.nextDouble());
  }

  /** Takes a snapshot now and then, and closes one. */
  private void takeAndClose() {
    if (readers.nextInt(10) == 0 && snapshots.size() < 4) {
      snapshots.add(clock);
    }
    if (readers.nextInt(12) == 0 && !snapshots.isEmpty()) {
      snapshots.remove(new ArrayList<>(snapshots).get(readers.nextInt(snapshots.size())));
    }
  }

  /** New versions of random keys of a range. */
  private void flush() {
    TreeMap<Integer, List<Written>> entries = new TreeMap<>();
    int from = random.nextInt(KEYS);
    int to = random.nextBoolean() ? KEYS : Math.min(KEYS, from + 1 + random.nextInt(60));
    for (int n = 1 + random.nextInt(40); n > 0; n--) {
      int key = from + random.nextInt(to - from);
      clock++;
      Written written = new Written(clock, random.nextInt(3) == 0);
      entries.computeIfAbsent(key, any -> new ArrayList<>()).add(0, written);
      history.computeIfAbsent(key, any -> new TreeMap<>()).put(clock, written);
      if (readers.nextInt(200) == 0) {
        snapshots.add(clock);
      }
    }
    List<SSTableMeta> tables = write(filter(entries, key -> false));
    List<Place> places = version.place(structure, tables);
    VersionEdit.Builder edit = VersionEdit.of(1);
    for (int i = 0; i < tables.size(); i++) {
      edit.add(places.get(i), tables.get(i));
    }
    version = version.apply(edit.build());
  }

  /** Begins what the policy chooses, or else what reads are taken to have paid for. */
  private void start(boolean forReads) {
    MergeView view = view();
    MergeChoice choice = policy.choose(view);
    if (choice == null && forReads) {
      Map<Long, Double> pages = new HashMap<>();
      for (long file : contents.keySet()) {
        pages.put(file, (double) losses.nextInt(200));
      }
      List<MergeDown.Passed> paid =
          policy.paidFor(view, new ReadLosses(pages, 2 * (int) ENTRY_BYTES, 1, 1));
      choice = paid.isEmpty() ? null : policy.choose(view, paid.get(0));
      wished += choice == null ? 0 : 1;
    }
    if (choice != null) {
      kinds.merge(choice.kind(), 1, Integer::sum);
      withinL0 += choice.output().inL0() ? 1 : 0;
      gathered += choice.slot() == Slot.GATHER ? 1 : 0;
      countTiers(choice);
      pastLevels += choice.reason().contains("too much for L") ? 1 : 0;
      voided += choice.voids().size();
      running.removeAll(choice.voids());
      running.add(choice);
    }
  }

  private void countTiers(MergeChoice choice) {
    toTiers += choice.output().equals(Place.TIERS) ? 1 : 0;
    boolean takesTiers =
        choice.inputs().stream().anyMatch(input -> input.place().kind() == Place.Kind.TIER);
    throughTiers += choice.leavesL0() && takesTiers ? 1 : 0;
    if (!choice.inputs().isEmpty()
        && choice.inputs().get(0).place().kind() == Place.Kind.TIER
        && choice.kind() != MergeChoice.Kind.DROP_TABLES) {
      withinTiers += choice.output().kind() == Place.Kind.TIER ? 1 : 0;
      fromTiers += choice.output().isLevel() ? 1 : 0;
    }
  }

  private MergeView view() {
    List<MergeChoice> voidable = running.stream().filter(choice -> random.nextInt(4) > 0).toList();
    Set<Slot> free = EnumSet.noneOf(Slot.class);
    for (Slot slot : List.of(Slot.L0, Slot.DEEP)) {
      if (running.isEmpty() || random.nextInt(4) > 0) {
        free.add(slot);
      }
    }
    if (running.stream().anyMatch(MergeChoice::fromL0)) {
      free.add(Slot.GATHER);
    }
    return new MergeView(
        version,
        shape,
        memoryBytes,
        TARGET_ENTRIES * ENTRY_BYTES,
        batchBytes,
        plan,
        running,
        voidable,
        free);
  }

  private long debt() {
    return policy.debtBytes(view());
  }

  private void finishOne() {
    if (running.isEmpty()) {
      return;
    }
    MergeChoice choice = running.remove(random.nextInt(running.size()));
    TreeMap<Integer, List<Written>> merged = new TreeMap<>();
    for (MergeChoice.Input input : choice.inputs()) {
      for (SSTableMeta table : input.tables()) {
        contents
            .get(table.fileNumber())
            .forEach(
                (key, all) -> merged.computeIfAbsent(key, any -> new ArrayList<>()).addAll(all));
      }
    }
    List<SSTableMeta> output =
        choice.kind().rewrites()
            ? write(filter(merged, key -> choice.nothingBelow(version, key(key))))
            : List.of();
    version = version.apply(choice.edit(1, version, output));
  }

  /** What a merge keeps; the inputs' versions of a key stand newest first. */
  private NavigableMap<Integer, List<Written>> filter(
      NavigableMap<Integer, List<Written>> merged, IntPredicate bottommost) {
    long[] live = snapshots.stream().mapToLong(Long::longValue).toArray();
    VersionFilter filter = new VersionFilter(KeyOrder.BYTES, live);
    TreeMap<Integer, List<Written>> kept = new TreeMap<>();
    merged.forEach(
        (key, all) -> {
          boolean last = bottommost.test(key);
          for (Written written : all) {
            int kind = written.delete ? Kind.DELETE : Kind.PUT;
            if (filter.keep(entry.show(key(key), written.lsn, kind), last)) {
              kept.computeIfAbsent(key, any -> new ArrayList<>()).add(written);
              keptMarkers += last && written.delete ? 1 : 0;
            }
          }
        });
    return kept;
  }

  private List<SSTableMeta> write(NavigableMap<Integer, List<Written>> entries) {
    List<SSTableMeta> tables = new ArrayList<>();
    TreeMap<Integer, List<Written>> table = new TreeMap<>();
    for (Map.Entry<Integer, List<Written>> entry : entries.entrySet()) {
      table.put(entry.getKey(), entry.getValue());
      if (table.size() == TARGET_ENTRIES || entry.getKey().equals(entries.lastKey())) {
        long count = table.values().stream().mapToLong(List::size).sum();
        long deletes =
            table.values().stream().flatMap(List::stream).filter(Written::delete).count();
        tables.add(
            Tables.table(
                1,
                nextFile,
                key(table.firstKey()),
                key(table.lastKey()),
                count * ENTRY_BYTES,
                count,
                deletes));
        contents.put(nextFile++, table);
        table = new TreeMap<>();
      }
    }
    return tables;
  }

  /** The first run that holds a version which a reader sees must hold the newest such. */
  private void check(String when) {
    long debt = debt();
    assertTrue(debt >= 0 && debt <= version.sizeBytes(), when + ": a debt of " + debt);
    indebted += debt > 0 ? 1 : 0;
    List<Level<SSTableMeta>> runs = version.runs();
    // What a snapshot has lost stays lost: some looks are enough.
    Set<Long> read = readers.nextInt(6) == 0 ? snapshots : Set.of();
    for (int key = 0; key < KEYS; key++) {
      assertFound(runs, key, Long.MAX_VALUE, when);
      for (long snapshot : read) {
        assertFound(runs, key, snapshot, when);
      }
    }
  }

  private void assertFound(List<Level<SSTableMeta>> runs, int key, long lsn, String when) {
    Map.Entry<Long, Written> expected = history.getOrDefault(key, NOTHING).floorEntry(lsn);
    long wanted = expected == null ? DELETED : expected.getValue().value();
    long found = found(runs, key, lsn);
    if (found != wanted) {
      assertEquals(wanted, found, when + ", key " + key + " at " + lsn);
    }
  }

  private long found(List<Level<SSTableMeta>> runs, int key, long lsn) {
    byte[] bytes = key(key);
    for (Level<SSTableMeta> run : runs) {
      int i = run.find(bytes, 0, bytes.length);
      List<Written> all =
          i < 0 ? List.of() : contents.get(run.meta(i).fileNumber()).getOrDefault(key, List.of());
      for (Written written : all) {
        if (written.lsn <= lsn) {
          return written.value();
        }
      }
    }
    return DELETED;
  }

  private static byte[] key(int key) {
    return new byte[] {'k', 'e', 'y', (byte) (key >>> 8), (byte) key};
  }
}
