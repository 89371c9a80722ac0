package io.isobardb.lsm.read;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.SimulatedStores;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.entry.EntryCursor;
import io.isobardb.lsm.entry.Moment;
import io.isobardb.lsm.option.MergeOperator;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedWorld;
import io.isobardb.lsm.state.Table;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.memory.pool.OutOfBudgetException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A source of a cursor finds no page while operands are read, which each of its steps may do. */
class FoldWithoutPagesTest {
  /** What moves a cursor by a step. */
  private static final Set<String> STEPS = Set.of("next", "nextKey", "previous");

  /** The step that fails; then fewer than 0. */
  private int left = -1;

  private EntryCursor failing(EntryCursor cursor) {
    return (EntryCursor)
        Proxy.newProxyInstance(
            EntryCursor.class.getClassLoader(),
            new Class<?>[] {EntryCursor.class},
            (proxy, method, arguments) -> {
              if (STEPS.contains(method.getName()) && left >= 0 && left-- == 0) {
                throw new OutOfBudgetException("no page");
              }
              try {
                return method.invoke(cursor, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void noKeyIsPassedOver(boolean forward) {
    Store store = new SimulatedWorld(1).open(SimulatedStores.SMALL);
    Tree tree =
        store.openTree("t", TreeOptions.builder().mergeOperator(MergeOperator.APPEND).build());
    List<String> expected = new ArrayList<>();
    for (char key = 'a'; key < 'h'; key++) {
      tree.put(SimulatedStores.bytes("" + key), SimulatedStores.bytes("1"));
      tree.merge(SimulatedStores.bytes("" + key), SimulatedStores.bytes("2"));
      tree.merge(SimulatedStores.bytes("" + key), SimulatedStores.bytes("3"));
      expected.add(forward ? expected.size() : 0, key + "=123");
    }
    Engine engine = Inside.of(store).engine();
    TreeHandle handle = engine.catalog().trees().iterator().next();
    boolean failed = true;
    for (int step = 0; failed; step++) {
      left = step;
      assertEquals(expected, read(engine, handle, forward), "step " + step);
      failed = left < 0;
      assertTrue(failed || step > 14, "only " + step + " steps");
    }
    store.close();
  }

  private List<String> read(Engine engine, TreeHandle handle, boolean forward) {
    List<String> read = new ArrayList<>();
    long lsn = engine.snapshots().register();
    Moment moment = engine.snapshots().moment(lsn);
    try (TreeCursor cursor =
        new TreeCursor(
            handle,
            (Table table) -> failing(engine.queryCursor(table)),
            new ReentrantLock(),
            null,
            moment,
            new Bounds(null, null))) {
      for (boolean more = forward ? cursor.first() : cursor.last();
          more;
          more = forward ? cursor.next() : cursor.previous()) {
        byte[] value = new byte[cursor.valueLength()];
        cursor.copyValue(value);
        read.add(new String(cursor.key(), 0, cursor.keyLength()) + "=" + new String(value));
        cursor.endTurn();
      }
      cursor.endTurn();
    } finally {
      engine.snapshots().release(lsn);
    }
    return read;
  }
}
