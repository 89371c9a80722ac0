package io.isobardb.lsm.state;

import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.SimulatedStores.value;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedWorld;
import io.isobardb.lsm.sstable.Filter;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.version.Level;
import io.isobardb.lsm.version.Version;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Filters in a store: small levels have more bits per key, and all together have the mean. */
@Tag("any-jdk")
class FiltersByLevelTest {
  private static final int KEYS = 30_000;
  private static final int MEAN = 10;

  private static Version written(boolean byLevel, int bits) {
    StoreOptions.Builder options =
        StoreOptions.builder()
            .memoryBudget(4 << 20)
            .writeMemory(512 << 10)
            .memoryTuner(false)
            .pageSize(4096)
            .logLimit(4 << 20);
    ExperimentalOptions.set(options, e -> e.filtersByLevel(byLevel).levelSizeRatio(5));
    SimulatedWorld world = new SimulatedWorld(1);
    try (Store store = world.open(options.build())) {
      Tree tree = store.openTree("t", TreeOptions.builder().filterBitsPerKey(bits).build());
      SplittableRandom random = new SplittableRandom(1);
      for (int i = 0; i < 3 * KEYS; i++) {
        tree.put(key(random.nextInt(KEYS)), value(i, 250));
        world.background(4);
      }
      return Inside.handle(tree).states().current().version();
    }
  }

  private static double bits(List<Level<SSTableMeta>> runs) {
    long blocks = 0;
    long entries = 0;
    for (Level<SSTableMeta> run : runs) {
      for (SSTableMeta table : run.elements()) {
        blocks += table.filterBlocks();
        entries += table.entries();
      }
    }
    return (double) blocks * Filter.BLOCK * 8 / entries;
  }

  @Test
  void smallLevelsHaveMoreWithinTheMean() {
    Version version = written(true, MEAN);
    int levels = version.levelCount();
    assertTrue(levels >= 2, levels + " levels");
    double above = Double.POSITIVE_INFINITY;
    for (int level = 1; level <= levels; level++) {
      double here = bits(List.of(version.level(level)));
      assertTrue(here < above - 0.5, "L" + level + " has " + here + " below " + above);
      above = here;
    }
    assertTrue(above > 8 && above < MEAN, "the last level has " + above);
    // Whole blocks take a little more than the mean in both.
    double alike = bits(written(false, MEAN).runs());
    assertEquals(1, bits(version.runs()) / alike, 0.05);
  }

  @Test
  void allLevelsAreAlikeIfAsked() {
    Version version = written(false, MEAN);
    for (Level<SSTableMeta> run : version.runs()) {
      for (SSTableMeta table : run.elements()) {
        assertEquals(Filter.blocks(table.entries(), MEAN), table.filterBlocks());
      }
    }
  }

  @Test
  void aTreeWithoutFiltersHasNone() {
    assertEquals(0, bits(written(true, 0).runs()));
  }
}
