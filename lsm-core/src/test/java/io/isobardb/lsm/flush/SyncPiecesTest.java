package io.isobardb.lsm.flush;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Compression;
import io.isobardb.lsm.OpenStore;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.io.ForwardingStorage;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedScheduler;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.memory.page.Memory;
import java.io.IOException;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** How much of an SSTable a sync finds in the system's buffers. */
class SyncPiecesTest {
  private static final int MB = 1 << 20;

  /** Counts what was written to SSTables, and how much of it each sync finds. */
  private static final class CountingStorage extends ForwardingStorage {
    long written;
    long mostAtOnce;

    CountingStorage(Storage storage) {
      super(storage);
    }

    @Override
    protected DataFile wrap(DataFile file, IoMode mode) {
      if (!file.name().endsWith(".sst")) {
        return file;
      }
      return new ForwardingFile(file) {
        private long waiting;

        @Override
        public void write(long offset, Memory source, int at, int length) throws IOException {
          super.write(offset, source, at, length);
          add(length);
        }

        @Override
        public void writeAll(long offset, Memory[] sources, int[] at, int count, int length)
            throws IOException {
          super.writeAll(offset, sources, at, count, length);
          add((long) count * length);
        }

        private void add(long bytes) {
          written += bytes;
          waiting += bytes;
          mostAtOnce = Math.max(mostAtOnce, waiting);
        }

        @Override
        public void sync() throws IOException {
          super.sync();
          waiting = 0;
        }
      };
    }
  }

  @ParameterizedTest
  @EnumSource(Compression.class)
  void largeFilesAreSyncedWhileTheyAreWritten(Compression compression) {
    SimulatedClock clock = new SimulatedClock();
    SimulatedStorage disk = new SimulatedStorage(clock);
    disk.supportsDirect(false);
    CountingStorage storage = new CountingStorage(disk);
    SplittableRandom random = new SplittableRandom(5);
    Environment world =
        new Environment(storage, clock, new SimulatedScheduler(clock, 5), random.split());
    StoreOptions options =
        StoreOptions.builder().memoryBudget(64 * MB).writeMemory(32 * MB).pageSize(8192).build();
    try (Store store = OpenStore.in(world, options)) {
      Tree tree = store.openTree("t", TreeOptions.builder().compression(compression).build());
      byte[] value = new byte[1000];
      for (int i = 0; i < 20_000; i++) {
        random.nextBytes(value);
        tree.put(("key" + (1_000_000 + i)).getBytes(), value);
      }
      store.flush();
      store.awaitQuiet();
    }
    assertTrue(storage.written > 19 * MB, () -> storage.written + " bytes written");
    assertTrue(storage.mostAtOnce < 3 * MB, () -> storage.mostAtOnce + " bytes in one sync");
  }
}
