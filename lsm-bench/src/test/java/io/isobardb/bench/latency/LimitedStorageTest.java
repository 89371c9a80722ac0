package io.isobardb.bench.latency;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.simulation.VirtualDevice;
import io.isobardb.memory.page.Memory;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

/** The device is never faster than its limits; how much slower it is lies with the machine. */
class LimitedStorageTest {
  private static final long BYTES_PER_SECOND = 50 << 20;
  private static final long SYNC_NANOS = 20_000_000;
  private static final int LENGTH = 512 << 10;

  private static final VirtualDevice.Limits LIMITS =
      new VirtualDevice.Limits(
          BYTES_PER_SECOND, BYTES_PER_SECOND, BYTES_PER_SECOND, 1_000_000, SYNC_NANOS);

  private final LimitedStorage storage =
      new LimitedStorage(new SimulatedStorage(new SimulatedClock()), LIMITS);

  private interface Io {
    void run() throws Exception;
  }

  private static void takesAtLeast(double seconds, Io io) throws Exception {
    long begin = System.nanoTime();
    io.run();
    double took = (System.nanoTime() - begin) / 1e9;
    // Waits of less than 0.2 ms are left out.
    assertTrue(took > seconds - 0.0005, took + " s instead of " + seconds);
  }

  @Test
  void readsAndWritesTogetherHaveTheBandwidth() throws Exception {
    Memory memory = new Memory(ByteBuffer.allocateDirect(LENGTH));
    try (DataFile file = storage.create("f", IoMode.DIRECT)) {
      double each = (double) LENGTH / BYTES_PER_SECOND;
      takesAtLeast(
          5 * each,
          () -> {
            for (int i = 0; i < 4; i++) {
              file.write((long) i * LENGTH, memory, 0, LENGTH);
            }
            file.read(0, memory, 0, LENGTH);
          });
    }
  }

  @Test
  void aSyncPaysForWhatIsBuffered() throws Exception {
    Memory memory = new Memory(ByteBuffer.allocateDirect(LENGTH));
    try (DataFile file = storage.create("f", IoMode.BUFFERED)) {
      file.write(0, memory, 0, LENGTH);
      takesAtLeast((double) LENGTH / BYTES_PER_SECOND + SYNC_NANOS / 1e9, file::sync);
      takesAtLeast(SYNC_NANOS / 1e9, file::sync);
      takesAtLeast(SYNC_NANOS / 1e9, storage::syncDirectory);
    }
  }

  @Test
  void anInterruptEndsNoWaitAndIsKept() throws Exception {
    try (DataFile file = storage.create("f", IoMode.BUFFERED)) {
      Thread.currentThread().interrupt();
      takesAtLeast(SYNC_NANOS / 1e9, file::sync);
      assertTrue(Thread.interrupted());
    }
  }
}
