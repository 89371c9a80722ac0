package io.isobardb.lsm.tuning;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.simulation.CrashMode;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import io.isobardb.tuner.memory.Decision;
import io.isobardb.tuner.memory.MemoryTuner;
import io.isobardb.tuner.memory.StoreCycle;
import io.isobardb.tuner.memory.TreeCycle;
import io.isobardb.tuner.memory.TunerHistory;
import io.isobardb.tuner.memory.TunerOptions;
import io.isobardb.tuner.shape.ShapeDecision;
import io.isobardb.tuner.shape.ShapeProgress;
import io.isobardb.tuner.workload.LevelDecision;
import io.isobardb.tuner.workload.LevelProgress;
import io.isobardb.tuner.workload.LevelProgress.Stage;
import io.isobardb.tuner.workload.LevelShares;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class TunerFileTest {
  private final PagePool pool = new PagePool(1 << 20, 4096);
  private final SimulatedStorage storage = new SimulatedStorage();
  private TunerHistory decided = TunerHistory.EMPTY;

  @AfterEach
  void allMemoryIsGivenBack() {
    assertEquals(0, pool.ledger().bytes(Purpose.METADATA));
    pool.close();
  }

  private Decision decide(int trees) {
    long cycle = decided.decisions().size() + 1L;
    List<TreeCycle> all =
        LongStream.range(0, trees)
            .mapToObj(
                id -> new TreeCycle(id, 1000, 2000, 900, 0, 3, 0.3 / trees, 1e-4, 1 << 30, 0, 1, 0))
            .toList();
    decided =
        new MemoryTuner(TunerOptions.DEFAULT)
            .decide(
                decided,
                new StoreCycle(
                    cycle, 64 << 20, 32 << 20, 4096, 1000, 700, 200, 50, 5, 4 << 20, all));
    return Objects.requireNonNull(decided.last());
  }

  @Test
  void whatIsAppendedIsReadAgainByTheNextSession() {
    for (int session = 0; session < 3; session++) {
      TunerFile file = new TunerFile(storage, pool);
      assertEquals(decided, file.read());
      for (int i = 0; i < 4; i++) {
        file.append(decide(2));
      }
      assertEquals(decided, file.read());
    }
  }

  @Tag("deep")
  @Test
  void theFileStaysSmallAndKeepsTheNewest() throws Exception {
    TunerFile file = new TunerFile(storage, pool);
    for (int trees : new int[] {0, 1, 100, 3000, 100, 30_000, 100, 1000}) {
      for (int i = 0; i < 8; i++) {
        Decision decision = decide(trees);
        file.append(decision);
        try (DataFile opened = storage.open(TunerFile.NAME, IoMode.BUFFERED)) {
          assertTrue(opened.size() <= 256 << 10, opened.size() + " bytes");
        }
        if (trees <= 1000) {
          assertEquals(decision, file.read().last());
        }
      }
    }
    assertFalse(storage.exists("TUNER.tmp"));
    assertEquals(0, storage.openFiles());
  }

  /** A plan for a tree is decided once, and memory is divided anew each minute. */
  @Test
  void theLastPlanAndTheLastRunsOfATreeStay() {
    TunerFile file = new TunerFile(storage, pool);
    for (int tree = 1; tree <= 2; tree++) {
      file.append(plan(tree, 0.5));
      file.append(plan(tree, 0.25 / tree));
      file.append(runs(tree, "LEVELED"));
      file.append(runs(tree, "LAZY(4)"));
    }
    List<LevelDecision> plans = List.of(plan(1, 0.25), plan(2, 0.125));
    List<ShapeDecision> runs = List.of(runs(1, "LAZY(4)"), runs(2, "LAZY(4)"));
    for (int trees : new int[] {10, 10, 10, 2_000}) {
      for (int i = 0; i < 300; i++) {
        file.append(decide(trees));
      }
    }
    file.append(decide(1));
    assertTrue(file.readLevels().containsAll(plans), file.readLevels().toString());
    assertTrue(file.readShapes().containsAll(runs), file.readShapes().toString());
    assertEquals(decided.last(), file.read().last());
  }

  private static LevelDecision plan(int tree, double share) {
    LevelShares plan = new LevelShares(List.of(1.0, share));
    LevelProgress kept = new LevelProgress(Stage.RESTING, plan, null, null, 1, 1, 1, 0, 3);
    return new LevelDecision(7, tree, LevelDecision.Action.KEEP, 1, 1, 1, "it is good", kept);
  }

  private static ShapeDecision runs(int tree, String runs) {
    return new ShapeDecision(
        7, tree, ShapeDecision.Action.KEEP, runs, runs, 1, 1, 1, 0, "good", ShapeProgress.START);
  }

  @Test
  void aTornLineCostsOnlyItself() throws Exception {
    TunerFile file = new TunerFile(storage, pool);
    Decision first = decide(1);
    file.append(first);
    file.append(decide(1));
    try (DataFile opened = storage.open(TunerFile.NAME, IoMode.BUFFERED)) {
      opened.truncate(opened.size() - 30);
    }
    TunerFile next = new TunerFile(storage, pool);
    assertEquals(1, next.read().decisions().size());
    Decision third = decide(1);
    next.append(third);
    assertEquals(2, next.read().decisions().size());
    assertEquals(third, next.read().last());
  }

  @Test
  void whateverACrashLeavesIsReadWithoutAnError() {
    TunerFile file = new TunerFile(storage, pool);
    for (int i = 0; i < 300; i++) {
      file.append(decide(10));
      if (i % 10 == 0) {
        for (CrashMode mode : CrashMode.values()) {
          SimulatedStorage crashed = storage.crash(new SplittableRandom(i), mode);
          TunerFile found = new TunerFile(crashed, pool);
          found.read();
          found.append(Objects.requireNonNull(decided.last()));
        }
      }
    }
  }
}
