package io.isobardb.lsm.merge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.policy.TreeShape;
import io.isobardb.lsm.version.Place;
import io.isobardb.lsm.version.Tables;
import io.isobardb.lsm.version.Version;
import io.isobardb.lsm.version.VersionEdit;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class LevelTargetsTest {
  private static final long LAST_BYTES = 1_000_000;
  private final PartitionedLeveling policy = new PartitionedLeveling(LevelingOptions.DEFAULT);

  @Test
  void writeMemoryThatSwingsByLessThanTheDropFactorChangesTheLevelsOnce() {
    for (long seed = 0; seed < 50; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      Version version = treeOf(1 + random.nextInt(4));
      double low = LAST_BYTES / Math.pow(10, random.nextInt(1, 4)) * random.nextDouble(0.5, 2);
      version = settle(version, (long) low);
      int changes = 0;
      for (int i = 0; i < 100; i++) {
        long memory = (long) (low * random.nextDouble(1, 1.49));
        Version next = settle(version, memory);
        changes += next.levelCount() == version.levelCount() ? 0 : 1;
        version = next;
      }
      assertTrue(changes <= 1, "seed " + seed + ": the levels changed " + changes + " times");
    }
  }

  @Test
  void levelsFollowTheLogarithmOfDataOverWriteMemory() {
    assertEquals(1, settle(treeOf(1), LAST_BYTES / 9).levelCount());
    assertEquals(2, settle(treeOf(1), LAST_BYTES / 99).levelCount());
    assertEquals(3, settle(treeOf(1), LAST_BYTES / 999).levelCount());
    assertEquals(1, settle(treeOf(4), LAST_BYTES / 6).levelCount());
  }

  private Version settle(Version from, long memoryBytes) {
    Version version = from;
    for (int i = 0; i < 10; i++) {
      MergeChoice choice =
          policy.choose(new MergeView(version, TreeShape.DEFAULT, memoryBytes, 100, List.of()));
      if (choice == null) {
        return version;
      }
      version = version.apply(choice.edit(1, version, List.of()));
    }
    throw new AssertionError("the levels never settle: " + version);
  }

  private static Version treeOf(int levels) {
    return Version.of(
        KeyOrder.BYTES,
        levels,
        List.of(new VersionEdit.Added(Place.level(0), Tables.table(1, "a", "z", LAST_BYTES))));
  }
}
