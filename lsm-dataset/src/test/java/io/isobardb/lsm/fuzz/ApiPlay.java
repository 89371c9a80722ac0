package io.isobardb.lsm.fuzz;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.fuzz.ApiModel.Value;
import io.isobardb.lsm.fuzz.ApiScript.Call;
import io.isobardb.lsm.fuzz.ApiWorld.Handle;
import io.isobardb.lsm.fuzz.Demand.Refusal;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.Watchdog;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import org.jspecify.annotations.Nullable;

/**
 * A user who calls the public API of a simulated store with all that its types allow: arguments at
 * and beyond their limits, null, handles that were closed, dropped or taken from an earlier
 * opening.
 *
 * <p>A model says of each call what it has to answer, or as what it has to be refused. At the end
 * the store is closed and opened once more: it has what was acknowledged, and its files are sound.
 */
final class ApiPlay {
  /** The letters of calls. Any other byte stands for one of them, too. */
  static final String LETTERS = "otxppppdgggmsSGbbwcccCCCCCCTkkkkkkirRzMfFuuKevaDDDD";

  private static final int MOST_SNAPSHOTS = 4;
  private static final int MOST_LARGE = 6;

  /** Bytes from which on a value counts as large. */
  private static final int LARGE = 100_000;

  private record OpenSnapshot(Snapshot snapshot, ApiModel.View view, int opening) {}

  private final List<Call> calls;
  private final ApiWorld world;
  private final ApiCursors cursors;
  private final ApiTransactions transactions;
  private final ApiBatches batches;
  private final ApiDataset dataset;
  private final List<OpenSnapshot> snapshots = new ArrayList<>();
  private final List<Snapshot> closed = new ArrayList<>();
  private int values;
  private int large;
  private String at = "opening";

  private ApiPlay(List<Call> calls) {
    this.calls = calls;
    this.world = new ApiWorld(calls.get(0));
    this.cursors = new ApiCursors(world);
    this.transactions = new ApiTransactions(world, cursors);
    this.batches = new ApiBatches(world, transactions);
    this.dataset = new ApiDataset(world);
  }

  /**
   * Plays what the bytes stand for.
   *
   * @throws AssertionError if anything was wrong; tells the call
   */
  static void play(byte[] input) {
    List<Call> calls = ApiScript.calls(input);
    if (!calls.isEmpty()) {
      new ApiPlay(calls).play();
    }
  }

  private void play() {
    try {
      for (int i = 1; i < calls.size(); i++) {
        at = "call " + i + ", " + calls.get(i);
        Watchdog.mark(at);
        call(calls.get(i));
        at += ", background work";
        world.simulated().background(calls.get(i).background());
      }
      at = "the end";
      Watchdog.mark(at);
      end();
    } catch (Exception | Error e) {
      AssertionError told = new AssertionError("at " + at + "; " + world.options() + ": " + e, e);
      try {
        world.abandon();
      } catch (RuntimeException | Error more) {
        told.addSuppressed(more);
      }
      throw told;
    }
  }

  private void end() throws IOException {
    if (world.isOpen(world.opening()) && calls.size() % 2 == 0) {
      closeHandles();
      Store store = world.store();
      assertEquals(0, Inside.of(store).cursors().count(), "cursors");
      assertEquals(0, Inside.of(store).transactions().count(), "transactions");
      assertEquals(0, Inside.of(store).engine().snapshots().live().length, "registered LSNs");
    }
    world.close();
    world.reopen(0);
    world.close();
  }

  private void closeHandles() {
    cursors.closeAll();
    transactions.closeAll();
    snapshots.forEach(each -> each.snapshot.close());
    snapshots.clear();
  }

  private void call(Call call) throws IOException {
    int index = LETTERS.indexOf(call.letter());
    char letter = index >= 0 ? call.letter() : LETTERS.charAt(call.letter() % LETTERS.length());
    switch (letter) {
      case 'o' -> world.openTree(name(call), ApiScript.treeOptions(call.value()), false);
      case 'a' -> world.openTree(name(call), ApiScript.treeOptions(call.value()), true);
      case 't' -> world.tree(name(call));
      case 'x' -> world.dropTree(name(call));
      case 'r' -> world.reopen(0);
      case 'R' -> world.reopen(1 + call.key() + 256 * call.value());
      case 'z' -> world.close();
      case 'K' -> world.kill();
      case 'M' -> setMemoryBudget(call);
      case 'f' -> maintain(call.key());
      case 'e' -> world.simulated().pass(call.key() * 1_000_000L);
      case 'v' -> {
        if (world.isOpen(world.opening())) {
          world.verify();
        }
      }
      case 's' -> takeSnapshot();
      case 'S' -> closeSnapshot(call);
      case 'w' -> batches.write(call.value());
      case 'C' -> cursors.use(call);
      case 'T' -> transactions.begin(call);
      case 'D' -> dataset.use(call, key(call.key()), value(call.value(), world.maxValueBytes()));
      default -> {
        Handle with = world.handle(call.which() % 16);
        if (with != null) {
          use(letter, call, with);
        }
      }
    }
  }

  private void use(char letter, Call call, Handle with) {
    byte[] key = key(call.key());
    switch (letter) {
      case 'p' -> put(call, with, key, value(call.value(), with.tree().maxValueBytes()));
      case 'd' -> delete(call, with, key);
      case 'g' -> get(call.value(), with, key);
      case 'm' -> multiGet(call, with, key);
      case 'G' -> getFromSnapshot(call, with, key);
      case 'b' -> {
        Value value = value(call.value(), with.tree().maxValueBytes());
        if (call.value() >> 5 == 5 && large++ < MOST_LARGE) {
          value = new Value(batches.rest(key, call.rest() % 8), ++values);
        }
        batches.add(with, key, value, call.rest() % 4 == 0);
      }
      case 'c' -> openCursor(call, with, key);
      case 'k' ->
          transactions.use(call, with, key, value(call.value(), with.tree().maxValueBytes()));
      case 'i' ->
          transactions.inTransaction(
              call.rest(), with, key, value(call.value(), with.tree().maxValueBytes()));
      case 'F' -> priority(call, with);
      default -> burst(call, with);
    }
  }

  // ---- arguments

  private static @Nullable String name(Call call) {
    return ApiScript.name(call.which(), call.key());
  }

  private byte @Nullable [] key(int number) {
    return ApiScript.key(number, world.pageSize() / 4);
  }

  private static boolean tooLong(byte @Nullable [] key, Handle with) {
    return key != null && key.length > with.tree().maxKeyBytes();
  }

  /** A value, or null. May be longer than allowed. */
  private @Nullable Value value(int number, int most) {
    int length = ApiScript.valueLength(number, world.pageSize(), most);
    if (length >= LARGE && length <= most && large++ >= MOST_LARGE) {
      length = 500;
    }
    return length < 0 ? null : new Value(length, ++values);
  }

  /** A buffer to read into, or null. Its position is not 0, and has to stay if nothing fits. */
  static @Nullable ByteBuffer target(int variant, int length) {
    return switch (variant % 6) {
      case 0 -> ByteBuffer.allocate(length + 10).position(3);
      case 1 -> ByteBuffer.allocateDirect(length + 3).position(3);
      case 2 -> ByteBuffer.allocate(Math.max(3, length + 2)).position(3);
      case 3 -> ByteBuffer.allocate(length + 10).asReadOnlyBuffer().position(3);
      case 4 -> null;
      default -> ByteBuffer.allocate(3).position(3);
    };
  }

  // ---- plain writes

  private Demand write(Handle with, byte @Nullable [] key) {
    return world
        .use(with)
        .must(key == null, Refusal.NULL)
        .must(tooLong(key, with), Refusal.ARGUMENT)
        .must(transactions.locked(with.contents(), key), Refusal.OWN);
  }

  private void put(Call call, Handle with, byte @Nullable [] key, @Nullable Value value) {
    Tree tree = with.tree();
    byte[] bytes = Value.bytes(value);
    int variant = call.rest() / 5 % 6;
    boolean done =
        write(with, key)
            .must(value == null || variant == 5, Refusal.NULL)
            .must(bytes != null && bytes.length > tree.maxValueBytes(), Refusal.ARGUMENT)
            .met(
                () -> {
                  switch (variant) {
                    case 0, 1 -> tree.put(key, bytes);
                    case 2 -> tree.put(key, bytes, Durability.SYNC);
                    case 3 -> tree.put(inner(key), direct(bytes), Durability.ASYNC);
                    case 4 -> tree.put(direct(key), inner(bytes));
                    default -> tree.put(key, bytes, (Durability) null);
                  }
                });
    written(done, with, key, value);
  }

  private void delete(Call call, Handle with, byte @Nullable [] key) {
    int variant = call.rest() / 5 % 4;
    boolean done =
        write(with, key)
            .must(variant == 3, Refusal.NULL)
            .met(
                () -> {
                  switch (variant) {
                    case 0, 1 -> with.tree().delete(key);
                    case 2 -> with.tree().delete(key, Durability.SYNC);
                    default -> with.tree().delete(key, null);
                  }
                });
    written(done, with, key, null);
  }

  private void written(boolean done, Handle with, byte @Nullable [] key, @Nullable Value value) {
    if (done && key != null) {
      world.model.tick();
      world.model.write(with.contents(), key, value);
    }
  }

  /** In the middle of an array, read-only. */
  private static @Nullable ByteBuffer inner(byte @Nullable [] bytes) {
    if (bytes == null) {
      return null;
    }
    ByteBuffer buffer = ByteBuffer.allocate(bytes.length + 9).position(4);
    buffer.put(bytes).flip().position(4);
    return bytes.length % 2 == 0 ? buffer : buffer.asReadOnlyBuffer();
  }

  private static @Nullable ByteBuffer direct(byte @Nullable [] bytes) {
    return bytes == null ? null : ByteBuffer.allocateDirect(bytes.length).put(bytes).flip();
  }

  /** Many puts, so that there is something to flush and to merge. */
  private void burst(Call call, Handle with) {
    int stride = 1 + call.value() % 5;
    int length = call.rest() % 7 * 200;
    int count = call.value() * (1 + call.rest() / 7 % 4);
    for (int i = 0; i < count; i++) {
      byte[] key = ApiScript.burstKey(call.key() + i * stride);
      Value value = new Value(length, ++values);
      boolean done = write(with, key).met(() -> with.tree().put(key, value.bytes()));
      written(done, with, key, value);
    }
  }

  // ---- reads

  private Demand read(Handle with, byte @Nullable [] key) {
    return world
        .use(with)
        .must(key == null, Refusal.NULL)
        .must(tooLong(key, with), Refusal.ARGUMENT);
  }

  private void get(int variant, Handle with, byte @Nullable [] key) {
    Tree tree = with.tree();
    Value value = key == null ? null : with.contents().entries.get(key);
    byte[] expected = Value.bytes(value);
    switch (variant % 5) {
      case 0, 1 -> read(with, key).met(() -> assertArrayEquals(expected, tree.get(key)));
      case 2 -> getInto(variant / 5, with, key, null);
      case 3 -> read(with, key).met(() -> assertArrayEquals(expected, tree.read(key, this::copy)));
      default -> look(variant / 5, with, key, expected);
    }
  }

  private byte[] copy(ByteBuffer view) {
    byte[] copy = new byte[view.remaining()];
    view.get(copy);
    return copy;
  }

  /** Looks at a value in ways that its documentation allows, or that fail. */
  private void look(int variant, Handle with, byte @Nullable [] key, byte @Nullable [] expected) {
    Tree tree = with.tree();
    boolean there = expected != null;
    switch (variant % 4) {
      case 0 -> read(with, key).must(true, Refusal.NULL).met(() -> tree.read(key, null));
      case 1 ->
          // What a look throws comes out, and leaves nothing behind.
          read(with, key)
              .must(there, Refusal.STATE)
              .met(
                  () ->
                      tree.read(
                          key,
                          view -> {
                            throw new IllegalStateException("of the one who looks");
                          }));
      case 2 -> {
        ByteBuffer[] kept = {null};
        read(with, key)
            .met(
                () -> {
                  tree.read(
                      key,
                      view -> {
                        assertTrue(view.isReadOnly());
                        kept[0] = view;
                        return view;
                      });
                  assertEquals(there, kept[0] != null);
                });
      }
      default ->
          read(with, key)
              .met(
                  () -> {
                    byte[] seen =
                        tree.read(
                            key,
                            view -> {
                              assertArrayEquals(expected, tree.get(key));
                              assertArrayEquals(expected, tree.read(key, this::copy));
                              return copy(view);
                            });
                    assertArrayEquals(expected, seen);
                  });
    }
  }

  private void getInto(
      int variant, Handle with, byte @Nullable [] key, @Nullable OpenSnapshot snapshot) {
    Tree tree = with.tree();
    Map<byte[], Value> view =
        snapshot == null ? with.contents().entries : snapshot.view.of(with.contents());
    Value value = key == null ? null : view.get(key);
    int length = value == null ? 0 : value.length();
    ByteBuffer target = target(variant, length);
    boolean fits = target != null && length <= target.remaining();
    boolean readOnly = target != null && target.isReadOnly();
    int start = target == null ? 0 : target.position();
    boolean done =
        read(with, key)
            .must(target == null, Refusal.NULL)
            .must(readOnly, Refusal.ARGUMENT)
            .met(
                () -> {
                  int got =
                      snapshot == null
                          ? tree.get(key, target)
                          : tree.get(key, target, snapshot.snapshot);
                  assertEquals(value == null ? Tree.NOT_FOUND : length, got);
                });
    if (target != null) {
      assertEquals(done && fits ? start + length : start, target.position());
      if (done && fits && value != null) {
        assertArrayEquals(value.bytes(), copy(target.duplicate().flip().position(start)));
      }
    }
  }

  private void multiGet(Call call, Handle with, byte @Nullable [] key) {
    List<byte[]> keys = new ArrayList<>();
    boolean hasNull = false;
    boolean hasLong = false;
    for (int i = 0; i < call.value(); i++) {
      byte[] each = i == 0 ? key : key((call.key() + i * (1 + call.rest())) & 0xFF);
      if (i > 4 && (each == null || tooLong(each, with))) {
        continue;
      }
      hasNull |= each == null;
      hasLong |= tooLong(each, with);
      keys.add(each);
    }
    world
        .use(with)
        .must(hasNull, Refusal.NULL)
        .must(hasLong, Refusal.ARGUMENT)
        .met(
            () -> {
              List<byte @Nullable []> found = with.tree().multiGet(keys);
              assertEquals(keys.size(), found.size());
              for (int i = 0; i < keys.size(); i++) {
                Value expected = with.contents().entries.get(keys.get(i));
                assertArrayEquals(Value.bytes(expected), found.get(i));
              }
            });
  }

  // ---- snapshots and cursors

  private void takeSnapshot() {
    if (snapshots.size() < MOST_SNAPSHOTS) {
      new Demand()
          .must(!world.isOpen(world.opening()), Refusal.CLOSED)
          .met(
              () -> {
                Snapshot snapshot = world.store().snapshot();
                snapshots.add(new OpenSnapshot(snapshot, world.model.view(), world.opening()));
              });
    }
  }

  private void closeSnapshot(Call call) {
    if (!snapshots.isEmpty()) {
      Snapshot snapshot = snapshots.remove(call.which() % snapshots.size()).snapshot;
      snapshot.close();
      snapshot.close();
      closed.add(snapshot);
    }
  }

  /** Also from snapshots that are closed, or of an earlier opening. */
  private void getFromSnapshot(Call call, Handle with, byte @Nullable [] key) {
    Tree tree = with.tree();
    if (!closed.isEmpty() && call.rest() % 8 == 0) {
      Snapshot gone = closed.get(closed.size() - 1);
      read(with, key)
          .must(true, Refusal.CLOSED)
          // Of an earlier opening.
          .may(true, Refusal.ARGUMENT)
          .met(() -> tree.get(key, gone));
    } else if (call.rest() % 8 == 1) {
      read(with, key).must(true, Refusal.NULL).met(() -> tree.get(key, (Snapshot) null));
    } else if (!snapshots.isEmpty()) {
      OpenSnapshot at = snapshots.get(call.which() / 16 % snapshots.size());
      if (at.opening != with.opening()) {
        read(with, key).must(true, Refusal.ARGUMENT).met(() -> tree.get(key, at.snapshot));
      } else if (call.rest() % 8 < 4) {
        getInto(call.value(), with, key, at);
      } else {
        NavigableMap<byte[], Value> view = at.view.of(with.contents());
        read(with, key)
            .met(
                () -> {
                  byte[] expected = Value.bytes(view.get(key));
                  assertArrayEquals(expected, tree.get(key, at.snapshot));
                  assertArrayEquals(expected, tree.multiGet(List.of(key), at.snapshot).get(0));
                });
      }
    }
  }

  private void openCursor(Call call, Handle with, byte @Nullable [] key) {
    byte[] to = call.value() < 64 ? null : key(call.value());
    ApiCursors.Bounds bounds = new ApiCursors.Bounds(call.rest() % 2 == 0 ? null : key, to);
    OpenSnapshot at =
        call.rest() % 3 != 0 || snapshots.isEmpty()
            ? null
            : snapshots.get(call.which() / 16 % snapshots.size());
    boolean other = at != null && at.opening != with.opening();
    world
        .use(with)
        .must(other, Refusal.ARGUMENT)
        .met(
            () -> {
              CursorOptions options = bounds.options();
              Cursor cursor =
                  with.tree().cursor(at == null ? options : options.snapshot(at.snapshot));
              NavigableMap<byte[], Value> view =
                  at == null ? with.contents().copy() : at.view.of(with.contents());
              cursors.add(cursor, with, bounds, () -> view);
            });
  }

  // ---- the store

  private void setMemoryBudget(Call call) {
    long bytes =
        switch (call.key() % 8) {
          case 0 -> 0;
          case 1 -> (4 << 20) - 1;
          case 2 -> Long.MAX_VALUE;
          case 3 -> -1;
          default -> (8L + call.value() % 24) << 20;
        };
    new Demand()
        .must(!world.isOpen(world.opening()), Refusal.CLOSED)
        .must(call.key() % 8 < 4, Refusal.ARGUMENT)
        .met(() -> world.store().setMemoryBudget(bytes));
  }

  private void priority(Call call, Handle with) {
    long budget = Inside.of(with.tree()).memoryBudget();
    long floor =
        switch (call.key() % 5) {
          case 0 -> -1;
          case 1 -> Long.MAX_VALUE;
          case 2 -> budget;
          default -> budget / 256 * call.value();
        };
    world
        .use(with)
        .must(call.key() % 5 < 2, Refusal.ARGUMENT)
        .met(() -> with.tree().setWriteMemoryFloor(floor));
    double weight =
        switch (call.value() % 5) {
          case 0 -> Double.NaN;
          case 1 -> -Double.MIN_VALUE;
          case 2 -> 1_000_000;
          case 3 -> 0;
          default -> call.key();
        };
    world
        .use(with)
        .must(call.value() % 5 < 2, Refusal.ARGUMENT)
        .met(() -> with.tree().setWriteWeight(weight));
  }

  private void maintain(int variant) {
    Store store = world.store();
    Demand demand = new Demand().must(!world.isOpen(world.opening()), Refusal.CLOSED);
    switch (variant % 6) {
      case 0, 1 -> demand.met(store::flush);
      case 2 -> demand.met(store::checkpoint);
      case 3 -> demand.met(store::sync);
      case 4 -> demand.met(store::awaitQuiet);
      default -> demand.met(() -> assertTrue(store.stats().toJson().startsWith("{")));
    }
  }
}
