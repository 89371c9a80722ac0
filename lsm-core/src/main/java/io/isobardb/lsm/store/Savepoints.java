package io.isobardb.lsm.store;

import io.isobardb.lsm.Savepoint;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;

/**
 * The places that a transaction may go back to. There is no call to give one back: it counts for as
 * long as somebody holds it. So what is kept for it on the heap goes once nobody does, and the
 * collector has noticed.
 *
 * <p>Thread rule: one thread at a time.
 */
final class Savepoints {
  private final List<WeakReference<Position>> positions = new ArrayList<>();
  private final ReferenceQueue<Position> lost = new ReferenceQueue<>();

  /** A number of writes that may be taken back. Equal to itself alone. */
  private static final class Position implements Savepoint {
    private final int depth;

    Position(int depth) {
      this.depth = depth;
    }
  }

  /** A place with so many writes below it. */
  Savepoint add(int depth) {
    Position added = new Position(depth);
    positions.add(new WeakReference<>(added, lost));
    return added;
  }

  /** Whether there is none any more. */
  boolean isEmpty() {
    if (!positions.isEmpty() && lost.poll() != null) {
      while (lost.poll() != null) {
        continue;
      }
      positions.removeIf(position -> position.get() == null);
    }
    return positions.isEmpty();
  }

  /**
   * Forgets those behind a place.
   *
   * @return the writes below it
   * @throws IllegalArgumentException if it is none of these
   */
  int backTo(Savepoint savepoint) {
    for (int i = 0; i < positions.size(); i++) {
      Position position = positions.get(i).get();
      if (position == savepoint) {
        positions.subList(i + 1, positions.size()).clear();
        return position.depth;
      }
    }
    throw new IllegalArgumentException(
        "the savepoint belongs to another transaction, or comes after one gone back to");
  }
}
