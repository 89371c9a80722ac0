package io.isobardb.bench.crash;

import io.isobardb.bench.crash.Expected.ExpectedTree;
import io.isobardb.lsm.BulkLoad;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.simulation.ModelValue;
import io.isobardb.lsm.simulation.SimulatedWorld;
import io.isobardb.lsm.simulation.Watchdog;
import java.time.Instant;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Random operations on a simulated store, each of them told to the model as it begins and ends.
 *
 * <p>One in eight workloads is <em>wide</em>: so much data that there are several levels.
 *
 * <p>Thread rule: one thread.
 */
final class Workload {
  /** The longest value there can be. */
  private static final int MAX_VALUE = 64 << 10;

  private static final int MAX_TREES = 4;

  /** After so long an entry expires soon. */
  private static final long SOON_NANOS = 2_000_000;

  /** No workload lasts so long. */
  private static final Instant LATE = Instant.parse("2100-01-01T00:00:00Z");

  private final SplittableRandom random;
  private final Expected expected;
  private final Coverage coverage;
  private final BooleanSupplier stop;
  private final int pageSize;
  private final int keys;
  private final int valueBytes;
  private final boolean wide;
  private SimulatedWorld world;
  private Store store;
  private boolean loading;

  /**
   * @param stop whether long operations are to end early
   */
  Workload(SplittableRandom random, Expected expected, Coverage coverage, BooleanSupplier stop) {
    this.random = random;
    this.expected = expected;
    this.coverage = coverage;
    this.stop = stop;
    this.wide = random.nextInt(8) == 0;
    this.pageSize = wide ? 4096 : RandomOptions.pageSize(random);
    this.keys = wide ? 900 : 10 + random.nextInt(90);
    this.valueBytes = random.nextInt(3) == 0 ? 2500 : 300;
  }

  int pageSize() {
    return pageSize;
  }

  boolean isWide() {
    return wide;
  }

  /** Whether much data is being loaded. */
  boolean isLoading() {
    return loading;
  }

  /** From now on, operations go to this store. */
  void on(SimulatedWorld world, Store store) {
    this.world = world;
    this.store = store;
  }

  /** How many operations a session is to have. */
  int someOperations() {
    return 20 + random.nextInt(wide ? 40 : 80);
  }

  /** Begins a session: sees to it that there are trees, and in a wide workload data. */
  void begin() {
    while (expected.live().size() < 2) {
      create();
    }
    if (wide) {
      load();
    }
  }

  /** One operation, or a few, and some background work. */
  void operation() {
    Watchdog.mark("an operation");
    operate();
    world.background(random.nextInt(6));
  }

  private void operate() {
    int dice = random.nextInt(100);
    if (dice < 46) {
      write();
    } else if (dice < 50) {
      deleteRange();
    } else if (dice < 70) {
      batch();
    } else if (dice < 75) {
      store.sync();
      expected.acknowledge();
    } else if (dice < 80) {
      store.flush();
      expected.acknowledge();
    } else if (dice < 82) {
      store.awaitQuiet();
    } else if (dice < 85) {
      world.pass(random.nextLong(30_000_000));
    } else if (dice < 89) {
      checkpoint();
    } else if (dice < 91) {
      changeBudget();
    } else if (dice < 94) {
      burst();
    } else if (dice < 95) {
      bulkLoad();
    } else if (dice < 97) {
      drop();
    } else if (expected.live().size() < MAX_TREES) {
      create();
    }
  }

  private void create() {
    TreeOptions treeOptions = RandomOptions.tree(random);
    ExpectedTree tree = expected.creating("t" + expected.treesEver(), treeOptions);
    store.createTree(tree.name, treeOptions);
    expected.created(tree);
    coverage.count(Happening.TREE_CREATED);
  }

  private void drop() {
    if (expected.live().size() > 1) {
      ExpectedTree tree = any();
      expected.dropping(tree);
      store.dropTree(tree.name);
      expected.dropped(tree);
      coverage.count(Happening.TREE_DROPPED);
    }
  }

  private void checkpoint() {
    expected.checkpointing();
    store.checkpoint();
    expected.checkpointed();
    coverage.count(Happening.CHECKPOINT);
  }

  private void changeBudget() {
    long least = RandomOptions.minBudgetBytes(pageSize);
    store.setMemoryBudget(least << random.nextInt(wide ? 4 : 2));
    coverage.count(Happening.BUDGET_CHANGED);
  }

  private void write() {
    ExpectedTree to = any();
    Tree tree = store.tree(to.name);
    byte[] key = key();
    boolean sync = random.nextInt(8) == 0;
    Durability durability = sync ? Durability.SYNC : Durability.ASYNC;
    long at = expected.begin();
    ModelValue value = random.nextInt(5) == 0 ? null : value(at);
    boolean merges = value != null && merges(to);
    Instant expires = value == null || merges ? null : expires();
    boolean soon = expires != null && !expires.equals(LATE);
    expect(to, key, soon ? null : value, merges, at);
    if (value == null) {
      tree.delete(key, durability);
    } else if (merges) {
      tree.merge(key, value.bytes(), durability);
    } else if (expires != null) {
      tree.put(key, value.bytes(), expires, durability);
    } else {
      tree.put(key, value.bytes(), durability);
    }
    expected.returned();
    acknowledge(sync, to.options.logged());
    if (soon) {
      world.pass(SOON_NANOS);
      coverage.count(Happening.ENTRY_EXPIRED);
    }
  }

  /** When a put expires: soon, late, or mostly never. */
  private @Nullable Instant expires() {
    return switch (random.nextInt(8)) {
      case 0 -> world.now().plusNanos(SOON_NANOS);
      case 1 -> LATE;
      default -> null;
    };
  }

  private void deleteRange() {
    ExpectedTree to = any();
    byte @Nullable [][] range = someRange(to);
    boolean sync = random.nextInt(3) == 0;
    long at = expected.begin();
    to.deleteRange(range[0], range[1], at);
    store.tree(to.name).deleteRange(range[0], range[1], sync ? Durability.SYNC : Durability.ASYNC);
    expected.returned();
    // Nothing is written for an empty range, and so nothing synced.
    acknowledge(sync && !Arrays.equals(range[0], range[1]), to.options.logged());
    coverage.count(Happening.RANGE_DELETED);
  }

  /** Two keys in their order; null is no bound. */
  private byte @Nullable [][] someRange(ExpectedTree of) {
    byte[] a = random.nextInt(6) == 0 ? null : key();
    byte[] b = random.nextInt(6) == 0 ? null : key();
    boolean swap = a != null && b != null && of.keys.comparator().compare(a, b) > 0;
    return swap ? new byte @Nullable [][] {b, a} : new byte @Nullable [][] {a, b};
  }

  /** A write has returned. What is not logged waits for the next checkpoint in any case. */
  private void acknowledge(boolean sync, boolean logged) {
    if (sync && logged) {
      expected.acknowledge();
    }
  }

  private void batch() {
    WriteBatch batch = store.newBatch();
    long at = expected.begin();
    boolean logged = any().options.logged();
    List<ExpectedTree> trees =
        expected.live().stream().filter(tree -> tree.options.logged() == logged).toList();
    for (int i = 1 + random.nextInt(8); i >= 0; i--) {
      ExpectedTree to = trees.get(random.nextInt(trees.size()));
      byte[] key = key();
      if (random.nextInt(12) == 0) {
        byte @Nullable [][] range = someRange(to);
        to.deleteRange(range[0], range[1], at);
        batch.deleteRange(store.tree(to.name), range[0], range[1]);
      }
      ModelValue value = random.nextInt(4) == 0 ? null : value(at);
      boolean merges = value != null && merges(to);
      expect(to, key, value, merges, at);
      if (value == null) {
        batch.delete(store.tree(to.name), key);
      } else if (merges) {
        batch.merge(store.tree(to.name), key, value.bytes());
      } else if (random.nextInt(8) == 0) {
        batch.put(store.tree(to.name), key, value.bytes(), LATE);
      } else {
        batch.put(store.tree(to.name), key, value.bytes());
      }
    }
    boolean sync = random.nextInt(6) == 0;
    store.write(batch, sync ? Durability.SYNC : Durability.ASYNC);
    expected.returned();
    acknowledge(sync, logged);
  }

  /** So many writes that memory has to be flushed, and merged before that. */
  private void burst() {
    ExpectedTree to = any();
    int count = 20 + random.nextInt(150);
    int length = random.nextInt(3) == 0 ? 4000 : 900;
    for (int i = 0; i < count && !stop.getAsBoolean(); i++) {
      put(to, key(), length);
      if (i % 8 == 0) {
        world.background(random.nextInt(3));
      }
    }
  }

  /** Entries in the order of their keys, for one tree or more, and writes of others meanwhile. */
  private void bulkLoad() {
    List<ExpectedTree> to = expected.live().stream().filter(tree -> random.nextBoolean()).toList();
    Map<ExpectedTree, TreeMap<byte[], ModelValue>> entries = new LinkedHashMap<>();
    for (ExpectedTree tree : to) {
      TreeMap<byte[], ModelValue> sorted = new TreeMap<>(tree.keys.comparator());
      // All of it must fit into one batch, for those who repeat what a crash has taken.
      for (int i = random.nextInt(25); i >= 0; i--) {
        sorted.put(key(), ModelValue.of(random, random.nextInt(600), expected.begun() + i + 1));
      }
      entries.put(tree, sorted);
    }
    Tree[] trees = to.stream().map(tree -> store.tree(tree.name)).toArray(Tree[]::new);
    try (BulkLoad load = store.bulkLoad(trees)) {
      expected.acknowledge();
      entries.forEach(
          (tree, sorted) -> {
            sorted.forEach((key, value) -> load.add(store.tree(tree.name), key, value.bytes()));
            write();
          });
      if (random.nextInt(5) == 0) {
        return;
      }
      long at = expected.begin();
      entries.forEach((tree, sorted) -> sorted.forEach((key, value) -> tree.write(key, value, at)));
      boolean checkpoint = to.stream().anyMatch(tree -> !tree.options.logged());
      if (checkpoint) {
        expected.checkpointing();
      }
      load.commit();
      expected.returned();
      if (checkpoint) {
        expected.checkpointed();
      }
      expected.acknowledge();
      coverage.count(Happening.BULK_LOADED);
    }
  }

  /** So much data that there are several levels. */
  private void load() {
    loading = true;
    ExpectedTree to = any();
    for (int i = 0; i < keys && !stop.getAsBoolean(); i++) {
      put(to, key(i), 4000);
      if (i % 4 == 0) {
        world.background(random.nextInt(3));
      }
    }
    store.flush();
    expected.acknowledge();
    store.awaitQuiet();
    loading = false;
  }

  private void put(ExpectedTree to, byte[] key, int length) {
    long at = expected.begin();
    ModelValue value = ModelValue.of(random, length, at);
    boolean merges = merges(to);
    expect(to, key, value, merges, at);
    if (merges) {
      store.tree(to.name).merge(key, value.bytes(), Durability.ASYNC);
    } else {
      store.tree(to.name).put(key, value.bytes(), Durability.ASYNC);
    }
    expected.returned();
  }

  /** Whether the next write to a tree is a merge. */
  private boolean merges(ExpectedTree to) {
    return to.options.mergeOperator() != null && random.nextInt(4) != 0;
  }

  private void expect(
      ExpectedTree to, byte[] key, @Nullable ModelValue value, boolean merges, long at) {
    if (value != null && merges) {
      to.merge(key, value.bytes(), at);
    } else {
      to.write(key, value, at);
    }
  }

  private ExpectedTree any() {
    List<ExpectedTree> live = expected.live();
    return live.get(random.nextInt(live.size()));
  }

  private byte[] key() {
    return key(random.nextInt(keys));
  }

  /** Keys with common beginnings, some of them long. */
  private static byte[] key(int i) {
    byte[] key = ((i % 3 == 0 ? "key/" : "a long common prefix/") + i).getBytes();
    return i % 17 == 0 ? Arrays.copyOf(key, 300) : key;
  }

  private ModelValue value(long at) {
    int length =
        switch (random.nextInt(24)) {
          case 0 -> 0;
          case 1 -> 6000;
          case 2 -> random.nextInt(MAX_VALUE / 2);
          default -> random.nextInt(2 * valueBytes);
        };
    return ModelValue.of(random, length, at);
  }
}
