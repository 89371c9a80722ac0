package io.isobardb.lsm.model;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.simulation.ModelTree;
import io.isobardb.lsm.simulation.SimulatedWorld;
import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** A cursor of the store and the position it should have. */
final class ModelCursor {
  private final Cursor cursor;
  private final ModelTree tree;
  private final long at;
  private final NavigableMap<byte[], List<ModelTree.Version>> range;
  private byte @Nullable [] position;

  private ModelCursor(
      Cursor cursor, ModelTree tree, long at, NavigableMap<byte[], List<ModelTree.Version>> range) {
    this.cursor = cursor;
    this.tree = tree;
    this.at = at;
    this.range = range;
  }

  /** Opens a cursor with bounds that are in order. */
  static ModelCursor open(
      Tree store,
      ModelTree tree,
      long at,
      @Nullable Snapshot snapshot,
      byte @Nullable [] from,
      byte @Nullable [] to) {
    CursorOptions options = CursorOptions.all();
    NavigableMap<byte[], List<ModelTree.Version>> range = tree.keys;
    if (from != null) {
      options = options.from(from);
      range = range.tailMap(from, true);
    }
    if (to != null) {
      options = options.to(to);
      range = range.headMap(to, false);
    }
    if (snapshot != null) {
      options = options.snapshot(snapshot);
    }
    return new ModelCursor(store.cursor(options), tree, at, range);
  }

  boolean isOver(ModelTree of) {
    return tree == of;
  }

  long at() {
    return at;
  }

  void close() {
    cursor.close();
  }

  /** Moves both by one random move, or a run of moves in one direction. */
  void move(SplittableRandom random, byte[] key) {
    switch (random.nextInt(8)) {
      case 0 -> {
        position = tree.first(range, at);
        agree("first", cursor.first());
      }
      case 1 -> {
        position = tree.first(range.descendingMap(), at);
        agree("last", cursor.last());
      }
      case 2, 3 -> {
        position = tree.first(tail(key, true), at);
        agree("seek " + SimulatedWorld.text(key), cursor.seek(key));
      }
      case 4 -> {
        position = tree.first(head(key).descendingMap(), at);
        agree("seekBefore " + SimulatedWorld.text(key), cursor.seekBefore(key));
      }
      case 5, 6 -> walk(random, random.nextBoolean());
      default -> walk(random, true);
    }
  }

  private void walk(SplittableRandom random, boolean forward) {
    int steps = 1 << random.nextInt(forward ? 10 : 6);
    for (int i = 0; i < steps && position != null; i++) {
      boolean ahead = random.nextInt(16) == 0 ? !forward : forward;
      if (ahead) {
        position = tree.first(tail(position, false), at);
        agree("next", cursor.next());
      } else {
        position = tree.first(head(position).descendingMap(), at);
        agree("previous", cursor.previous());
      }
    }
  }

  /** Walks over everything, at once and step by step, and a good way back. */
  void walkAll() {
    position = tree.first(range, at);
    agree("first", cursor.first());
    cursor.forEach(
        Long.MAX_VALUE,
        (key, value) -> {
          byte[] expected = position;
          byte[] found = new byte[key.remaining()];
          key.get(found);
          assertArrayEquals(expected, found, () -> "forEach in " + tree.name);
          byte[] content = new byte[value.remaining()];
          value.get(content);
          assertArrayEquals(tree.get(found, at), content, () -> "forEach in " + tree.name);
          position = tree.first(tail(found, false), at);
          return true;
        });
    agree("after all", cursor.isValid());
    position = tree.first(range, at);
    agree("first", cursor.first());
    while (position != null) {
      position = tree.first(tail(position, false), at);
      agree("next", cursor.next());
    }
    position = tree.first(range.descendingMap(), at);
    agree("last", cursor.last());
    for (int steps = 0; position != null && steps < 200; steps++) {
      position = tree.first(head(position).descendingMap(), at);
      agree("previous", cursor.previous());
    }
  }

  private NavigableMap<byte[], List<ModelTree.Version>> tail(byte[] key, boolean inclusive) {
    if (range.isEmpty() || range.comparator().compare(key, range.firstKey()) <= 0) {
      return inclusive || range.isEmpty() || !same(key, range.firstKey())
          ? range
          : range.tailMap(key, false);
    }
    return range.comparator().compare(key, range.lastKey()) > 0
        ? range.tailMap(range.lastKey(), false)
        : range.tailMap(key, inclusive);
  }

  private NavigableMap<byte[], List<ModelTree.Version>> head(byte[] key) {
    if (range.isEmpty() || range.comparator().compare(key, range.lastKey()) > 0) {
      return range;
    }
    return range.comparator().compare(key, range.firstKey()) <= 0
        ? range.headMap(range.firstKey(), false)
        : range.headMap(key, false);
  }

  private boolean same(byte[] a, byte[] b) {
    return range.comparator().compare(a, b) == 0;
  }

  /** Whether cursor and model stand at the same place; the cursor need not have moved. */
  void stand() {
    agree("standing", cursor.isValid());
  }

  private void agree(String move, boolean valid) {
    byte[] expected = position;
    assertEquals(expected != null, valid, move + " in " + tree.name);
    if (expected != null) {
      byte[] key = cursor.key();
      if (!java.util.Arrays.equals(expected, key)) {
        throw new AssertionError(
            move
                + " in "
                + tree.name
                + ": at "
                + SimulatedWorld.text(key)
                + ", not "
                + SimulatedWorld.text(expected));
      }
      assertArrayEquals(tree.get(expected, at), cursor.value(), move + " in " + tree.name);
    }
  }
}
