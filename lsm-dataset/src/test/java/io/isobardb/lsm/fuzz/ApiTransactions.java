package io.isobardb.lsm.fuzz;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Isolation;
import io.isobardb.lsm.Locking;
import io.isobardb.lsm.Savepoint;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.TransactionOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.fuzz.ApiModel.Contents;
import io.isobardb.lsm.fuzz.ApiModel.Value;
import io.isobardb.lsm.fuzz.ApiWorld.Handle;
import io.isobardb.lsm.fuzz.Demand.Refusal;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The transactions of an {@link ApiPlay}, with what each has to see, and what it has to hold. */
final class ApiTransactions {
  private static final int MOST = 3;
  private static final int MOST_SAVEPOINTS = 4;

  /** What a transaction has written, by tree. */
  private static final class Own {
    final Map<Contents, TreeMap<byte[], Optional<Value>>> trees = new LinkedHashMap<>();

    TreeMap<byte[], Optional<Value>> of(Contents tree) {
      return trees.computeIfAbsent(tree, Contents::empty);
    }

    Own copy() {
      Own copy = new Own();
      trees.forEach((tree, written) -> copy.of(tree).putAll(written));
      return copy;
    }

    boolean writes(Contents tree) {
      return trees.containsKey(tree) && !of(tree).isEmpty();
    }
  }

  private record Mark(Savepoint savepoint, Own own) {}

  private final class Open {
    final Transaction transaction;
    final TransactionOptions options;
    final int opening = world.opening();
    final long begun = world.model.now;
    final List<Mark> marks = new ArrayList<>();
    final List<Supplier<NavigableMap<byte[], Value>>> cursors = new ArrayList<>();

    /** Keys that nobody else may write: those that a pessimistic one has written or asked for. */
    final Map<Contents, TreeSet<byte[]>> locked = new LinkedHashMap<>();

    /** Keys that must not have been written by others when it commits, and since when. */
    final Map<Contents, TreeMap<byte[], Long>> kept = new LinkedHashMap<>();

    Own own = new Own();
    ApiModel.@Nullable View base;
    boolean ended;

    Open(Transaction transaction, TransactionOptions options) {
      this.transaction = transaction;
      this.options = options;
    }

    boolean latest() {
      return options.isolation() == Isolation.READ_COMMITTED;
    }

    boolean pessimistic() {
      return options.locking() == Locking.PESSIMISTIC;
    }

    /** What it sees of others' writes; as they are now, from its first look on or always. */
    ApiModel.View base() {
      if (latest()) {
        return world.model.view();
      }
      if (base == null) {
        base = world.model.view();
      }
      return base;
    }

    @Nullable Value get(Contents tree, byte[] key) {
      Optional<Value> written = own.of(tree).get(key);
      return written != null ? written.orElse(null) : base().of(tree).get(key);
    }

    void lock(Contents tree, byte[] key) {
      if (pessimistic()) {
        locked.computeIfAbsent(tree, of -> new TreeSet<>(of.entries.comparator())).add(key);
      }
    }

    void keep(Contents tree, byte[] key, long since) {
      kept.computeIfAbsent(tree, Contents::empty).putIfAbsent(key, since);
    }

    boolean holds(Contents tree, byte[] key) {
      return !ended
          && world.isOpen(opening)
          && locked.containsKey(tree)
          && locked.get(tree).contains(key);
    }
  }

  private final ApiWorld world;
  private final ApiCursors cursors;
  private final List<Open> transactions = new ArrayList<>();

  ApiTransactions(ApiWorld world, ApiCursors cursors) {
    this.world = world;
    this.cursors = cursors;
  }

  /** Whether an open transaction has locked a key: plain writes of it have to be refused. */
  boolean locked(Contents tree, byte @Nullable [] key) {
    return key != null && transactions.stream().anyMatch(each -> each.holds(tree, key));
  }

  void closeAll() {
    transactions.forEach(each -> each.transaction.close());
    transactions.clear();
  }

  static TransactionOptions options(int number) {
    return TransactionOptions.builder()
        .isolation(Isolation.values()[number % 3])
        .locking(number / 3 % 2 == 0 ? Locking.PESSIMISTIC : Locking.OPTIMISTIC)
        .durability(number / 6 % 2 == 0 ? Durability.ASYNC : Durability.SYNC)
        .lockTimeout(Duration.ofMillis(number % 5 * 30))
        .maxAttempts(1 + number % 3)
        .build();
  }

  void begin(ApiScript.Call call) {
    TransactionOptions options = call.value() % 16 == 15 ? null : options(call.value());
    new Demand()
        .must(!world.isOpen(world.opening()), Refusal.CLOSED)
        .must(options == null, Refusal.NULL)
        .met(
            () -> {
              if (transactions.size() == MOST) {
                Open oldest = transactions.remove(0);
                oldest.transaction.close();
                end(oldest);
              }
              Transaction fresh = world.store().begin(options);
              transactions.add(new Open(fresh, requireNonNull(options)));
            });
  }

  /** Something with a transaction, by what the call says. */
  void use(ApiScript.Call call, Handle with, byte @Nullable [] key, @Nullable Value value) {
    if (transactions.isEmpty()) {
      return;
    }
    Open on = transactions.get(transactions.size() - 1 - call.which() / 16 % transactions.size());
    switch (call.rest() / 5 % 16) {
      case 0, 1 -> get(on, with, key);
      case 2 -> getInto(on, with, key, call.value());
      case 3, 4 -> getForUpdate(on, with, key);
      case 5, 6, 7 -> put(on, with, key, value);
      case 8 ->
          write(on, with, key, null, use(on, with), () -> on.transaction.delete(with.tree(), key));
      case 9 -> openCursor(on, with, key, call.value());
      case 10 -> savepoint(on);
      case 11 -> rollbackTo(on, call.value());
      case 12, 13 -> commit(on);
      case 14 -> {
        on.transaction.rollback();
        end(on);
      }
      default -> onEnd(on);
    }
    boolean open = on.transaction.isOpen();
    if (world.isOpen(on.opening)) {
      assertEquals(!on.ended, open, "isOpen");
    }
  }

  private Demand use(Open on) {
    boolean closed = !world.isOpen(on.opening);
    return new Demand()
        .must(on.ended, Refusal.STATE)
        .must(closed, Refusal.CLOSED)
        .may(closed, Refusal.STATE);
  }

  private Demand use(Open on, Handle with) {
    return use(on)
        .must(with.opening() != on.opening, Refusal.ARGUMENT)
        .must(with.contents().dropped, Refusal.DROPPED);
  }

  private Demand use(Open on, Handle with, byte @Nullable [] key) {
    return use(on, with)
        .must(key == null, Refusal.NULL)
        .must(key != null && key.length > world.pageSize() / 4, Refusal.ARGUMENT);
  }

  private void get(Open on, Handle with, byte @Nullable [] key) {
    use(on, with, key)
        .met(
            () -> {
              byte[] seen = on.transaction.get(with.tree(), key);
              assertArrayEquals(Value.bytes(on.get(with.contents(), key)), seen);
              track(on, with.contents(), key);
            });
  }

  private void getInto(Open on, Handle with, byte @Nullable [] key, int variant) {
    ByteBuffer target = ApiPlay.target(variant, 300);
    boolean readOnly = target != null && target.isReadOnly();
    use(on, with, key)
        .must(target == null, Refusal.NULL)
        .must(readOnly, Refusal.ARGUMENT)
        .met(
            () -> {
              int room = target == null ? 0 : target.remaining();
              int length = on.transaction.get(with.tree(), key, target);
              Value expected = on.get(with.contents(), key);
              assertEquals(expected == null ? Tree.NOT_FOUND : expected.length(), length);
              boolean copied = length > 0 && length <= room;
              assertEquals(copied ? room - length : room, target.remaining());
              track(on, with.contents(), key);
            });
  }

  /** A read that counts when a serializable transaction commits. */
  private static void track(Open on, Contents tree, byte[] key) {
    if (on.options.isolation() == Isolation.SERIALIZABLE && !on.own.of(tree).containsKey(key)) {
      on.keep(tree, key, on.base().at);
    }
  }

  private boolean disturbed(Open on) {
    return world.model.now != on.begun
        || transactions.stream().anyMatch(other -> other != on && !other.ended);
  }

  /** What a call may meet that needs a lock, now or when it commits. */
  private Demand locking(Open on, Demand demand) {
    return demand.may(disturbed(on), Refusal.ABORTED).may(disturbed(on), Refusal.OWN);
  }

  private void getForUpdate(Open on, Handle with, byte @Nullable [] key) {
    Contents tree = with.contents();
    boolean done =
        locking(on, use(on, with, key))
            .met(
                () -> {
                  byte[] seen = on.transaction.getForUpdate(with.tree(), key);
                  assertArrayEquals(Value.bytes(on.get(tree, key)), seen);
                });
    if (done && !on.own.of(tree).containsKey(requireNonNull(key))) {
      on.lock(tree, key);
      on.keep(tree, key, on.latest() ? world.model.now : on.base().at);
    }
    noteEnd(on);
  }

  private void put(Open on, Handle with, byte @Nullable [] key, @Nullable Value value) {
    byte[] bytes = Value.bytes(value);
    boolean tooLong = value != null && value.length() > with.tree().maxValueBytes();
    Demand demand = use(on, with).must(value == null, Refusal.NULL).must(tooLong, Refusal.ARGUMENT);
    write(on, with, key, value, demand, () -> on.transaction.put(with.tree(), key, bytes));
  }

  private void write(
      Open on,
      Handle with,
      byte @Nullable [] key,
      @Nullable Value value,
      Demand demand,
      Demand.Call call) {
    Contents tree = with.contents();
    boolean logged = tree.options.logged();
    boolean fresh = key != null && !on.own.of(tree).containsKey(key);
    boolean mixed =
        on.own.trees.keySet().stream()
            .anyMatch(other -> other.options.logged() != logged && on.own.writes(other));
    boolean longKey = key != null && key.length > world.pageSize() / 4;
    boolean done =
        locking(on, demand)
            .must(key == null, Refusal.NULL)
            .must(longKey, Refusal.ARGUMENT)
            .must(mixed && fresh, Refusal.ARGUMENT)
            .met(call);
    if (done) {
      byte[] written = requireNonNull(key);
      if (fresh) {
        on.lock(tree, written);
        if (!on.latest() && !on.pessimistic()) {
          on.keep(tree, written, on.base().at);
        } else if (!on.latest() && on.base != null) {
          on.keep(tree, written, on.base.at);
        }
      }
      on.own.of(tree).put(written, Optional.ofNullable(value));
    }
    noteEnd(on);
  }

  private void openCursor(Open on, Handle with, byte @Nullable [] key, int variant) {
    ApiCursors.Bounds bounds =
        new ApiCursors.Bounds(
            variant % 3 == 0 ? key : null,
            variant % 5 == 0 ? ApiScript.key(variant, world.pageSize() / 4) : null);
    if (variant % 7 == 0 && world.isOpen(world.opening())) {
      try (Snapshot snapshot = world.store().snapshot()) {
        CursorOptions options = bounds.options().snapshot(snapshot);
        use(on, with)
            .must(true, Refusal.ARGUMENT)
            .met(() -> on.transaction.cursor(with.tree(), options));
      }
      return;
    }
    use(on, with)
        .met(
            () -> {
              Cursor cursor = on.transaction.cursor(with.tree(), bounds.options());
              NavigableMap<byte[], Value> below = on.base().of(with.contents());
              Supplier<NavigableMap<byte[], Value>> view =
                  () -> overlay(below, on.own.of(with.contents()));
              on.cursors.add(view);
              cursors.add(cursor, with, bounds, view);
            });
  }

  private static NavigableMap<byte[], Value> overlay(
      NavigableMap<byte[], Value> below, Map<byte[], Optional<Value>> own) {
    NavigableMap<byte[], Value> all = new TreeMap<>(below);
    own.forEach(
        (key, value) -> {
          if (value.isPresent()) {
            all.put(key, value.get());
          } else {
            all.remove(key);
          }
        });
    return all;
  }

  private void savepoint(Open on) {
    if (on.marks.size() < MOST_SAVEPOINTS) {
      use(on).met(() -> on.marks.add(new Mark(on.transaction.savepoint(), on.own.copy())));
    }
  }

  /** Also with savepoints of other transactions. */
  private void rollbackTo(Open on, int number) {
    List<Mark> all = new ArrayList<>();
    transactions.forEach(each -> all.addAll(each.marks));
    if (all.isEmpty()) {
      return;
    }
    Mark mark = all.get(number % all.size());
    boolean mine = on.marks.contains(mark);
    boolean done =
        use(on).must(!mine, Refusal.ARGUMENT).met(() -> on.transaction.rollbackTo(mark.savepoint));
    if (done) {
      on.own = mark.own.copy();
      on.marks.subList(on.marks.indexOf(mark) + 1, on.marks.size()).clear();
    }
  }

  private void commit(Open on) {
    boolean dropped =
        on.own.trees.keySet().stream().anyMatch(tree -> tree.dropped && on.own.writes(tree));
    boolean readDropped = on.kept.keySet().stream().anyMatch(tree -> tree.dropped);
    boolean done =
        locking(on, use(on))
            .must(dropped, Refusal.DROPPED)
            .may(readDropped, Refusal.DROPPED)
            .may(bytes(on) > 2L * world.maxValueBytes(), Refusal.ARGUMENT)
            .met(on.transaction::commit);
    if (done) {
      on.kept.forEach(
          (tree, keys) ->
              keys.forEach(
                  (key, since) ->
                      assertFalse(
                          ApiModel.writtenSince(tree, key, since),
                          () -> "committed, though others have written a key of " + tree)));
      world.model.tick();
      on.own.trees.forEach(
          (tree, keys) ->
              keys.forEach((key, value) -> world.model.write(tree, key, value.orElse(null))));
    }
    if (world.isOpen(on.opening)) {
      end(on);
    }
  }

  /** What a commit writes, in bytes, about. */
  private static long bytes(Open on) {
    return on.own.trees.values().stream()
        .flatMap(keys -> keys.entrySet().stream())
        .mapToLong(
            e -> e.getKey().length + 48 + e.getValue().map(value -> value.length()).orElse(0))
        .sum();
  }

  private void onEnd(Open on) {
    use(on).met(() -> on.transaction.onEnd(() -> {}));
  }

  /** A call may have ended it: what it could not have was in the way of others. */
  private void noteEnd(Open on) {
    if (!on.transaction.isOpen()) {
      end(on);
    }
  }

  private void end(Open on) {
    on.ended = true;
    on.cursors.forEach(cursors::closed);
  }

  /**
   * A transaction that the store runs, with a body that does what it should not.
   *
   * @param variant what the body does besides a write
   */
  void inTransaction(int variant, Handle with, byte @Nullable [] key, @Nullable Value value) {
    Contents tree = with.contents();
    if (key == null || value == null || key.length > world.pageSize() / 4) {
      return;
    }
    byte[] bytes = value.bytes();
    boolean tooLong = value.length() > with.tree().maxValueBytes();
    int kind = variant % 6;
    Demand demand =
        world
            .use(with)
            .must(!world.isOpen(world.opening()), Refusal.CLOSED)
            .must(with.opening() != world.opening(), Refusal.ARGUMENT)
            .must(tooLong, Refusal.ARGUMENT)
            .must(kind == 1, Refusal.STATE);
    boolean busy = transactions.stream().anyMatch(other -> !other.ended);
    boolean done =
        demand
            .may(busy, Refusal.ABORTED)
            .may(busy, Refusal.OWN)
            .met(
                () -> {
                  String result =
                      world
                          .store()
                          .inTransaction(
                              options(variant),
                              transaction -> body(transaction, kind, with.tree(), key, bytes));
                  assertEquals("done", result);
                });
    if (done && kind != 2) {
      world.model.tick();
      world.model.write(tree, key, value);
    }
  }

  private String body(Transaction transaction, int kind, Tree tree, byte[] key, byte[] value) {
    transaction.getForUpdate(tree, key);
    transaction.put(tree, key, value);
    switch (kind) {
      case 1 -> throw new IllegalStateException("the body's own");
      case 2 -> transaction.rollback();
      case 3 -> transaction.commit();
      case 4 -> {
        ByteBuffer target = ByteBuffer.allocate(value.length);
        assertEquals(value.length, transaction.get(tree, key, target));
      }
      default -> {}
    }
    return "done";
  }
}
