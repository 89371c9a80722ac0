package io.isobardb.lsm.merge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.option.Runs;
import io.isobardb.lsm.policy.TreeShape;
import io.isobardb.lsm.version.Place;
import io.isobardb.lsm.version.Tables;
import io.isobardb.lsm.version.Version;
import io.isobardb.lsm.version.VersionEdit;
import java.util.List;
import java.util.Set;
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

  @Test
  void whatSizesCostFollowsFromThem() {
    // L0 delivers a hundredth in the mean, and 1.6 times that from a column of four groups.
    LevelCosts leveled = costs(treeOf(1), Runs.leveled(), LAST_BYTES / 100);
    assertEquals(100 / 1.6, leveled.written(), 1);
    assertEquals(1, leveled.space(), 1e-9);
    // A quarter for tiers: a column goes down with 1.1 times that, and 1.5 of the runs from L0. Two
    // halves of it come in 20 times the requests that L0 takes.
    double first = -Math.log(1 - 0.016);
    double half = -Math.log(1 - (1.1 * 0.25 + 1.5 * 0.016) / 2);
    double kept = (0.016 / first + (1.1 * 0.25 + 1.5 * 0.016) / 2 / half) / 2;
    double merged = 1 - 1.5 * first / (2 * half);
    for (int runs : new int[] {2, 4, 16}) {
      LevelCosts lazy = costs(treeOf(1), Runs.lazy(runs), LAST_BYTES / 100);
      double climbed = Math.log(2 * half / first) / Math.log(runs + 1) * merged * kept;
      double written = 0.016 / first + climbed + 1 / (2 * half);
      assertEquals(written * first / 0.016, lazy.written(), 0.001, "runs: " + runs);
      assertEquals(1.25, lazy.space(), 1e-3);
    }
    // Two levels below tiers: more space for tiers, but each byte passes both.
    LevelCosts list = costs(treeOf(2), Runs.of(4, 1, 1), LAST_BYTES / 100);
    assertEquals(1.25, list.space(), 1e-3);
    assertTrue(list.written() > costs(treeOf(1), Runs.lazy(4), LAST_BYTES / 100).written());
  }

  @Test
  void tiersHaveNoMoreRunsThanWhatL0DeliversFitsIntoThem() {
    assertEquals(Runs.lazy(32), tierRuns(Runs.lazy(32), LAST_BYTES / 200));
    assertEquals(Runs.lazy(25), tierRuns(Runs.lazy(32), LAST_BYTES / 100));
    assertEquals(Runs.lazy(4), tierRuns(Runs.lazy(4), LAST_BYTES / 20));
    assertEquals(Runs.of(5, 4, 1), tierRuns(Runs.of(8, 4, 1), LAST_BYTES / 20));
    assertEquals(Runs.lazy(2), tierRuns(Runs.lazy(8), LAST_BYTES / 9));
    assertEquals(Runs.leveled(), tierRuns(Runs.leveled(), LAST_BYTES / 20));
  }

  private static Runs tierRuns(Runs runs, long batchBytes) {
    return new LevelTargets(LevelingOptions.DEFAULT, view(treeOf(1), runs, batchBytes)).tierRuns();
  }

  private LevelCosts costs(Version version, Runs runs, long batchBytes) {
    return policy.expected(view(version, runs, batchBytes));
  }

  private static MergeView view(Version version, Runs runs, long batchBytes) {
    return new MergeView(
        version,
        new TreeShape(runs, 1.25),
        100,
        100,
        batchBytes,
        null,
        List.of(),
        List.of(),
        Set.of(MergeChoice.Slot.values()));
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
