package io.isobardb.lsm.model;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.BulkLoad;
import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Isolation;
import io.isobardb.lsm.Locking;
import io.isobardb.lsm.Savepoint;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.TransactionOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.error.TooManyRangeDeletesException;
import io.isobardb.lsm.error.WriteStalledException;
import io.isobardb.lsm.model.CombinedModel.Known;
import io.isobardb.lsm.simulation.ModelTree;
import io.isobardb.lsm.simulation.ModelValue;
import io.isobardb.lsm.simulation.SimulatedWorld;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The writes of a {@link CombinedHistory}. */
final class CombinedWrites {
  private final CombinedState state;
  private final CombinedModel model;

  CombinedWrites(CombinedState state) {
    this.state = state;
    this.model = state.model;
  }

  private ModelValue anyValue(Tree of) {
    return HistoryEntries.anyValue(state.random, of, state.pageSize, false);
  }

  private long lifetime(Tree of) {
    long lifetime = of.timeToLive().toMillis();
    return lifetime == 0 ? ModelTree.NEVER : state.millis() + lifetime;
  }

  private boolean merges(Known to, byte[] key) {
    long left = to.expires(key) - state.millis();
    return to.options.mergeOperator() != null
        && state.random.nextBoolean()
        && (left <= 0 || left > 1000);
  }

  /** Makes a call whose effects are in the model already. */
  private boolean attempt(boolean syncs, Runnable call) {
    long at = model.now;
    try {
      call.run();
    } catch (WriteStalledException | TooManyRangeDeletesException e) {
      model.trees.forEach(tree -> tree.forget(version -> version.at() == at));
      model.returned = model.now;
      return false;
    }
    model.returned = model.now;
    if (syncs) {
      model.acked = model.now;
      model.manifestAcked = model.now;
    }
    return true;
  }

  private Durability anyDurability() {
    return state.random.nextInt(4) == 0 ? Durability.SYNC : Durability.ASYNC;
  }

  void write() {
    Known to = state.anyTree();
    Tree tree = state.tree(to);
    byte[] key = state.anyKey(to);
    Durability durability = anyDurability();
    boolean syncs = durability == Durability.SYNC && to.logged();
    long at = model.begin();
    state.doing = "writing " + SimulatedWorld.text(key) + " to " + to.name();
    if (state.random.nextInt(5) == 0) {
      to.write(key, null, at);
      attempt(syncs, () -> tree.delete(key, durability));
      return;
    }
    ModelValue value = anyValue(tree);
    if (merges(to, key)) {
      to.merge(key, value.bytes(), at, lifetime(tree), state.millis());
      attempt(syncs, () -> tree.merge(key, value.bytes(), durability));
      return;
    }
    // The first conditional write waits for a copy's operation, which is this thread's.
    switch (state.looking ? 7 : state.random.nextInt(8)) {
      case 0 -> {
        long expires =
            state.millis() + (state.random.nextBoolean() ? 2 : 1 + state.random.nextInt(3000));
        to.write(key, value, at, expires);
        attempt(
            syncs, () -> tree.put(key, value.bytes(), Instant.ofEpochMilli(expires), durability));
      }
      case 1 -> {
        byte[] before = to.get(key, at);
        if (before == null) {
          to.write(key, value, at, lifetime(tree));
        }
        attempt(
            syncs && before == null,
            () -> assertArrayEquals(before, tree.putIfAbsent(key, value.bytes(), durability)));
      }
      case 2 -> {
        to.write(key, value, at, lifetime(tree));
        ByteBuffer direct = ByteBuffer.allocateDirect(value.length() + 3).position(3);
        direct.put(3, value.bytes());
        attempt(syncs, () -> tree.put(ByteBuffer.wrap(key), direct, durability));
      }
      default -> {
        to.write(key, value, at, lifetime(tree));
        attempt(syncs, () -> tree.put(key, value.bytes(), durability));
      }
    }
  }

  void deleteRange() {
    Known to = state.anyTree();
    byte @Nullable [][] range = state.anyRange(to);
    Durability durability = anyDurability();
    boolean empty = Arrays.equals(range[0], range[1]) && range[0] != null;
    state.doing = "deleting a range of " + to.name();
    to.deleteRange(range[0], range[1], model.begin());
    attempt(
        durability == Durability.SYNC && to.logged() && !empty,
        () -> state.tree(to).deleteRange(range[0], range[1], durability));
  }

  void batch() {
    WriteBatch batch = state.store.newBatch();
    Known first = state.anyTree();
    List<Known> to = model.live().stream().filter(tree -> tree.logged() == first.logged()).toList();
    long at = model.begin();
    state.doing = "a batch";
    boolean anyLogged = false;
    for (int i = state.random.nextInt(20); i >= 0; i--) {
      Known of = to.get(state.random.nextInt(to.size()));
      Tree tree = state.tree(of);
      byte[] key = state.anyKey(of);
      if (state.random.nextInt(10) == 0) {
        byte @Nullable [][] range = state.anyRange(of);
        batch.deleteRange(tree, range[0], range[1]);
        of.deleteRange(range[0], range[1], at);
      }
      ModelValue value = state.random.nextInt(4) == 0 ? null : anyValue(tree);
      if (batch.sizeBytes() + (value == null ? 0 : value.length()) > 32 << 10) {
        break;
      }
      anyLogged |= of.logged();
      if (value == null) {
        batch.delete(tree, key);
        of.write(key, null, at);
      } else if (merges(of, key)) {
        batch.merge(tree, key, value.bytes());
        of.merge(key, value.bytes(), at, lifetime(tree), state.millis());
      } else if (state.random.nextInt(8) == 0) {
        long expires = state.millis() + 1 + state.random.nextInt(2000);
        batch.put(tree, key, value.bytes(), Instant.ofEpochMilli(expires));
        of.write(key, value, at, expires);
      } else {
        batch.put(tree, key, value.bytes());
        of.write(key, value, at, lifetime(tree));
      }
    }
    Durability durability = anyDurability();
    attempt(durability == Durability.SYNC && anyLogged, () -> state.store.write(batch, durability));
  }

  void burst() {
    Known to = state.anyTree();
    Tree tree = state.tree(to);
    int count = state.random.nextInt(400);
    int from = state.random.nextInt(20_000);
    int stride = state.random.nextInt(3);
    int length = state.random.nextInt(4) == 0 ? state.pageSize / 8 : 30 + state.random.nextInt(300);
    for (int i = 0; i < count && state.wrong == null; i++) {
      state.doing = "put " + i + " of a burst of " + count + " into " + to.name();
      byte[] hot = HistoryEntries.key("hot", i & 7, 1);
      boolean merges = merges(to, hot);
      byte[] key =
          merges
              ? hot
              : stride == 0 ? state.anyKey(to) : HistoryEntries.key("k", from + i * stride, 3);
      ModelValue value = ModelValue.of(state.random, length, i);
      long at = model.begin();
      if (merges) {
        to.merge(key, value.bytes(), at, lifetime(tree), state.millis());
      } else {
        to.write(key, value, at, lifetime(tree));
      }
      attempt(
          false,
          () -> {
            if (merges) {
              tree.merge(key, value.bytes(), Durability.ASYNC);
            } else {
              tree.put(key, value.bytes(), Durability.ASYNC);
            }
          });
      if ((i & 15) == 0) {
        state.world.background(state.random.nextInt(3));
      }
    }
  }

  /** Writes the same keys again and again, each time flushed: so that there are tiers. */
  void pileUp() {
    Known to = state.anyTree();
    Tree tree = state.tree(to);
    int from = state.random.nextInt(4) * 1000;
    int count = 20 + state.random.nextInt(60);
    int length = 200 + state.random.nextInt(state.pageSize / 2);
    for (int round = 2 + state.random.nextInt(8); round > 0 && state.wrong == null; round--) {
      if (state.random.nextInt(6) == 0) {
        to.deleteRange(HistoryEntries.key("p", from, 3), null, model.begin());
        attempt(
            false,
            () -> tree.deleteRange(HistoryEntries.key("p", from, 3), null, Durability.ASYNC));
      }
      for (int i = state.random.nextInt(3);
          i < count && state.wrong == null;
          i += 1 + state.random.nextInt(2)) {
        byte[] key = HistoryEntries.key("p", from + i, 3);
        ModelValue value = ModelValue.of(state.random, length, model.now);
        state.doing = "piling up in " + to.name();
        if (to.keys.comparator().compare(key, HistoryEntries.key("p", from, 3)) < 0) {
          continue;
        }
        to.write(key, value, model.begin(), lifetime(tree));
        attempt(false, () -> tree.put(key, value.bytes(), Durability.ASYNC));
      }
      state.store.flush();
      model.acked = model.now;
      model.manifestAcked = model.now;
      if (state.random.nextBoolean()) {
        state.world.background(state.random.nextInt(12));
      }
    }
  }

  void bulkLoad() {
    List<Known> to = model.live().stream().filter(tree -> state.random.nextInt(3) == 0).toList();
    if (to.size() > 6) {
      to = to.subList(0, 6);
    }
    Map<Known, TreeMap<byte[], ModelValue>> entries = new HashMap<>();
    for (Known each : to) {
      TreeMap<byte[], ModelValue> sorted = new TreeMap<>(each.keys.comparator());
      for (int i = state.random.nextInt(200); i >= 0; i--) {
        sorted.put(state.anyKey(each), anyValue(state.tree(each)));
      }
      entries.put(each, sorted);
    }
    Tree[] all = to.stream().map(state::tree).toArray(Tree[]::new);
    state.doing = "loading in bulk into " + to.stream().map(Known::name).toList();
    try (BulkLoad load = state.store.bulkLoad(all)) {
      model.acked = model.now;
      Map<Known, Long> lifetimes = new HashMap<>();
      for (Known each : to) {
        lifetimes.put(each, lifetime(state.tree(each)));
        entries.get(each).forEach((key, value) -> load.add(state.tree(each), key, value.bytes()));
        if (state.random.nextInt(3) == 0) {
          write();
        }
      }
      if (state.random.nextInt(5) == 0) {
        return;
      }
      state.doing = "committing a load";
      long at = model.begin();
      for (Known each : to) {
        entries.get(each).forEach((key, value) -> each.write(key, value, at, lifetimes.get(each)));
      }
      boolean unlogged = to.stream().anyMatch(each -> !each.logged());
      if (unlogged) {
        model.nextCheckpoint = model.now;
      }
      load.commit();
      model.returned = model.now;
      if (unlogged) {
        model.checkpoint = model.nextCheckpoint;
      }
      model.acked = model.now;
      model.manifestAcked = model.now;
    }
  }

  void transaction() {
    boolean logged = state.anyTree().logged();
    List<Known> to =
        model.live().stream()
            .filter(tree -> tree.logged() == logged)
            .filter(
                tree -> {
                  long lifetime = state.tree(tree).timeToLive().toMillis();
                  return lifetime == 0 || lifetime > 100_000;
                })
            .limit(6)
            .toList();
    if (to.isEmpty()) {
      return;
    }
    state.doing = "a transaction";
    Durability durability = anyDurability();
    TransactionOptions how =
        TransactionOptions.builder()
            .locking(state.random.nextBoolean() ? Locking.OPTIMISTIC : Locking.PESSIMISTIC)
            .isolation(Isolation.values()[state.random.nextInt(Isolation.values().length)])
            .durability(durability)
            .build();
    long at = model.begin();
    try (Transaction transaction = state.store.begin(how)) {
      play(transaction, to, at);
      if (state.random.nextInt(4) == 0) {
        Savepoint savepoint = transaction.savepoint();
        Map<Known, Map<byte[], Integer>> sizes = new HashMap<>();
        for (Known each : to) {
          Map<byte[], Integer> size = new TreeMap<>(each.keys.comparator());
          each.keys.forEach((key, versions) -> size.put(key, versions.size()));
          sizes.put(each, size);
        }
        play(transaction, to, at);
        transaction.rollbackTo(savepoint);
        for (Known each : to) {
          each.keys.forEach(
              (key, versions) -> {
                int size = sizes.get(each).getOrDefault(key, 0);
                while (versions.size() > size) {
                  versions.remove(versions.size() - 1);
                }
              });
          each.forget(version -> false);
        }
      }
      if (state.random.nextInt(4) == 0) {
        transaction.rollback();
        model.trees.forEach(tree -> tree.forget(version -> version.at() == at));
        model.returned = model.now;
        return;
      }
      attempt(false, transaction::commit);
    }
  }

  private void play(Transaction transaction, List<Known> to, long at) {
    for (int i = state.random.nextInt(10); i >= 0; i--) {
      Known of = to.get(state.random.nextInt(to.size()));
      Tree tree = state.tree(of);
      byte[] key = state.anyKey(of);
      ModelValue value = ModelValue.of(state.random, 20 + state.random.nextInt(600), model.now + i);
      switch (state.random.nextInt(8)) {
        case 0 -> {
          transaction.delete(tree, key);
          of.write(key, null, at);
        }
        case 1 -> {
          byte @Nullable [][] range = state.anyRange(of);
          transaction.deleteRange(tree, range[0], range[1]);
          of.deleteRange(range[0], range[1], at);
        }
        case 2, 3 -> {
          if (merges(of, key)) {
            transaction.merge(tree, key, value.bytes());
            of.merge(key, value.bytes(), at, lifetime(tree), state.millis());
          }
        }
        default -> {
          transaction.put(tree, key, value.bytes());
          of.write(key, value, at, lifetime(tree));
        }
      }
      byte[] other = state.random.nextBoolean() ? key : state.anyKey(of);
      assertArrayEquals(of.get(other, at), transaction.get(tree, other), "in a transaction");
      if (state.random.nextInt(8) == 0) {
        try (Cursor cursor = transaction.cursor(tree)) {
          boolean more = cursor.first();
          for (byte[] expected : of.keys.keySet()) {
            byte[] content = of.get(expected, at);
            if (content != null) {
              assertTrue(more, "a transaction's cursor has ended");
              assertArrayEquals(expected, cursor.key());
              assertArrayEquals(content, cursor.value());
              more = cursor.next();
            }
          }
          assertTrue(!more, "a transaction's cursor goes on");
        }
      }
    }
  }
}
