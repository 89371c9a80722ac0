package io.isobardb.lsm.tuning;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.schedule.Watched;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.tuner.memory.Decision;
import io.isobardb.tuner.memory.DecisionText;
import io.isobardb.tuner.memory.MemoryTuner;
import io.isobardb.tuner.memory.StoreCycle;
import io.isobardb.tuner.memory.TreeCycle;
import io.isobardb.tuner.memory.TunerHistory;
import io.isobardb.tuner.memory.TunerOptions;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

/** Files of the memory tuner that it never wrote: it may start afresh, and must go on. */
class TunerFuzzTest {
  private static final long BUDGET = 64 << 20;

  /** The file as it comes. */
  @FuzzTest(maxDuration = "10m")
  void file(byte[] content) throws IOException {
    Watched.input("file", content, () -> fileOf(content));
  }

  private void fileOf(byte[] content) throws IOException {
    SimulatedStorage disk = new SimulatedStorage();
    try (DataFile file = disk.create(TunerFile.NAME, IoMode.BUFFERED)) {
      if (content.length > 0) {
        Memory memory = new Memory(ByteBuffer.allocateDirect(content.length).put(0, content));
        file.write(0, memory, 0, content.length);
      }
    }
    PagePool pool = new PagePool(1 << 20, 4096);
    try {
      TunerFile file = new TunerFile(disk, pool);
      TunerHistory history = file.read();
      for (Decision decision : history.decisions()) {
        assertEquals(decision, DecisionText.parse(DecisionText.write(decision)));
      }
      goesOn(history, file);
    } finally {
      pool.close();
    }
  }

  private static void goesOn(TunerHistory before, TunerFile file) {
    TunerHistory history = before;
    TunerOptions options = TunerOptions.DEFAULT;
    for (int i = 0; i < 4; i++) {
      TreeCycle tree =
          new TreeCycle(1, 1000 << 10, 2000 << 10, 900 << 10, 0, 3, 0.3, 1e-4, 1 << 30, 0, 1, 0);
      StoreCycle seen =
          new StoreCycle(
              history.nextCycle(),
              BUDGET,
              BUDGET / 2,
              4096,
              1000,
              700,
              200,
              50,
              5,
              4 << 20,
              List.of(tree));
      history = new MemoryTuner(options).decide(history, seen);
      Decision last = history.last();
      assertNotNull(last);
      assertTrue(last.toBytes() >= options.minWriteBytes(seen), "to " + last.toBytes());
      assertTrue(last.toBytes() <= options.maxWriteBytes(seen), "to " + last.toBytes());
      file.append(last);
      assertEquals(last, file.read().last());
    }
  }
}
