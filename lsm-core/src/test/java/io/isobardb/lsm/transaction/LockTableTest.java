package io.isobardb.lsm.transaction;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Compression;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedScheduler;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.state.TreeHandle;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class LockTableTest {
  private static final byte[] KEY = bytes("key");

  /** More than a look for one key takes. */
  private static final int MANY_COMPARISONS = 100;

  private final SimulatedClock clock = new SimulatedClock();
  private final LockTable table =
      new LockTable(
          new Environment(
              new SimulatedStorage(),
              clock,
              new SimulatedScheduler(clock, 1),
              new SplittableRandom(1)));
  private final LockOwner first = table.newOwner(Long.MAX_VALUE, false);
  private final LockOwner second = table.newOwner(Long.MAX_VALUE, false);

  /** Does something when a key is looked for, after the table to look in was found. */
  private final class LookOrder implements KeyOrder {
    private Runnable atLook = () -> {};
    private int comparisons;

    @Override
    public String name() {
      return "look";
    }

    @Override
    public int compare(byte[] a, int aOffset, int aLength, byte[] b, int bOffset, int bLength) {
      Runnable action = atLook;
      atLook = () -> {};
      action.run();
      comparisons++;
      assertTrue(comparisons < MANY_COMPARISONS, "the look for a lock goes round");
      return BYTES.compare(a, aOffset, aLength, b, bOffset, bLength);
    }
  }

  @Test
  void aLockOfATreeThatIsForgottenMeanwhileIsNotWaitedFor() {
    LookOrder order = new LookOrder();
    TreeHandle tree = tree(order);
    assertTrue(table.lock(first, tree, KEY, 0));
    order.atLook =
        () -> {
          // The tree is dropped, and then the transaction ends that had locked the key.
          table.forget(tree);
          table.releaseAll(first);
        };
    assertTrue(table.lock(second, tree, KEY, 0));
    assertEquals(1, second.held().size());
  }

  /** No state of the tree is looked at. */
  private static TreeHandle tree(KeyOrder order) {
    TreeHandle.Settings settings = new TreeHandle.Settings(order, true, Compression.NONE, 0, null);
    return new TreeHandle(1, "tree", settings, null, null, null);
  }
}
