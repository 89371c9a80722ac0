package io.isobardb.lsm.bulk;

import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.SimulatedStores.value;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.error.StoreClosedException;
import io.isobardb.lsm.error.StoreFailedException;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.simulation.SimulatedWorld;
import java.util.Arrays;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A key order that throws in the middle of a batch: the part that was applied is never seen. */
class PartialBatchTest {
  private static final int BAD = 500;

  /** Bytes, but for one key. */
  private static final class Thrower implements KeyOrder {
    private boolean armed;

    @Override
    public String name() {
      return "thrower";
    }

    @Override
    public int compare(byte[] a, int aOffset, int aLength, byte[] b, int bOffset, int bLength) {
      if (armed
          && (Arrays.equals(Arrays.copyOfRange(a, aOffset, aOffset + aLength), key(BAD))
              || Arrays.equals(Arrays.copyOfRange(b, bOffset, bOffset + bLength), key(BAD)))) {
        throw new UnsupportedOperationException("planted");
      }
      return KeyOrder.BYTES.compare(a, aOffset, aLength, b, bOffset, bLength);
    }
  }

  private static Store open(SimulatedWorld world, KeyOrder order) {
    return world.open(
        StoreOptions.builder().memoryBudget(8 << 20).pageSize(4096).keyOrder(order).build());
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whatWasAppliedOfABatchIsSeenByNobody(boolean logged) {
    Thrower order = new Thrower();
    SimulatedWorld world = new SimulatedWorld(7);
    Store store = open(world, order);
    Tree plain = store.openTree("plain", TreeOptions.builder().logged(logged).build());
    Tree ordered =
        store.openTree("ordered", TreeOptions.builder().keyOrder(order).logged(logged).build());
    Tree other = store.openTree("other");
    for (int i = 0; i < 100; i++) {
      plain.put(key(i), value(i, 100));
      ordered.put(key(i), value(i, 100));
      other.put(key(i), value(i, 100));
    }
    if (!logged) {
      store.checkpoint();
    }
    store.sync();
    WriteBatch batch = store.newBatch();
    batch.put(plain, key(7), value(70, 100));
    batch.put(plain, key(300), value(300, 5000));
    batch.put(ordered, key(400), value(400, 100));
    batch.put(ordered, key(BAD), value(BAD, 100));
    // What is put into a batch is compared with itself before.
    order.armed = true;
    assertNull(store.failure());
    assertThrows(UnsupportedOperationException.class, () -> store.write(batch));
    assertTrue(store.failure().getMessage().contains("in part"));
    order.armed = false;
    for (Tree tree : new Tree[] {plain, ordered}) {
      StoreClosedException refused =
          assertThrows(StoreClosedException.class, () -> tree.get(key(7)));
      assertTrue(refused.getMessage().contains("open it again"), refused.getMessage());
      assertThrows(StoreClosedException.class, tree::cursor);
    }
    assertArrayEquals(value(7, 100), other.get(key(7)));
    assertThrows(StoreFailedException.class, () -> other.put(key(1), value(1, 100)));
    assertThrows(StoreFailedException.class, store::flush);
    world.background(1000);
    store.close();
    try (Store again = open(world, order)) {
      for (String name : new String[] {"plain", "ordered", "other"}) {
        Tree tree = again.tree(name);
        assertArrayEquals(value(7, 100), tree.get(key(7)));
        assertNull(tree.get(key(300)));
        assertNull(tree.get(key(400)));
        tree.put(key(BAD), value(BAD, 100));
        assertEquals(100, tree.get(key(BAD)).length);
      }
    }
  }
}
