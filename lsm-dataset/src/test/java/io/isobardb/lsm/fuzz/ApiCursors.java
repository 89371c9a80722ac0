package io.isobardb.lsm.fuzz;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.fuzz.ApiModel.Contents;
import io.isobardb.lsm.fuzz.ApiModel.Value;
import io.isobardb.lsm.fuzz.Demand.Refusal;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.NavigableMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The cursors of an {@link ApiPlay}, and where each of them should stand. */
final class ApiCursors {
  private static final int MOST = 5;

  /** What a cursor covers. Bounds may be in the wrong order: then it is empty. */
  record Bounds(byte @Nullable [] from, byte @Nullable [] to) {
    CursorOptions options() {
      CursorOptions options = CursorOptions.all();
      options = from == null ? options : options.from(from);
      return to == null ? options : options.to(to);
    }

    private boolean holds(Comparator<? super byte[]> order, byte[] key) {
      return (from == null || order.compare(key, from) >= 0)
          && (to == null || order.compare(key, to) < 0);
    }
  }

  private static final class Open {
    final Cursor cursor;
    final Contents tree;
    final int opening;
    final Bounds bounds;

    /** What it sees; of a transaction's, this changes. */
    final Supplier<NavigableMap<byte[], Value>> view;

    byte @Nullable [] position;
    boolean closed;

    Open(
        Cursor cursor,
        ApiWorld.Handle over,
        Bounds bounds,
        Supplier<NavigableMap<byte[], Value>> view) {
      this.cursor = cursor;
      this.tree = over.contents();
      this.opening = over.opening();
      this.bounds = bounds;
      this.view = view;
    }

    /** The next one in a direction that is within the bounds. */
    byte @Nullable [] find(byte @Nullable [] start, boolean inclusive, boolean forward) {
      NavigableMap<byte[], Value> all = view.get();
      if (start != null) {
        all = forward ? all.tailMap(start, inclusive) : all.headMap(start, inclusive);
      }
      for (byte[] key : forward ? all.navigableKeySet() : all.descendingKeySet()) {
        if (bounds.holds(tree.entries.comparator(), key)) {
          return key;
        }
      }
      return null;
    }
  }

  private final ApiWorld world;
  private final List<Open> cursors = new ArrayList<>();

  ApiCursors(ApiWorld world) {
    this.world = world;
  }

  /** Keeps a cursor that was opened. */
  void add(
      Cursor cursor,
      ApiWorld.Handle over,
      Bounds bounds,
      Supplier<NavigableMap<byte[], Value>> view) {
    if (cursors.size() == MOST) {
      cursors.remove(0).cursor.close();
    }
    cursors.add(new Open(cursor, over, bounds, view));
  }

  /** Those of a transaction that ends. */
  void closed(Supplier<NavigableMap<byte[], Value>> view) {
    cursors.stream().filter(each -> each.view == view).forEach(each -> each.closed = true);
  }

  void closeAll() {
    cursors.forEach(each -> each.cursor.close());
    cursors.clear();
  }

  private Demand use(Open on) {
    boolean gone = on.closed || !world.isOpen(on.opening);
    return new Demand()
        .must(gone, Refusal.CLOSED)
        .may(gone && on.tree.dropped, Refusal.DROPPED)
        .must(!gone && on.tree.dropped, Refusal.DROPPED);
  }

  /** Moves, reads or closes a cursor, by what the call says. */
  void use(ApiScript.Call call) {
    if (cursors.isEmpty()) {
      return;
    }
    Open on = cursors.get(cursors.size() - 1 - call.which() % cursors.size());
    byte[] key = ApiScript.key(call.key(), world.pageSize() / 4);
    switch (call.value() % 12) {
      case 0 -> move(on, on.cursor::first, on.find(null, true, true));
      case 1 -> move(on, on.cursor::last, on.find(null, true, false));
      case 2, 3 -> {
        byte[] to = key == null ? null : on.find(key, true, true);
        move(use(on).must(key == null, Refusal.NULL), on, () -> on.cursor.seek(key), to);
      }
      case 4 -> {
        byte[] to = key == null ? null : on.find(key, false, false);
        move(use(on).must(key == null, Refusal.NULL), on, () -> on.cursor.seekBefore(key), to);
      }
      case 5, 6, 7 -> step(on, true, 1 + call.rest() / 5 % 8);
      case 8, 9 -> step(on, false, 1 + call.rest() / 5 % 8);
      case 10 -> readInto(on, call.key());
      default -> {
        on.cursor.close();
        on.closed = true;
      }
    }
    stand(on);
  }

  private void step(Open on, boolean forward, int steps) {
    for (int i = 0; i < steps; i++) {
      byte[] from = on.position;
      byte[] to = from == null ? null : on.find(from, false, forward);
      Demand demand = use(on).must(from == null, Refusal.STATE);
      move(demand, on, () -> forward ? on.cursor.next() : on.cursor.previous(), to);
    }
  }

  /** A move that says whether the cursor stands on an entry. */
  private interface Move {
    boolean move();
  }

  private void move(Open on, Move move, byte @Nullable [] to) {
    move(use(on), on, move, to);
  }

  private void move(Demand demand, Open on, Move move, byte @Nullable [] to) {
    boolean moved = demand.met(() -> assertEquals(to != null, move.move()));
    if (moved) {
      on.position = to;
    }
  }

  /** Key and value are those of the place where the cursor should stand. */
  private void stand(Open on) {
    byte[] at = on.position;
    use(on).met(() -> assertEquals(at != null, on.cursor.isValid()));
    use(on).must(at == null, Refusal.STATE).met(() -> assertArrayEquals(at, on.cursor.key()));
    use(on)
        .must(at == null, Refusal.STATE)
        .met(() -> assertEquals(length(at), on.cursor.keyLength()));
    byte[] value = at == null ? null : Value.bytes(on.view.get().get(at));
    use(on)
        .must(value == null, Refusal.STATE)
        .met(() -> assertArrayEquals(value, on.cursor.value()));
    use(on)
        .must(value == null, Refusal.STATE)
        .met(() -> assertEquals(length(value), on.cursor.valueLength()));
  }

  private static int length(byte @Nullable [] bytes) {
    return bytes == null ? 0 : bytes.length;
  }

  private void readInto(Open on, int variant) {
    byte[] at = on.position;
    Value value = at == null ? null : on.view.get().get(at);
    int length = value == null ? 0 : value.length();
    ByteBuffer target = ApiPlay.target(variant, length);
    boolean fits = target != null && length <= target.remaining();
    int start = target == null ? 0 : target.position();
    boolean readOnly = target != null && target.isReadOnly();
    boolean done =
        use(on)
            .must(target == null, Refusal.NULL)
            .must(value == null, Refusal.STATE)
            .must(readOnly, Refusal.ARGUMENT)
            .met(() -> assertEquals(length, on.cursor.value(target)));
    if (target == null) {
      return;
    }
    assertEquals(done && fits ? start + length : start, target.position());
    if (done && fits && value != null) {
      byte[] copy = new byte[length];
      target.duplicate().position(start).get(copy);
      assertArrayEquals(value.bytes(), copy);
    }
    if (at == null) {
      return;
    }
    use(on)
        .met(
            () -> {
              ByteBuffer keys = ByteBuffer.allocate(at.length);
              assertEquals(at.length, on.cursor.key(keys));
              assertArrayEquals(at, keys.array());
              assertEquals(at.length, on.cursor.key(ByteBuffer.allocate(0)));
            });
  }
}
