package io.isobardb.lsm.threads;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.commit.Snapshots;
import io.isobardb.lsm.simulation.Inside;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Threads register LSNs to read at, and release them, while others write. */
@Timeout(120)
class SnapshotsTest {
  private static final int THREADS = 3;
  private static final int ROUNDS = Integer.getInteger("isobar.snapshots.rounds", 20_000);

  @TempDir Path temp;

  private volatile boolean stop;

  @Test
  void anLsnStaysRegisteredUntilItsLastReaderHasReleasedIt() throws Exception {
    StoreOptions options = StoreOptions.builder().memoryBudget(16 << 20).build();
    try (Store store = Store.open(temp, options)) {
      Tree tree = store.openTree("t");
      Snapshots snapshots = Inside.of(store).engine().snapshots();
      List<FutureTask<Void>> readers = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        FutureTask<Void> reader = new FutureTask<>(() -> registerAndRelease(snapshots), null);
        readers.add(reader);
        new Thread(reader).start();
      }
      FutureTask<Void> writer = new FutureTask<>(() -> write(tree), null);
      new Thread(writer).start();
      try {
        for (FutureTask<Void> reader : readers) {
          reader.get();
        }
      } finally {
        stop = true;
        writer.get();
      }
      assertEquals(0, snapshots.live().length, "LSNs still registered");
      assertEquals(-1, snapshots.newestSnapshot());
    }
  }

  private static void registerAndRelease(Snapshots snapshots) {
    for (int round = 0; round < ROUNDS; round++) {
      long before = snapshots.visible();
      long lsn = snapshots.register();
      assertTrue(lsn >= before, "older than what was visible");
      assertTrue(snapshots.newestSnapshot() >= lsn, "pruned what is read");
      assertTrue(Arrays.binarySearch(snapshots.live(), lsn) >= 0, "not registered");
      snapshots.release(lsn);
    }
  }

  private void write(Tree tree) {
    for (int i = 0; !stop; i++) {
      tree.put(bytes("key"), bytes("value " + i));
      // So that readers have time to meet at one LSN.
      for (int pause = 0; pause < 1000; pause++) {
        Thread.onSpinWait();
      }
    }
  }
}
