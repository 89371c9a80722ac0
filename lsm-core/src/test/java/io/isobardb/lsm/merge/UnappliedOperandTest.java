package io.isobardb.lsm.merge;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.isobardb.lsm.SimulatedStores;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.entry.EntryCursor;
import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.option.MergeOperator;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedWorld;
import io.isobardb.lsm.state.TreeHandle;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A merge comes to a value that has expired, while an operand that counts it is being applied. */
class UnappliedOperandTest {
  /** Bytes in their order; runs something when it is asked about a write that has its place. */
  private static final class HookedOrder implements KeyOrder {
    @Nullable Engine engine;
    long begun;
    @Nullable Runnable hook;

    @Override
    public String name() {
      return "hooked";
    }

    @Override
    public int compare(byte[] a, int aOffset, int aLength, byte[] b, int bOffset, int bLength) {
      Runnable once = hook;
      if (once != null && engine.log().end() > begun) {
        hook = null;
        once.run();
      }
      return Arrays.compareUnsigned(a, aOffset, aOffset + aLength, b, bOffset, bOffset + bLength);
    }
  }

  @Test
  void theValueStays() {
    HookedOrder order = new HookedOrder();
    SimulatedWorld world = new SimulatedWorld(1);
    Store store = world.open(SimulatedStores.SMALL.toBuilder().keyOrder(order).build());
    TreeOptions options =
        TreeOptions.builder().keyOrder(order).mergeOperator(MergeOperator.APPEND).build();
    Tree tree = store.openTree("t", options);
    Instant soon = Instant.ofEpochMilli(world.clock().wallMillis() + 10);
    tree.put(bytes("k"), bytes("value"), soon);
    tree.put(bytes("l"), bytes("value"), soon);
    store.flush();
    tree.put(bytes("a"), bytes("in the active SSTable"));

    Engine engine = Inside.of(store).engine();
    TreeHandle handle = engine.catalog().trees().iterator().next();
    List<Boolean> newest = new ArrayList<>();
    order.engine = engine;
    order.begun = engine.log().end();
    order.hook =
        () -> {
          world.pass(20_000_000);
          newest.add(isNewest(engine, handle, "k"));
        };
    tree.merge(bytes("k"), bytes("+op"));
    assertEquals(List.of(false), newest);
    assertArrayEquals(bytes("value+op"), tree.get(bytes("k")));
    assertEquals(false, isNewest(engine, handle, "k"));
    assertEquals(true, isNewest(engine, handle, "l"), "of a key without operands");
    store.close();
  }

  /** What a merge that begins now says of the version of a key on disk. */
  private static boolean isNewest(Engine engine, TreeHandle tree, String key) {
    Folder folder = Folder.of(engine, tree);
    try (EntryCursor cursor = engine.queryCursor(tree.states().current().disk().get(0).get(0))) {
      cursor.seek(bytes(key), 0, key.length(), Lsn.MAX);
      return folder.isNewest(cursor.leaf());
    }
  }
}
