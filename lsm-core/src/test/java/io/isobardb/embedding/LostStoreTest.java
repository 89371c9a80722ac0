package io.isobardb.embedding;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.error.StoreLockedException;
import io.isobardb.lsm.observe.StoreListener;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Stores that nobody closed, and nobody can any more. In a package of its own, as users are: the
 * library tells at which place of theirs a store was opened.
 */
@Timeout(120)
class LostStoreTest {
  @TempDir Path dir;

  private static StoreOptions options() {
    return StoreOptions.builder()
        .memoryBudget(8 << 20)
        .asyncSyncInterval(Duration.ofHours(1))
        .build();
  }

  private static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }

  private void openAndLose() {
    Store.open(dir, options()).openTree("t").put(bytes("k"), bytes("v"));
  }

  private Cursor openAndLoseAllButACursor() {
    Tree tree = Store.open(dir, options()).openTree("t");
    tree.put(bytes("k"), bytes("v"));
    return tree.cursor();
  }

  /** Tries until the collector has noticed. */
  private Store reopen() {
    while (true) {
      try {
        return Store.open(dir, options());
      } catch (StoreLockedException e) {
        assertTrue(
            e.getMessage()
                .contains("opened by thread '" + Thread.currentThread().getName() + "' at "),
            e::toString);
        assertTrue(e.getMessage().contains("LostStoreTest.openAndLose"), e::toString);
        System.gc();
        Thread.onSpinWait();
      }
    }
  }

  @Test
  void aLostStoreIsClosedAndCanBeOpenedAgain() {
    openAndLose();
    try (Store store = reopen()) {
      assertArrayEquals(bytes("v"), store.tree("t").get(bytes("k")));
    }
  }

  @Test
  void untilItIsClosedOthersAreToldThatItWasLost() throws Exception {
    CountDownLatch goOn = new CountDownLatch(1);
    Store lost = Store.open(dir, options());
    Tree tree = lost.openTree("t");
    // A listener holds up the closing, which flushes what is unlogged.
    tree = lost.createTree("unlogged", TreeOptions.builder().logged(false).build());
    tree.put(bytes("k"), bytes("v"));
    lost.addListener(new HoldingUp(goOn));
    tree = null;
    lost = null;
    String said = "";
    while (!said.contains("was lost without close()")) {
      System.gc();
      said =
          assertThrows(StoreLockedException.class, () -> Store.open(dir, options())).getMessage();
    }
    assertTrue(said.contains("untilItIsClosedOthersAreToldThatItWasLost"), said);
    assertTrue(said.contains("and is closed now"), said);
    goOn.countDown();
    while (true) {
      try (Store store = Store.open(dir, options())) {
        assertArrayEquals(bytes("v"), store.tree("unlogged").get(bytes("k")));
        return;
      } catch (StoreLockedException e) {
        Thread.onSpinWait();
      }
    }
  }

  /** Waits when a flush ends. */
  private record HoldingUp(CountDownLatch goOn) implements StoreListener {
    @Override
    public void onFlushed(Flush event) {
      try {
        goOn.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  @Test
  void oneThatHasCursorsIsClosedOnceTheyAre() {
    try (Cursor cursor = openAndLoseAllButACursor()) {
      String said = "";
      while (!said.contains("was lost without close()")) {
        System.gc();
        said =
            assertThrows(StoreLockedException.class, () -> Store.open(dir, options())).getMessage();
      }
      assertTrue(said.contains("is closed once its cursors are"), said);
      assertTrue(cursor.first());
      assertArrayEquals(bytes("k"), cursor.key());
    }
    reopen().close();
  }
}
