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
import io.isobardb.lsm.simulation.VirtualDevice;
import io.isobardb.lsm.simulation.VirtualDevice.Held;
import io.isobardb.lsm.simulation.VirtualDevice.Kind;
import io.isobardb.memory.page.Memory;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * What is learnt of a volume that lets calls pass at once until a budget is spent, and of a fast
 * device whose callers lose their processors.
 */
class HeldBandwidthTest {
  private static final long MILLI = 1_000_000;
  private static final long SECOND = 1_000 * MILLI;
  private static final long MB = 1 << 20;
  private static final int PIECE = 64 << 10;
  private static final long FAST = 1000 * MB;
  private static final long HELD = 20 * MB;

  private final SimulatedClock clock = new SimulatedClock();
  private final VirtualDevice device =
      new VirtualDevice(new VirtualDevice.Limits(FAST, FAST, FAST, 100_000, MILLI));
  private final MeteredStorage storage =
      new MeteredStorage(
          new DeviceStorage(new SimulatedStorage(clock)) {
            @Override
            protected void transfer(Kind kind, long bytes) {
              long admitted = device.admit(clock.nanos(), kind, bytes);
              clock.advanceTo(device.serve(admitted, kind, bytes));
              if (++calls % callsPerLoss == 0) {
                clock.advanceWaiting(40 * MILLI);
              }
            }
          },
          clock);
  private final Memory memory = new Memory(ByteBuffer.allocateDirect(PIECE));

  private long calls;

  /** After so many calls the processor is lost for 40 ms. */
  private long callsPerLoss = Long.MAX_VALUE;

  /** What clients have written to the log. */
  private long logged;

  private int files = 1;
  private DataFile file;
  private Bandwidth bandwidth;
  private long lookedNanos;

  @BeforeEach
  void open() throws IOException {
    file = storage.create("1.sst", IoMode.DIRECT);
    file.write(0, memory, 0, PIECE);
    bandwidth = LearningBandwidth.of(storage, clock, () -> logged, () -> Pressure.NONE, now -> {});
  }

  /** A merge that reads as fast as it may, beside clients that write 1 MB/s. */
  private void merge(int seconds) throws Exception {
    step(seconds, PIECE, () -> file.read(0, memory, 0, PIECE));
  }

  /** The same by a merge that writes SSTables of 512 KB to the system's buffers and syncs them. */
  private void mergeBuffered(int seconds) throws Exception {
    DataFile buffered = storage.create(++files + ".sst", IoMode.BUFFERED);
    step(
        seconds,
        8 * PIECE,
        () -> {
          for (int i = 0; i < 8; i++) {
            buffered.write(0, memory, 0, PIECE);
          }
          buffered.sync();
        });
  }

  /** What a step of a merge does. */
  private interface Action {
    void run() throws IOException;
  }

  private void step(int seconds, long bytes, Action action) throws Exception {
    long end = clock.nanos() + seconds * SECOND;
    while (clock.nanos() < end) {
      long began = clock.nanos();
      Stepping.step(new Merging(action));
      long limit = bandwidth.limits().allBytes();
      if (limit < Long.MAX_VALUE) {
        clock.advanceTo(Math.max(clock.nanos(), began + bytes * SECOND / limit));
      }
      if (clock.nanos() - lookedNanos >= 10 * MILLI) {
        logged += MB * (clock.nanos() - lookedNanos) / SECOND;
        lookedNanos = clock.nanos();
        bandwidth.run();
      }
    }
  }

  private record Merging(Action action) implements Job {
    @Override
    public Priority priority() {
      return Priority.MERGE_DEEP;
    }

    @Override
    public String name() {
      return "merge";
    }

    @Override
    public boolean step() throws IOException {
      action.run();
      return true;
    }

    @Override
    public void onFailed(Throwable cause) {
      throw new AssertionError(cause);
    }
  }

  private static Held held(long bytes) {
    return new Held(bytes, bytes, 100 * MILLI);
  }

  private void assertLearnt(long bytes) {
    assertEquals(bytes, bandwidth.learntBytes(), bytes / 10.0);
  }

  @Test
  void theRateIsLearntAndNotThePaceOfQuickCalls() throws Exception {
    device.hold(held(HELD));
    merge(5);
    assertLearnt(HELD);
    assertTrue(bandwidth.limits().limits());
    merge(3600);
    assertLearnt(HELD);
  }

  @Test
  void itFollowsAVolumeThatIsHeldToLessAndToMore() throws Exception {
    merge(10);
    assertLearnt(FAST);
    device.hold(held(10 * HELD));
    merge(20);
    assertLearnt(10 * HELD);
    device.hold(held(HELD));
    merge(20);
    assertLearnt(HELD);
    device.hold(held(10 * HELD));
    merge(20);
    assertLearnt(10 * HELD);
    device.hold(null);
    merge(20);
    assertLearnt(FAST);
  }

  @Test
  void callsWhoseThreadsLoseTheirProcessorsTellNothing() throws Exception {
    callsPerLoss = 20;
    merge(60);
    assertLearnt(FAST);
  }

  @Test
  void buffersTakeBytesAtMemorySpeedButTheRateIsLearntAtTheirSyncs() throws Exception {
    device.hold(held(HELD));
    mergeBuffered(10);
    assertLearnt(HELD);
    assertTrue(bandwidth.limits().eachWay());
    mergeBuffered(600);
    assertLearnt(HELD);
  }

  @Test
  void aSlowDeviceBehindBuffersIsLearntAtTheirSyncs() throws Exception {
    device.change(new VirtualDevice.Limits(HELD, HELD, HELD, 100_000, MILLI / 10));
    mergeBuffered(10);
    assertLearnt(HELD);
    assertFalse(bandwidth.limits().eachWay());
    assertTrue(bandwidth.limits().limits());
  }

  @Test
  void syncsNowAndThenDoNotLimitJobs() throws Exception {
    DataFile buffered = storage.create("2.sst", IoMode.BUFFERED);
    for (int i = 0; i < 600; i++) {
      for (int k = 0; k < 32; k++) {
        buffered.write(0, memory, 0, PIECE);
      }
      buffered.sync();
      assertFalse(bandwidth.limits().limits());
      clock.advance(100 * MILLI);
      logged += MB / 10;
      bandwidth.run();
    }
    assertTrue(bandwidth.learntBytes() > FAST / 2, bandwidth.learntBytes() + " bytes/s");
  }
}
