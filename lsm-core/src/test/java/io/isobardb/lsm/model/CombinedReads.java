package io.isobardb.lsm.model;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.model.CombinedModel.Known;
import io.isobardb.lsm.model.CombinedState.ModelSnapshot;
import io.isobardb.lsm.simulation.SimulatedWorld;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The reads of a {@link CombinedHistory}, compared with its model. */
final class CombinedReads {
  private final CombinedState state;
  private final CombinedModel model;

  CombinedReads(CombinedState state) {
    this.state = state;
    this.model = state.model;
  }

  void read() {
    Known from = state.anyTree();
    Tree tree = state.tree(from);
    ModelSnapshot snapshot = state.random.nextInt(3) == 0 ? state.anySnapshot() : null;
    long at = snapshot == null ? model.now : snapshot.at();
    for (int i = 0; i < 8; i++) {
      byte[] key = state.anyKey(from);
      byte[] expected = from.get(key, at);
      state.doing = "getting " + SimulatedWorld.text(key) + " from " + from.name();
      if (snapshot != null) {
        assertArrayEquals(expected, tree.get(key, snapshot.snapshot()));
        List<byte[]> keys = List.of(key, state.anyKey(from), state.anyKey(from));
        List<byte @Nullable []> values = tree.multiGet(keys, snapshot.snapshot());
        for (int k = 0; k < keys.size(); k++) {
          assertArrayEquals(from.get(keys.get(k), at), values.get(k));
        }
        continue;
      }
      switch (state.random.nextInt(3)) {
        case 0 -> {
          List<byte[]> keys = List.of(key, state.anyKey(from), state.anyKey(from));
          List<byte @Nullable []> values = tree.multiGet(keys);
          for (int k = 0; k < keys.size(); k++) {
            assertArrayEquals(from.get(keys.get(k), at), values.get(k));
          }
        }
        case 1 -> {
          byte[] seen = tree.read(key, HistoryEntries::copy);
          assertArrayEquals(expected, seen);
        }
        default -> assertArrayEquals(expected, tree.get(key));
      }
    }
  }

  /** Many, so that windows of adaptation end. */
  void reads() {
    Known from = state.anyTree();
    Tree tree = state.tree(from);
    state.doing = "many reads of " + from.name();
    for (int i = 0; i < 400; i++) {
      byte[] key = state.anyKey(from);
      if (state.random.nextInt(4) == 0) {
        try (Cursor cursor = tree.cursor(CursorOptions.all().from(key))) {
          boolean more = cursor.first();
          for (int steps = 0; more && steps < 3; steps++) {
            more = cursor.next();
          }
        }
      } else {
        assertArrayEquals(from.get(key, model.now), tree.get(key));
      }
    }
  }

  void openCursor() {
    if (state.cursors.size() >= 5) {
      return;
    }
    Known over = state.anyTree();
    ModelSnapshot snapshot = state.random.nextInt(3) == 0 ? state.anySnapshot() : null;
    byte @Nullable [][] range =
        state.random.nextBoolean() ? state.anyRange(over) : new byte @Nullable [2][];
    state.doing = "opening a cursor over " + over.name();
    state.cursors.add(
        ModelCursor.open(
            state.tree(over),
            over,
            snapshot == null ? model.now : snapshot.at(),
            snapshot == null ? null : snapshot.snapshot(),
            range[0],
            range[1]));
  }

  void moveCursor() {
    if (!state.cursors.isEmpty()) {
      state.doing = "moving a cursor";
      ModelCursor cursor = state.cursors.get(state.random.nextInt(state.cursors.size()));
      cursor.stand();
      cursor.move(state.random, state.anyKey(state.anyTree()));
    }
  }

  void endSomething() {
    if (state.random.nextBoolean() && !state.cursors.isEmpty()) {
      state.cursors.remove(state.random.nextInt(state.cursors.size())).close();
    } else if (!state.snapshots.isEmpty()) {
      state.snapshots.remove(state.random.nextInt(state.snapshots.size())).snapshot().close();
    }
  }

  void checkAll() {
    state.tick();
    assertEquals(model.live().stream().map(Known::name).sorted().toList(), state.store.treeNames());
    for (Known tree : model.live()) {
      if (state.many && state.random.nextInt(8) != 0) {
        continue;
      }
      state.doing = "comparing all of " + tree.name();
      ModelCursor cursor = ModelCursor.open(state.tree(tree), tree, model.now, null, null, null);
      cursor.walkAll();
      cursor.close();
      assertTrue(
          tree.adjusted.contains(CombinedModel.adjusted(state.tree(tree).options())),
          () ->
              tree.name()
                  + " is "
                  + CombinedModel.adjusted(state.tree(tree).options())
                  + ", not "
                  + tree.adjusted);
      for (byte[] key : tree.keys.keySet()) {
        if (state.random.nextInt(8) == 0) {
          assertArrayEquals(tree.get(key, model.now), state.tree(tree).get(key));
        }
      }
    }
  }
}
