package io.isobardb.lsm.commit;

import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.SimulatedStores.value;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.error.StoreFailedException;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.simulation.SimulatedWorld;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A fault in the mapped ring, as on a full disk whose file system copies on write, stops the store.
 * The JVM tells of one by an {@link InternalError} in whatever code runs then: here a key order.
 */
class MappedFaultTest {
  /** Bytes, and a fault when it compares different keys. */
  private static final class Faulty implements KeyOrder {
    private boolean armed;

    @Override
    public String name() {
      return "faulty";
    }

    @Override
    public int compare(byte[] a, int aOffset, int aLength, byte[] b, int bOffset, int bLength) {
      int result = KeyOrder.BYTES.compare(a, aOffset, aLength, b, bOffset, bLength);
      if (armed && result != 0) {
        throw new InternalError("a fault, planted");
      }
      return result;
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aFaultInTheMappedRingStopsTheStore(boolean batch) {
    Faulty order = new Faulty();
    SimulatedWorld world = new SimulatedWorld(8);
    StoreOptions options = StoreOptions.builder().memoryBudget(8 << 20).keyOrder(order).build();
    Store store = world.open(options);
    Tree ordered = store.openTree("ordered", TreeOptions.builder().keyOrder(order).build());
    Tree other = store.openTree("other");
    for (int i = 0; i < 10; i++) {
      ordered.put(key(i), value(i, 100));
      other.put(key(i), value(i, 100));
    }
    store.sync();
    order.armed = true;
    StoreFailedException stopped =
        assertThrows(
            StoreFailedException.class,
            () -> {
              if (batch) {
                store.write(store.newBatch().put(ordered, key(20), value(20, 100)));
              } else {
                ordered.put(key(20), value(20, 100));
              }
            });
    order.armed = false;
    assertTrue(stopped.getMessage().contains("RING"), stopped.getMessage());
    assertNotNull(store.failure());
    assertThrows(StoreFailedException.class, () -> other.put(key(1), value(1, 100)));
    assertArrayEquals(value(7, 100), other.get(key(7)));
    store.close();
    try (Store again = world.open(options)) {
      assertArrayEquals(value(7, 100), again.tree("ordered").get(key(7)));
      assertNull(again.tree("ordered").get(key(20)));
      again.tree("ordered").put(key(20), value(20, 100));
    }
  }

  /** Closing tells of a failure that no call has told. */
  @Test
  void theWriteThatMetTheFaultHasToldOfIt() {
    Faulty order = new Faulty();
    SimulatedWorld world = new SimulatedWorld(8);
    StoreOptions options = StoreOptions.builder().memoryBudget(8 << 20).keyOrder(order).build();
    Store store = world.open(options);
    Tree ordered = store.openTree("ordered", TreeOptions.builder().keyOrder(order).build());
    ordered.put(key(1), value(1, 100));
    order.armed = true;
    assertThrows(StoreFailedException.class, () -> ordered.put(key(2), value(2, 100)));
    order.armed = false;
    store.close();
  }
}
