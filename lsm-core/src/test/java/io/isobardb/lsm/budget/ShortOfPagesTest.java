package io.isobardb.lsm.budget;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.error.TreeDroppedException;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.memory.pool.OutOfBudgetException;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Reads that have to load pages when there are none to load them to. */
@Timeout(120)
class ShortOfPagesTest {
  private static final byte[] KEY = {7};
  private static final byte[] VALUE = new byte[100];

  @TempDir Path dir;

  /** Compares keys as bytes; what is loaded by a read of a key meets with a want of pages. */
  private static final class Short implements KeyOrder {
    private final CountDownLatch refused = new CountDownLatch(1);
    private volatile int refusals;

    /** What a refusal waits for. */
    private volatile BooleanSupplier until = () -> true;

    @Override
    public String name() {
      return "short";
    }

    @Override
    public int compare(byte[] a, int aOffset, int aLength, byte[] b, int bOffset, int bLength) {
      if (refusals > 0 && isLoading()) {
        refusals--;
        refused.countDown();
        while (!until.getAsBoolean()) {
          Thread.onSpinWait();
        }
        throw new OutOfBudgetException("planned");
      }
      return KeyOrder.BYTES.compare(a, aOffset, aLength, b, bOffset, bLength);
    }

    private static boolean isLoading() {
      return StackWalker.getInstance()
          .walk(
              frames ->
                  frames.anyMatch(
                      frame ->
                          frame.getClassName().endsWith(".read.ValueLookup")
                              && frame.getMethodName().equals("load")));
    }
  }

  private final Short order = new Short();

  private Store open() {
    return Store.open(
        dir, StoreOptions.builder().memoryBudget(8 << 20).pageSize(4096).keyOrder(order).build());
  }

  @BeforeEach
  void leaveARecordThatIsNotInMemory() {
    try (Store store = open()) {
      Tree tree = store.openTree("t", TreeOptions.builder().keyOrder(order).build());
      tree.put(KEY, VALUE);
      store.flush();
    }
  }

  @Test
  void aReadTriesAgain() {
    try (Store store = open()) {
      Tree tree = store.openTree("t");
      order.refusals = 20;
      assertArrayEquals(VALUE, tree.get(KEY));
      assertTrue(order.refusals == 0, "nothing was refused");
    }
  }

  @Test
  void aReadGivesUpInTheEnd() {
    try (Store store = open()) {
      Tree tree = store.openTree("t");
      order.refusals = Integer.MAX_VALUE;
      assertThrows(OutOfBudgetException.class, () -> tree.get(KEY));
      order.refusals = 0;
      assertArrayEquals(VALUE, tree.get(KEY));
    }
  }

  @Test
  void aReadThatTriesAgainEndsWithItsTree() throws Exception {
    AtomicReference<Throwable> told = new AtomicReference<>();
    try (Store store = open()) {
      Tree tree = store.openTree("t");
      order.until = Inside.handle(tree)::refused;
      order.refusals = Integer.MAX_VALUE;
      Thread reader =
          new Thread(
              () -> {
                try {
                  tree.get(KEY);
                } catch (RuntimeException | Error e) {
                  told.set(e);
                }
              });
      reader.start();
      order.refused.await();
      store.dropTree("t");
      reader.join();
    }
    assertInstanceOf(TreeDroppedException.class, told.get());
  }
}
