package io.isobardb.lsm.read;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.SimulatedStores;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.option.MergeOperator;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedWorld;
import io.isobardb.lsm.state.TreeHandle;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A source of a cursor fails while operands are read, which each of its steps may do. */
class FoldWithoutPagesTest {
  /** What moves a cursor by a step fails. */
  private final FailingSources sources = new FailingSources(Set.of("next", "nextKey", "previous"));

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
      sources.left = step;
      assertEquals(expected, read(engine, handle, forward), "step " + step);
      failed = sources.left < 0;
      assertTrue(failed || step > 14, "only " + step + " steps");
    }
    store.close();
  }

  @Test
  void whatAWayBackGatheredBeforeItFailedIsForgotten() {
    Store store = new SimulatedWorld(1).open(SimulatedStores.SMALL);
    Tree tree =
        store.openTree("t", TreeOptions.builder().mergeOperator(MergeOperator.APPEND).build());
    for (String key : List.of("b", "a")) {
      tree.merge(SimulatedStores.bytes(key), SimulatedStores.bytes(key + "1"));
      tree.merge(SimulatedStores.bytes(key), SimulatedStores.bytes(key + "2"));
    }
    Engine engine = Inside.of(store).engine();
    TreeHandle handle = engine.catalog().trees().iterator().next();
    long lsn = engine.snapshots().register();
    try (TreeCursor cursor = sources.cursor(engine, handle, lsn)) {
      sources.failure =
          () -> new UncheckedIOException(new IOException("a page that can't be read"));
      sources.left = 0;
      assertThrows(UncheckedIOException.class, cursor::last);
      assertTrue(cursor.seekBefore(SimulatedStores.bytes("b"), 0, 1));
      byte[] value = new byte[cursor.valueLength()];
      cursor.copyValue(value);
      assertEquals("a1a2", new String(value));
    } finally {
      engine.snapshots().release(lsn);
    }
    store.close();
  }

  private List<String> read(Engine engine, TreeHandle handle, boolean forward) {
    List<String> read = new ArrayList<>();
    long lsn = engine.snapshots().register();
    try (TreeCursor cursor = sources.cursor(engine, handle, lsn)) {
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
