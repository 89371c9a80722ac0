package io.isobardb.lsm.merge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Flushes and merges carried out on SSTables that are maps, several merges at once, the write
 * memory changing: what reads find must be what was written last.
 */
@Tag("any-jdk")
class MergeModelTest {
  private static final int KEYS = 300;
  private static final int TARGET_ENTRIES = 8;
  private static final long ENTRY_BYTES = 100;
  private static final long DELETED = -1;

  private final Map<Long, NavigableMap<Integer, Long>> contents = new HashMap<>();
  private final Map<Integer, Long> expected = new HashMap<>();
  private final List<MergeChoice> running = new ArrayList<>();
  private SplittableRandom random = new SplittableRandom();
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
  private int toTiers;
  private int withinTiers;
  private int fromTiers;
  private int voided;
  private int indebted;

  @Test
  void readsFindTheNewestWhateverIsMerged() {
    for (long seed = 0; seed < Long.getLong("isobar.merge.seeds", 30); seed++) {
      run(seed);
    }
    // What range deletes hide is dropped without asking the policy.
    for (MergeChoice.Kind kind : EnumSet.complementOf(EnumSet.of(MergeChoice.Kind.DROP_TABLES))) {
      assertTrue(kinds.getOrDefault(kind, 0) > 10, kind + " was hardly chosen: " + kinds);
    }
    assertTrue(toTiers > 10, toTiers + " merges went to tiers");
    assertTrue(withinTiers > 10, withinTiers + " merges within tiers");
    assertTrue(fromTiers > 10, fromTiers + " merges left the tiers");
    assertTrue(withinL0 > 10, withinL0 + " merges within L0");
    assertTrue(voided > 10, voided + " merges were given up");
    assertTrue(indebted > 1000, indebted + " times merges were due");
  }

  private void run(long seed) {
    random = new SplittableRandom(seed);
    plans = new SplittableRandom(~seed);
    plan = null;
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
    expected.clear();
    version = Version.empty(KeyOrder.BYTES);
    for (int step = 0; step < 300; step++) {
      switch (random.nextInt(8)) {
        case 0, 1 -> flush();
        case 2, 3, 4 -> start();
        case 5, 6 -> finishOne();
        default -> {
          memoryBytes = random.nextInt(6) == 0 ? 200L << random.nextInt(7) : memoryBytes;
          batchBytes = random.nextInt(6) == 0 ? 100L << random.nextInt(9) : batchBytes;
          plan = plans.nextInt(6) == 0 ? drawPlan() : plan;
          shape = plans.nextInt(6) == 0 ? drawShape() : shape;
        }
      }
      check("seed " + seed + ", step " + step);
    }
    do {
      while (!running.isEmpty()) {
        finishOne();
        check("seed " + seed + ", at the end");
      }
      start();
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

  /** New versions of random keys of a range. */
  private void flush() {
    TreeMap<Integer, Long> entries = new TreeMap<>();
    int from = random.nextInt(KEYS);
    int to = random.nextBoolean() ? KEYS : Math.min(KEYS, from + 1 + random.nextInt(60));
    for (int n = 1 + random.nextInt(40); n > 0; n--) {
      int key = from + random.nextInt(to - from);
      clock++;
      entries.put(key, random.nextInt(3) == 0 ? -clock : clock);
    }
    entries.forEach((key, value) -> expected.put(key, value < 0 ? DELETED : value));
    List<SSTableMeta> tables = write(entries);
    List<Place> places = version.place(structure, tables);
    VersionEdit.Builder edit = VersionEdit.of(1);
    for (int i = 0; i < tables.size(); i++) {
      edit.add(places.get(i), tables.get(i));
    }
    version = version.apply(edit.build());
  }

  private void start() {
    MergeChoice choice = policy.choose(view());
    if (choice != null) {
      kinds.merge(choice.kind(), 1, Integer::sum);
      withinL0 += choice.output().inL0() ? 1 : 0;
      countTiers(choice);
      voided += choice.voids().size();
      running.removeAll(choice.voids());
      running.add(choice);
    }
  }

  private void countTiers(MergeChoice choice) {
    toTiers += choice.output().equals(Place.TIERS) ? 1 : 0;
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
    for (Slot slot : Slot.values()) {
      if (running.isEmpty() || random.nextInt(4) > 0) {
        free.add(slot);
      }
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
    TreeMap<Integer, Long> merged = new TreeMap<>();
    for (MergeChoice.Input input : choice.inputs()) {
      for (SSTableMeta table : input.tables()) {
        contents.get(table.fileNumber()).forEach(merged::putIfAbsent);
      }
    }
    boolean rewrites =
        choice.kind() == MergeChoice.Kind.MERGE || choice.kind() == MergeChoice.Kind.DRAIN_L1;
    if (rewrites) {
      merged
          .entrySet()
          .removeIf(
              entry -> entry.getValue() < 0 && choice.nothingBelow(version, key(entry.getKey())));
    }
    version = version.apply(choice.edit(1, version, rewrites ? write(merged) : List.of()));
  }

  private List<SSTableMeta> write(NavigableMap<Integer, Long> entries) {
    List<SSTableMeta> tables = new ArrayList<>();
    TreeMap<Integer, Long> table = new TreeMap<>();
    for (Map.Entry<Integer, Long> entry : entries.entrySet()) {
      table.put(entry.getKey(), entry.getValue());
      if (table.size() == TARGET_ENTRIES || entry.getKey().equals(entries.lastKey())) {
        long deletes = table.values().stream().filter(value -> value < 0).count();
        tables.add(
            Tables.table(
                1,
                nextFile,
                key(table.firstKey()),
                key(table.lastKey()),
                table.size() * ENTRY_BYTES,
                table.size(),
                deletes));
        contents.put(nextFile++, table);
        table = new TreeMap<>();
      }
    }
    return tables;
  }

  /** The first run that holds a key must hold its newest version. */
  private void check(String when) {
    long debt = debt();
    assertTrue(debt >= 0 && debt <= version.sizeBytes(), when + ": a debt of " + debt);
    indebted += debt > 0 ? 1 : 0;
    List<Level<SSTableMeta>> runs = version.runs();
    for (int key = 0; key < KEYS; key++) {
      byte[] bytes = key(key);
      Long found = null;
      for (Level<SSTableMeta> run : runs) {
        int i = run.find(bytes, 0, bytes.length);
        found = i < 0 ? null : contents.get(run.meta(i).fileNumber()).get(key);
        if (found != null) {
          break;
        }
      }
      long value = found == null || found < 0 ? DELETED : found;
      assertEquals(expected.getOrDefault(key, DELETED), value, when + ", key " + key);
    }
  }

  private static byte[] key(int key) {
    return new byte[] {'k', 'e', 'y', (byte) (key >>> 8), (byte) key};
  }
}
