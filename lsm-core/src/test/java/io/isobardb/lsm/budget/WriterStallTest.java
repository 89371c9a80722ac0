package io.isobardb.lsm.budget;

import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.SimulatedStores.value;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.state.TreeState;
import io.isobardb.lsm.state.TreeStates;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** No writer waits for memory unless something will wake it. */
class WriterStallTest {
  private static final StoreOptions OPTIONS =
      StoreOptions.builder().memoryBudget(6 << 20).pageSize(4096).build();

  @TempDir Path temp;

  @Test
  @Timeout(value = 120, unit = TimeUnit.SECONDS)
  void aWriterThatWaitsForWhatAReaderKeepsGoesOnWhenTheReaderLeaves() throws Exception {
    try (Store store = Store.open(temp.resolve("store"), OPTIONS)) {
      Tree tree = store.openTree("t");
      for (int i = 0; i < 1000; i++) {
        tree.put(key(i), value(i, 2000));
      }
      // As a read does that has to load a page: it keeps all the memory that the state reaches.
      Engine engine = Inside.of(store).engine();
      TreeStates states = Inside.handle(tree).states();
      TreeState held = states.acquire();
      AtomicInteger written = new AtomicInteger();
      Thread writer = writer(tree, 3000, written);
      // Until it waits, and nothing is under way that would wake it.
      for (int quiet = 0; quiet < 5 && writer.isAlive(); ) {
        boolean waits = writer.getState() == Thread.State.WAITING;
        quiet = waits && engine.environment().scheduler().pending() == 0 ? quiet + 1 : 0;
        Thread.sleep(20);
      }
      int stuckAt = written.get();
      assertTrue(stuckAt < 3000, "the writer did not have to wait");
      states.release(held);
      writer.join(30_000);
      assertEquals(3000, written.get(), () -> "stuck at " + stuckAt);
    }
  }

  /** A merge in memory that finds no room may have kept a flush from beginning. */
  @Test
  @Timeout(value = 120, unit = TimeUnit.SECONDS)
  void aWriterGoesOnWhenAMergeHasTakenTheMemoryForAMomentOnly() throws Exception {
    try (Store store = Store.open(temp.resolve("store"), OPTIONS)) {
      Tree tree = store.openTree("t");
      assertTrue(Inside.handle(tree).memory().tryTake());
      AtomicInteger written = new AtomicInteger();
      Thread writer = writer(tree, 6000, written);
      for (int waits = 0; waits < 5; ) {
        waits = writer.getState() == Thread.State.WAITING ? waits + 1 : 0;
        Thread.sleep(20);
      }
      // Given back by hand, so that nobody hears of it; the next merge takes it and finds no room.
      Inside.handle(tree).memory().leave();
      store.awaitQuiet();
      writer.join(60_000);
      assertEquals(6000, written.get(), "the writer waits, and nothing is under way");
    }
  }

  private static Thread writer(Tree tree, int writes, AtomicInteger written) {
    Thread writer =
        new Thread(
            () -> {
              for (int i = 0; i < writes; i++) {
                tree.put(key(i), value(i, 2000));
                written.incrementAndGet();
              }
            });
    writer.start();
    return writer;
  }
}
