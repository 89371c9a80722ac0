package io.isobardb.lsm.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.observe.IoPurpose;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.simulation.DeviceStorage;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.simulation.VirtualDevice.Kind;
import io.isobardb.memory.page.Memory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is read and written for whom, and in which pieces. */
class MeteredStorageTest {
  private static final int PAGE = 4096;
  private static final int PAGES = 10;

  private final List<String> calls = new ArrayList<>();
  private final SimulatedClock clock = new SimulatedClock();
  private final MeteredStorage storage =
      new MeteredStorage(
          new DeviceStorage(new SimulatedStorage(clock)) {
            @Override
            protected void transfer(Kind kind, long bytes) {
              if (kind != Kind.SYNC) {
                calls.add(kind + " " + bytes / PAGE);
              }
            }
          },
          clock);

  private final Memory memory = new Memory(ByteBuffer.allocateDirect(PAGES * PAGE));

  /** A job's step. */
  private interface Action {
    void run() throws Exception;
  }

  private static Stepping.Step asJob(Action action) throws Exception {
    return asJob(Job.Priority.MERGE_L0, action);
  }

  private static Stepping.Step asJob(Job.Priority priority, Action action) throws Exception {
    return Stepping.step(
        new Job() {
          @Override
          public Priority priority() {
            return priority;
          }

          @Override
          public String name() {
            return "test";
          }

          @Override
          public boolean step() throws Exception {
            action.run();
            return false;
          }

          @Override
          public void onFailed(Throwable cause) {}
        });
  }

  private void write(DataFile file) throws Exception {
    Memory[] sources = new Memory[PAGES];
    int[] offsets = new int[PAGES];
    for (int i = 0; i < PAGES; i++) {
      sources[i] = memory;
      offsets[i] = i * PAGE;
    }
    file.writeAll(0, sources, offsets, PAGES, PAGE);
  }

  /** Limits the pieces of merges; those of flushes are twice as large. */
  private void limitPieces(int bytes) {
    storage.limitPieces(
        new IoLimits(Long.MAX_VALUE, Long.MAX_VALUE, false, bytes, 2 * bytes, "test"));
  }

  @Test
  void flushesHaveTheirOwnPieces() throws Exception {
    DataFile file = storage.create("1.sst", IoMode.DIRECT);
    limitPieces(4 * PAGE);
    asJob(Job.Priority.FLUSH, () -> write(file));
    assertEquals(List.of("WRITE 8", "WRITE 2"), calls);
  }

  @Test
  void jobsReadAndWriteInPieces() throws Exception {
    DataFile file = storage.create("1.sst", IoMode.DIRECT);
    limitPieces(4 * PAGE);
    for (int i = 0; i < PAGES; i++) {
      memory.putByte(i * PAGE, (byte) i);
    }
    Stepping.Step written = asJob(() -> write(file));
    memory.zero(0, PAGES * PAGE);
    Stepping.Step read =
        asJob(() -> assertEquals(PAGES * PAGE, file.read(0, memory, 0, PAGES * PAGE)));
    assertEquals(List.of("WRITE 4", "WRITE 4", "WRITE 2", "READ 4", "READ 4", "READ 2"), calls);
    for (int i = 0; i < PAGES; i++) {
      assertEquals((byte) i, memory.getByte(i * PAGE), "page " + i);
    }
    assertEquals(PAGES * PAGE, written.bytes());
    assertEquals(PAGES * PAGE, read.bytes());
    assertEquals(PAGES * PAGE, storage.bytesRead(IoPurpose.MERGE_L0));
    assertEquals(PAGES * PAGE, storage.bytesWritten().get(IoPurpose.MERGE_L0));
  }

  @Test
  void aPieceThatEndsAtTheEndOfTheFileIsTheLast() throws Exception {
    DataFile file = storage.create("1.sst", IoMode.DIRECT);
    write(file);
    limitPieces(4 * PAGE);
    calls.clear();
    asJob(() -> assertEquals(2 * PAGE, file.read(8 * PAGE, memory, 0, 9 * PAGE)));
    asJob(() -> assertEquals(4 * PAGE, file.read(6 * PAGE, memory, 0, 9 * PAGE)));
    assertEquals(List.of("READ 2", "READ 4", "READ 0"), calls);
  }

  @Test
  void whatTheSystemBuffersReachesTheDeviceByASync() throws Exception {
    DataFile direct = storage.create("1.sst", IoMode.DIRECT);
    write(direct);
    direct.sync();
    assertEquals(PAGES * PAGE, storage.device().bytes());
    assertEquals(0, storage.syncs().bytes());
    DataFile buffered = storage.create("2.sst", IoMode.BUFFERED);
    write(buffered);
    buffered.read(0, memory, 0, PAGES * PAGE);
    buffered.sync();
    assertEquals(PAGES * PAGE, storage.device().bytes());
    // A small sync tells what a sync takes.
    assertEquals(0, storage.syncs().bytes());
    final int often = 30;
    for (int i = 0; i < often; i++) {
      write(buffered);
    }
    buffered.sync();
    buffered.sync();
    assertEquals(often * PAGES * PAGE, storage.syncs().bytes());
    assertEquals(PAGES * PAGE, storage.device().bytes());
  }

  @Test
  void clientsReadAndWriteAtOnce() throws Exception {
    DataFile file = storage.create("1.sst", IoMode.DIRECT);
    limitPieces(PAGE);
    write(file);
    file.read(0, memory, 0, PAGES * PAGE);
    assertEquals(List.of("WRITE 10", "READ 10"), calls);
    assertEquals(PAGES * PAGE, storage.bytesRead(IoPurpose.QUERY));
  }
}
