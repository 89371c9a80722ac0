package io.isobardb.bench.soak;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.bench.Isobar;
import io.isobardb.cli.console.Progress.Watcher;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.option.Runs;
import io.isobardb.lsm.policy.TreeShape;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

class SoakTest {
  private static final long SEED = Long.getLong("isobar.seed", 20_261_121L);

  /** Enough operations to write more than a megabyte. */
  private static final long ENOUGH = 3_000;

  @TempDir Path temp;

  @Test
  void aShortSoakFindsNothingWrongAndLeavesNothing() throws Exception {
    Path dir = temp.resolve("store");
    List<String> lines = new ArrayList<>();
    SoakResult result;
    long millis = 3_000;
    do {
      // On a busy machine little is done in that time.
      SoakSpec spec = new SoakSpec(dir, millis, 16 << 20, 2, 3, 500, SEED, true, 1_000);
      result = SoakRun.run(spec, (line, done, all) -> lines.add(line));
      assertNull(result.wrong(), "seed " + SEED);
      millis *= 2;
    } while (result.operations() < ENOUGH);
    assertTrue(result.openings() > 1);
    if (OS.LINUX.isCurrentOs()) {
      assertTrue(
          result.mostSlabBytes() > 1 << 20, result.mostSlabBytes() + " bytes of slabs were seen");
    }
    assertFalse(lines.isEmpty());
    assertTrue(
        lines.stream().anyMatch(line -> line.contains("resident ") && line.contains("debt ")),
        lines.toString());
    assertEquals(result.heapAfterCloseBytes().size(), result.residentAfterCloseBytes().size());
    assertTrue(result.longestStallMillis() <= result.stallMillis() + 1);
    assertTrue(result.lastMergeDebtBytes() <= 16 << 20);
    assertTrue(result.largestDiskBytes() > 0);
    assertFalse(Files.exists(dir));
  }

  @Test
  void treesTakeAnyShapeThatIsDrawn() {
    SplittableRandom random = new SplittableRandom(SEED);
    Set<Runs> drawn = new HashSet<>();
    for (int i = 0; i < 500; i++) {
      TreeShape shape = SoakOptions.shape(random).check();
      drawn.add(shape.runs());
    }
    assertTrue(drawn.contains(Runs.leveled()), drawn.toString());
    assertTrue(drawn.contains(Runs.lazy(4)), drawn.toString());
    assertTrue(drawn.contains(Runs.tiered(4)), drawn.toString());
  }

  @Test
  void aSoakThatEndsBeforeItsFirstReportKnowsTheSizeOfItsFiles() throws Exception {
    Path dir = temp.resolve("store");
    SoakSpec spec = new SoakSpec(dir, 300, 16 << 20, 1, 1, 100, SEED, false, 3_600_000);
    assertTrue(SoakRun.run(spec, Watcher.NONE).largestDiskBytes() > 0);
  }

  @Test
  void aDirectoryThatHoldsSomethingIsRefusedAndLeftAlone() throws Exception {
    Path letter = Files.writeString(temp.resolve("letter.txt"), "Dear reader");
    SoakSpec spec = new SoakSpec(temp, 300, 16 << 20, 1, 1, 100, SEED, false, 1_000);
    assertThrows(IllegalArgumentException.class, () -> SoakRun.run(spec, Watcher.NONE));
    assertTrue(Files.exists(letter));
  }

  @Test
  void driftIsTheSlopeOfWhatWasMeasuredAfterTheFirst() {
    assertEquals(0, SoakRun.slope(List.of(), List.of()));
    assertEquals(0, SoakRun.slope(List.of(0.1, 0.2), List.of(100L, 5L)));
    assertEquals(
        20, SoakRun.slope(List.of(0.0, 1.0, 2.0, 4.0), List.of(9_999L, 50L, 70L, 110L)), 1e-9);
    assertEquals(
        0, SoakRun.slope(List.of(0.0, 1.0, 2.0, 3.0), List.of(9_999L, 50L, 70L, 50L)), 1e-9);
  }

  @Test
  void aWorkerNoticesALostWriteAndOneThatNobodyMade() {
    try (Store store =
        Store.open(temp.resolve("store"), StoreOptions.builder().memoryBudget(16 << 20).build())) {
      store.openTree(SoakWorker.treeName(0));
      store.openTree(SoakWorker.COUNTER_TREE);
      SoakWorker worker = new SoakWorker(0, 1, 50, SEED);
      for (int i = 0; i < 2_000; i++) {
        worker.step(store);
      }
      worker.verifyAll(store);
      SoakModel names = new SoakModel(0, 1, 50, SEED);
      byte[] lost = null;
      byte[] absent = null;
      for (int key = 0; key < 50; key++) {
        if (store.tree(SoakWorker.treeName(0)).get(names.key(key)) != null) {
          lost = names.key(key);
        } else {
          absent = names.key(key);
        }
      }
      assertNotNull(lost);
      assertNotNull(absent);
      byte[] before = store.tree(SoakWorker.treeName(0)).get(lost);
      store.tree(SoakWorker.treeName(0)).delete(lost);
      assertThrows(AssertionError.class, () -> worker.verifyAll(store));
      store.tree(SoakWorker.treeName(0)).put(lost, before);
      worker.verifyAll(store);
      store.tree(SoakWorker.treeName(0)).put(absent, new byte[3]);
      assertThrows(AssertionError.class, () -> worker.verifyAll(store));
      worker.release();
    }
  }

  @Test
  void wrongUsageIsRefused() throws Exception {
    assertEquals(2, Isobar.commandLine().execute("soak", "--memory", "1MB"));
    Path full = Files.createDirectories(temp.resolve("full"));
    Files.createFile(full.resolve("file"));
    assertEquals(
        2, Isobar.commandLine().execute("soak", "--duration", "1s", "--dir", full.toString()));
  }
}
