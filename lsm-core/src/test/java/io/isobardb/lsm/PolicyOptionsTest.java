package io.isobardb.lsm;

import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.SimulatedStores.value;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.lsm.observe.StoreListener.FlushKind;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.option.Levels;
import io.isobardb.lsm.policy.FlushStrategy;
import io.isobardb.lsm.policy.L0Structure;
import io.isobardb.lsm.policy.MemoryComponent;
import io.isobardb.lsm.policy.WriteMemoryAllocation;
import io.isobardb.lsm.simulation.SimulatedWorld;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What the policies that a store can be given do in it. */
@Tag("any-jdk")
class PolicyOptionsTest {
  private static final int KEYS = 20_000;
  private static final int VALUE_BYTES = 200;

  private static StoreOptions.Builder options() {
    return StoreOptions.builder()
        .memoryBudget(8 << 20)
        .pageSize(4096)
        .backgroundThreads(2)
        .memoryTuner(false);
  }

  /** Writes keys at random and lets background work keep up; then all must be there. */
  private static void write(SimulatedWorld world, Tree tree, int writes) {
    SplittableRandom random = new SplittableRandom(11);
    int[] last = new int[KEYS];
    for (int i = 1; i <= writes; i++) {
      int k = random.nextInt(KEYS);
      last[k] = i;
      tree.put(key(k), value(i, VALUE_BYTES));
      world.background(4);
    }
    for (int k = 0; k < KEYS; k += 7) {
      if (last[k] > 0) {
        assertArrayEquals(value(last[k], VALUE_BYTES), tree.get(key(k)));
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "ROUND_ROBIN, false, PARTIAL",
    "OLDEST, false, OLDEST",
    "FULL, false, FULL",
    "ADAPTIVE, false, PARTIAL",
    "ROUND_ROBIN, true, PARTIAL",
    "OLDEST, true, OLDEST",
    "FULL, true, FULL",
    "ADAPTIVE, true, FULL",
    "BETA, false, PARTIAL",
    "BETA, true, FULL"
  })
  void theStrategySaysHowMuchOfATreeIsFlushed(
      FlushStrategy strategy, boolean shortLog, FlushKind expected) {
    SimulatedWorld world = new SimulatedWorld(5);
    Map<FlushKind, Integer> kinds = new EnumMap<>(FlushKind.class);
    StoreOptions options =
        ExperimentalOptions.set(options(), e -> e.flushStrategy(strategy))
            .logLimit(shortLog ? 2 << 20 : 64 << 20)
            .build();
    try (Store store = world.open(options)) {
      store.addListener(
          new StoreListener() {
            @Override
            public void onFlushed(Flush event) {
              kinds.merge(event.kind(), 1, Integer::sum);
            }
          });
      write(world, store.openTree("t"), 40_000);
      assertEquals(Set.of(expected), kinds.keySet());
      if (shortLog) {
        assertTrue(store.stats().logSizeBytes() < 2 * options.logLimit());
      }
    }
  }

  @Test
  void treesThatShareTheMemoryAreFlushedWholeAndOneThatHasItBySlices() {
    SimulatedWorld world = new SimulatedWorld(5);
    Map<String, Set<FlushKind>> kinds = new TreeMap<>();
    StoreOptions options = options().writeMemory(2 << 20).logLimit(64 << 20).build();
    try (Store store = world.open(options)) {
      store.addListener(
          new StoreListener() {
            @Override
            public void onFlushed(Flush event) {
              String trees = event.tree().substring(0, 4);
              kinds.computeIfAbsent(trees, of -> EnumSet.noneOf(FlushKind.class)).add(event.kind());
            }
          });
      Tree alone = store.openTree("alone");
      write(world, alone, 20_000);
      store.flush();
      kinds.clear();
      write(world, alone, 20_000);
      for (int i = 0; i < 40_000; i++) {
        store.openTree("many " + i % 5).put(key(i * 7919 % KEYS), value(i, VALUE_BYTES));
        world.background(4);
        StoreStats.TreeStats stats = store.stats().trees().get(1 + i % 5);
        assertTrue(stats.memoryRuns() <= 1, stats.toString());
      }
    }
    assertEquals(EnumSet.of(FlushKind.FULL), kinds.get("many"));
    assertTrue(kinds.get("alon").contains(FlushKind.PARTIAL), kinds.toString());
  }

  @ParameterizedTest
  @EnumSource(L0Structure.class)
  void theStructureSaysWhetherL0HasGroups(L0Structure structure) {
    SimulatedWorld world = new SimulatedWorld(5);
    StoreOptions options =
        ExperimentalOptions.set(options(), e -> e.l0Structure(structure))
            .logLimit(64 << 20)
            .build();
    boolean grouped = false;
    try (Store store = world.open(options)) {
      Tree tree = store.openTree("t");
      SplittableRandom random = new SplittableRandom(3);
      for (int i = 0; i < 40_000; i++) {
        tree.put(key(random.nextInt(KEYS)), value(i, VALUE_BYTES));
        world.background(4);
        if (i % 1000 == 0) {
          StoreStats.TreeStats stats = store.stats().trees().get(0);
          boolean onlyL0 = stats.levelBytes().stream().allMatch(bytes -> bytes == 0);
          grouped |= onlyL0 && stats.tables() > stats.l0Groups();
        }
      }
    }
    assertEquals(structure != L0Structure.ORIGINAL, grouped);
  }

  @Test
  void aMonolithicComponentIsOneTreeThatIsFlushedAsAWhole() {
    SimulatedWorld world = new SimulatedWorld(5);
    Set<FlushKind> kinds = EnumSet.noneOf(FlushKind.class);
    StoreOptions options =
        ExperimentalOptions.set(options(), e -> e.memoryComponent(MemoryComponent.MONOLITHIC))
            .logLimit(64 << 20)
            .build();
    try (Store store = world.open(options)) {
      store.addListener(
          new StoreListener() {
            @Override
            public void onFlushed(Flush event) {
              kinds.add(event.kind());
            }
          });
      Tree tree = store.openTree("t");
      long most = 0;
      int runs = 0;
      for (int i = 0; kinds.isEmpty(); i++) {
        tree.put(key(i * 7919 % KEYS), value(i, VALUE_BYTES));
        world.background(5);
        StoreStats.TreeStats stats = store.stats().trees().get(0);
        most = Math.max(most, stats.memoryBytes());
        runs = Math.max(runs, stats.memoryRuns());
      }
      // The one that is being flushed.
      assertEquals(1, runs);
      assertTrue(most > options.writeMemory() * 3 / 4, most + " bytes");
      write(world, tree, 40_000);
      assertEquals(Set.of(FlushKind.FULL), kinds);
      assertEquals(0, store.stats().memoryMerges());
      assertEquals(1, store.stats().trees().get(0).levelBytes().size());
    }
  }

  @ParameterizedTest
  @EnumSource(MemoryComponent.class)
  void staticSharesHoldUntilThereAreMoreTreesThanSharesThenTheyThrash(MemoryComponent component) {
    long perFlush = bytesPerFlush(component, 2, 2);
    long thrashing = bytesPerFlush(component, 2, 3);
    assertTrue(thrashing * 10 < perFlush, thrashing + " of " + perFlush + " bytes per flush");
  }

  /** Writes to some trees by turns, with so many shares. */
  private static long bytesPerFlush(MemoryComponent component, int shares, int trees) {
    SimulatedWorld world = new SimulatedWorld(5);
    StoreOptions options =
        ExperimentalOptions.set(
                options(),
                e ->
                    e.memoryComponent(component)
                        .writeMemoryAllocation(WriteMemoryAllocation.STATIC)
                        .staticTrees(shares))
            .logLimit(64 << 20)
            .build();
    try (Store store = world.open(options)) {
      List<Tree> written = new ArrayList<>();
      for (int t = 0; t < trees; t++) {
        written.add(store.openTree("t" + t));
      }
      StoreStats stats = store.stats();
      for (int writes = 0; stats.flushes() < 24; writes++) {
        Tree tree = written.get(writes % trees);
        int k = writes * 7919 % KEYS;
        if (writes / trees % 2 == 0) {
          tree.put(key(k), value(writes, VALUE_BYTES));
        } else {
          WriteBatch batch = store.newBatch();
          batch.put(tree, key(k), value(writes, VALUE_BYTES));
          store.write(batch);
        }
        assertArrayEquals(value(writes, VALUE_BYTES), tree.get(key(k)));
        if (writes % 100 == 99) {
          stats = store.stats();
          long held = 0;
          for (StoreStats.TreeStats of : stats.trees()) {
            held += of.memoryBytes() > 0 ? 1 : 0;
            assertTrue(of.memoryBytes() <= options.writeMemory() / shares + (64 << 10));
          }
          assertTrue(held <= shares, held + " trees hold memory");
        }
        world.background(3);
      }
      return stats.flushBytesWritten() / stats.flushes();
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"ACCORDION_INDEX", "ACCORDION_DATA"})
  void accordionMergesWhatIsSealedIntoOneAndFlushesAllOfIt(MemoryComponent component) {
    boolean data = component == MemoryComponent.ACCORDION_DATA;
    SimulatedWorld world = new SimulatedWorld(5);
    Set<FlushKind> kinds = EnumSet.noneOf(FlushKind.class);
    Set<Integer> outputs = new TreeSet<>();
    StoreOptions options =
        ExperimentalOptions.set(options(), e -> e.memoryComponent(component))
            .logLimit(64 << 20)
            .build();
    try (Store store = world.open(options)) {
      store.addListener(
          new StoreListener() {
            @Override
            public void onFlushed(Flush event) {
              kinds.add(event.kind());
            }

            @Override
            public void onMerged(Merge event) {
              if (event.kind() == MergeKind.MEMORY) {
                outputs.add(event.outputs());
                // An index is a small part of what it is over.
                assertEquals(data, event.bytesWritten() > event.bytesRead() / 8, event.toString());
              }
            }
          });
      write(world, store.openTree("t"), 40_000);
    }
    assertEquals(Set.of(FlushKind.FULL), kinds);
    assertEquals(Set.of(1), outputs);
  }

  @Test
  void staticLevelsAreManyForLittleWriteMemory() {
    assertTrue(levels("FIXED(64KB)") > levels("DYNAMIC"));
    assertEquals(1, levels("FIXED(1GB)"));
  }

  private static int levels(String levels) {
    SimulatedWorld world = new SimulatedWorld(5);
    Properties properties = new Properties();
    properties.setProperty("levels", levels);
    Levels read = StoreOptions.fromProperties(properties, "").levels();
    StoreOptions.Builder small = options().memoryBudget(4 << 20).writeMemory(1 << 20);
    try (Store store = world.open(small.levels(read).build())) {
      write(world, store.openTree("t"), 40_000);
      return store.stats().trees().get(0).levelBytes().size();
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "experiment.flushStrategy | round-robin | 'ROUND_ROBIN'",
        "experiment.flushStrategy | sometimes | known are ROUND_ROBIN, OLDEST, FULL, ADAPTIVE, BETA",
        "experiment.l0Structure | groupd | 'GROUPED'",
        "levels | dynamc | 'DYNAMIC'",
        "levels | fixed(lots) | is not a size",
        "levels | fixed(100) | 64KB of write memory or more, not for 100 bytes",
        "experiment.memoryComponent | monolith | 'MONOLITHIC'",
        "experiment.writeMemoryAllocation | statik | 'STATIC'",
        "experiment.staticTrees | 0 | must be at least 1",
        "experiment.flushPolicy | optimum | 'OPTIMAL'"
      })
  void unknownValuesAreRefusedWithASuggestion(String option, String value, String suggestion) {
    Properties properties = new Properties();
    properties.setProperty(option, value);
    IllegalArgumentException thrown =
        assertThrows(
            IllegalArgumentException.class, () -> StoreOptions.fromProperties(properties, ""));
    assertTrue(thrown.getMessage().contains(suggestion), thrown.getMessage());
    assertTrue(thrown.getMessage().contains(option), thrown.getMessage());
  }

  @Test
  void levelsForAlmostNoMemoryAreRefused() {
    assertTrue(
        assertThrows(IllegalArgumentException.class, () -> Levels.fixed(100))
            .getMessage()
            .contains("64KB of write memory or more, not for 100 bytes"));
  }

  @ParameterizedTest
  @CsvSource({"32768, 5, 40", "1048576, 0, 0"})
  void anActiveSSTableIsSealedAtTheSizeAskedFor(int size, int leastRuns, int mostRuns) {
    SimulatedWorld world = new SimulatedWorld(5);
    try (Store store =
        world.open(ExperimentalOptions.set(options(), e -> e.activeTableSize(size)).build())) {
      Tree tree = store.openTree("t");
      for (int i = 0; i < 1_500; i++) {
        tree.put(key(i), value(i, VALUE_BYTES));
      }
      int runs = store.stats().trees().get(0).memoryRuns();
      assertTrue(runs >= leastRuns && runs <= mostRuns, runs + " runs");
    }
  }

  @Test
  void anActiveSSTableHasSomePagesOfTheStoreWhateverThePageSizeOfTheOptions() {
    SimulatedWorld world = new SimulatedWorld(5);
    world.open(options().pageSize(65_536).build()).close();
    try (Store store =
        world.open(ExperimentalOptions.set(options(), e -> e.activeTableSize(32_768)).build())) {
      assertEquals(65_536, store.options().pageSize(), "of the store, not of the options");
      assertEquals(32_768, ExperimentalOptions.of(store.options()).activeTableSize());
      Tree tree = store.openTree("t");
      for (int i = 0; i < 40; i++) {
        tree.put(key(i), value(i, VALUE_BYTES));
      }
      assertEquals(0, store.stats().trees().get(0).memoryRuns());
    }
  }

  @Test
  void anActiveSSTableTooSmallOrTooLargeIsRefused() {
    StoreOptions.Builder small = options();
    assertTrue(
        assertThrows(
                IllegalArgumentException.class,
                () -> ExperimentalOptions.set(small, e -> e.activeTableSize(-1)))
            .getMessage()
            .startsWith("option experiment.activeTableSize: can't take '-1'"));
    for (int size : new int[] {1, 32_767, (2 << 20) + 1}) {
      StoreOptions.Builder options =
          ExperimentalOptions.set(
              options().writeMemory(8 << 20 >> 1), e -> e.activeTableSize(size));
      IllegalArgumentException e =
          assertThrows(IllegalArgumentException.class, options::build, "size " + size);
      assertTrue(
          e.getMessage().contains("activeTableSize must be 0, or from 32768 to"), e::getMessage);
    }
    assertEquals(
        32_768,
        ExperimentalOptions.of(
                ExperimentalOptions.set(options(), e -> e.activeTableSize(32_768)).build())
            .activeTableSize());
  }
}
