package io.isobardb.lsm.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.schedule.BandwidthRules.Pressure;
import io.isobardb.lsm.simulation.DeviceStorage;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.simulation.VirtualDevice.Kind;
import io.isobardb.memory.page.Memory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** When jobs are limited by what was learnt of a device that clients keep busy all the time. */
class BandwidthTest {
  private static final long MILLI = 1_000_000;
  private static final long SECOND = 1_000 * MILLI;
  private static final long MB = 1 << 20;

  /** Read in one call between two looks: as much as the device does in 10 ms. */
  private static final int READ = 200 << 10;

  private static final long DEVICE = 100L * READ;

  private final SimulatedClock clock = new SimulatedClock();
  private final MeteredStorage storage =
      new MeteredStorage(
          new DeviceStorage(new SimulatedStorage(clock)) {
            @Override
            protected void transfer(Kind kind, long bytes) {
              clock.advance(bytes * SECOND / DEVICE);
            }
          },
          clock);
  private final Memory memory = new Memory(ByteBuffer.allocateDirect(READ));

  /** When jobs were limited, and when no longer, in turns. */
  private final List<Long> changes = new ArrayList<>();

  private Pressure pressure = Pressure.NONE;
  private DataFile file;
  private Bandwidth bandwidth;

  @BeforeEach
  void open() throws IOException {
    file = storage.create("1.sst", IoMode.DIRECT);
    file.write(0, memory, 0, READ);
    bandwidth = LearningBandwidth.of(storage, clock, () -> 0, () -> pressure, this::onLimited);
  }

  private void onLimited(IoLimits now) {
    if (now.limits() == (changes.size() % 2 == 0)) {
      changes.add(clock.nanos());
    }
  }

  private void read(int seconds) throws IOException {
    for (int i = 0; i < seconds * 100; i++) {
      file.read(0, memory, 0, READ);
      bandwidth.run();
    }
  }

  @Test
  void aLimitIsLiftedForHalfASecondInFive() throws IOException {
    read(60);
    assertEquals(DEVICE, bandwidth.learntBytes(), DEVICE / 100);
    assertTrue(changes.size() >= 16, "changes: " + changes);
    for (int i = 2; i + 1 < changes.size(); i += 2) {
      long lifted = changes.get(i) - changes.get(i - 1);
      assertTrue(lifted >= 250 * MILLI && lifted <= 600 * MILLI, lifted + " ns lifted");
      long limited = changes.get(i + 1) - changes.get(i);
      assertTrue(limited >= 4 * SECOND && limited <= 6 * SECOND, limited + " ns limited");
    }
  }

  @Test
  void nobodyIsLimitedWhileReadsFindManyGroups() throws IOException {
    read(2);
    assertTrue(bandwidth.limits().limits());
    pressure = Pressure.READERS;
    read(1);
    assertFalse(bandwidth.limits().limits());
    pressure = Pressure.NONE;
    read(2);
    assertTrue(bandwidth.limits().limits());
  }
}
