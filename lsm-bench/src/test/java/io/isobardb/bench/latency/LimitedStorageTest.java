package io.isobardb.bench.latency;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.simulation.DeviceStorage;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.simulation.VirtualDevice;
import io.isobardb.memory.page.Memory;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

/** A limited device beside a clock that moves on as somebody waits. */
class LimitedStorageTest {
  private static final long BYTES_PER_SECOND = 50 << 20;
  private static final long SYNC_NANOS = 20_000_000;
  private static final int LENGTH = 512 << 10;

  /** What {@link #LENGTH} takes. */
  private static final long TRANSFER_NANOS = 10_000_000;

  private static final long BELOW_NANOS = 1_500_000;

  /** More than a piece takes. */
  private static final long LATE_NANOS = 3_000_000;

  private static final VirtualDevice.Limits LIMITS =
      new VirtualDevice.Limits(
          BYTES_PER_SECOND, BYTES_PER_SECOND, BYTES_PER_SECOND, 1_000_000, SYNC_NANOS);

  private final SimulatedClock clock = new SimulatedClock();
  private final LimitedStorage storage =
      new LimitedStorage(
          new SimulatedStorage(new SimulatedClock()), LIMITS, clock::nanos, clock::advance);
  private final Memory memory = new Memory(ByteBuffer.allocateDirect(LENGTH));

  private interface Io {
    void run() throws Exception;
  }

  private void takes(long nanos, Io io) throws Exception {
    long begin = clock.nanos();
    io.run();
    // Parts of a nanosecond are lost with each piece.
    assertEquals(nanos, clock.nanos() - begin, 100);
  }

  @Test
  void readsAndWritesTogetherHaveTheBandwidth() throws Exception {
    try (DataFile file = storage.create("f", IoMode.DIRECT)) {
      takes(
          5 * TRANSFER_NANOS,
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
    try (DataFile file = storage.create("f", IoMode.BUFFERED)) {
      takes(0, () -> file.write(0, memory, 0, LENGTH));
      takes(TRANSFER_NANOS + SYNC_NANOS, file::sync);
      takes(SYNC_NANOS, file::sync);
      takes(SYNC_NANOS, storage::syncDirectory);
    }
  }

  @Test
  void shortWaitsAreMadeUpForByLaterOnes() throws Exception {
    try (DataFile file = storage.create("f", IoMode.DIRECT)) {
      takes(0, () -> file.write(0, memory, 0, DataFile.BLOCK));
      takes(
          TRANSFER_NANOS + TRANSFER_NANOS * DataFile.BLOCK / LENGTH,
          () -> file.write(0, memory, 0, LENGTH));
    }
  }

  @Test
  void theTimeOfTheStorageBelowIsNotAddedToTheDevices() throws Exception {
    LimitedStorage above =
        new LimitedStorage(
            new DeviceStorage(new SimulatedStorage(new SimulatedClock())) {
              @Override
              protected void transfer(VirtualDevice.Kind kind, long bytes) {
                clock.advance(BELOW_NANOS);
              }
            },
            LIMITS,
            clock::nanos,
            clock::advance);
    try (DataFile file = above.create("f", IoMode.DIRECT)) {
      takes(TRANSFER_NANOS, () -> file.write(0, memory, 0, LENGTH));
      takes(TRANSFER_NANOS, () -> file.read(0, memory, 0, LENGTH));
      takes(SYNC_NANOS, file::sync);
    }
  }

  /** A thread sleeps too long: what it does then is no slower for that. */
  @Test
  void sleepsThatEndLateCostNoBandwidth() throws Exception {
    LimitedStorage late =
        new LimitedStorage(
            new SimulatedStorage(new SimulatedClock()),
            LIMITS,
            clock::nanos,
            nanos -> clock.advance(nanos + LATE_NANOS));
    try (DataFile file = late.create("f", IoMode.DIRECT)) {
      long begin = clock.nanos();
      for (int i = 0; i < 10; i++) {
        file.write((long) i * LENGTH, memory, 0, LENGTH);
      }
      assertEquals(10 * TRANSFER_NANOS + LATE_NANOS, clock.nanos() - begin, LATE_NANOS);
      begin = clock.nanos();
      for (int i = 0; i < 320; i++) {
        file.write((long) i * LENGTH, memory, 0, LENGTH / 32);
      }
      assertEquals(10 * TRANSFER_NANOS, clock.nanos() - begin, 2 * LATE_NANOS);
      // It was late, but the device was idle meanwhile.
      clock.advance(SYNC_NANOS);
      begin = clock.nanos();
      file.write(0, memory, 0, LENGTH);
      assertEquals(TRANSFER_NANOS + LATE_NANOS, clock.nanos() - begin, LATE_NANOS);
    }
  }

  @Test
  void anInterruptEndsNoWaitAndIsKept() throws Exception {
    SimulatedClock slow = new SimulatedClock();
    LimitedStorage interrupted =
        new LimitedStorage(
            new SimulatedStorage(new SimulatedClock()),
            LIMITS,
            slow::nanos,
            nanos -> {
              assertFalse(Thread.currentThread().isInterrupted(), "it would spin");
              slow.advance((nanos + 1) / 2);
              Thread.currentThread().interrupt();
            });
    try (DataFile file = interrupted.create("f", IoMode.BUFFERED)) {
      Thread.currentThread().interrupt();
      file.sync();
      assertTrue(Thread.interrupted());
      assertEquals(SYNC_NANOS, slow.nanos());
    }
  }
}
