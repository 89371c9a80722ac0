package io.isobardb.bench.crash;

import io.isobardb.bench.crash.Expected.ExpectedTree;
import io.isobardb.lsm.BulkLoad;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.commit.StoreClock;
import io.isobardb.lsm.error.WriteStalledException;
import io.isobardb.lsm.option.Runs;
import io.isobardb.lsm.simulation.ModelTree;
import io.isobardb.lsm.simulation.ModelValue;
import io.isobardb.lsm.simulation.SimulatedWorld;
import io.isobardb.lsm.simulation.Watchdog;
import java.time.Duration;
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
  private static final long SOON_MILLIS = 2;

  /** No workload lasts so long. */
  private static final long LATE = Instant.parse("2100-01-01T00:00:00Z").toEpochMilli();

  /**
   * What expires within this time is not merged with: a write may have to wait before it counts.
   */
  private static final long NEAR_MILLIS = 1000;

  /** A clock does not leap further, so that it comes to {@link #LATE} never. */
  private static final long MOST_LEAP_MILLIS = 1L << 31;

  /** What trees of a shaped workload begin with: so little data has tiers only with much space. */
  private static final Runs FIRST_SHAPE = Runs.tiered(3);

  private static final double MUCH_SPACE = 6;

  /** Flushes of the same keys after which tiers are merged, with as many keys as are piled up. */
  private static final int PILED = 16;

  private static final int LEAST_PILED_KEYS = 45;
  private static final int PILED_BYTES = 4000;

  private static final long[] LIFETIMES = {20, 300, 5000, 86_400_000};

  private static final Runs[] SHAPES = {
    Runs.leveled(),
    Runs.lazy(2),
    Runs.lazy(3),
    Runs.tiered(2),
    Runs.tiered(5),
    Runs.of(3, 2, 1),
    Runs.of(2, 1, 1)
  };

  private final SplittableRandom random;

  /** Decides what expires when, and nothing else. */
  private final SplittableRandom times;

  /** Decides when the machine's clock leaps, and nothing else. */
  private final SplittableRandom leaps;

  /** Decides how many runs levels have, and nothing else. */
  private final SplittableRandom shapes;

  private final boolean shaped;

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

  /** How far the machine's clock has leapt ahead since the store was opened. */
  private long leaptMillis;

  private boolean leapt;

  /**
   * @param seed decides what expires
   * @param random decides all else
   * @param stop whether long operations are to end early
   */
  Workload(
      long seed,
      SplittableRandom random,
      Expected expected,
      Coverage coverage,
      BooleanSupplier stop) {
    this.times = new SplittableRandom(~seed);
    this.leaps = new SplittableRandom(~seed >>> 1);
    this.shapes = new SplittableRandom(~seed >>> 2);
    this.shaped = shapes.nextInt(3) == 0;
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

  /** Whether the machine's clock has ever leapt. */
  boolean hasLeapt() {
    return leapt;
  }

  /** Whether much data is being loaded. */
  boolean isLoading() {
    return loading;
  }

  /** From now on, operations go to this store. */
  void on(SimulatedWorld world, Store store) {
    this.world = world;
    this.store = store;
    // A store that is opened believes its clock.
    leaptMillis = 0;
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
    } else if (shaped && keys >= LEAST_PILED_KEYS) {
      pileUp();
    }
  }

  /** Writes the same keys again and again, a half of them at a time. Nothing of it is drawn. */
  private void pileUp() {
    ExpectedTree to = expected.live().get(0);
    for (int round = 0; round < PILED && !stop.getAsBoolean(); round++) {
      for (int i = round % 2; i < keys; i += 2) {
        long at = expected.begin();
        ModelValue value = ModelValue.of(new SplittableRandom(at), PILED_BYTES, at);
        byte[] key = key(i);
        expect(to, key, value, false, at, null);
        tryWrite(() -> store.tree(to.name).put(key, value.bytes(), Durability.ASYNC));
      }
      store.flush();
      expected.acknowledge();
      store.awaitQuiet();
    }
  }

  /** One operation, or a few, and some background work. */
  void operation() {
    Watchdog.mark("an operation");
    if (times.nextInt(40) == 0) {
      changeTimeToLive();
    }
    if (leaps.nextInt(40) == 0) {
      leap();
    }
    if (shaped && shapes.nextInt(20) == 0) {
      changeShape();
    }
    operate();
    world.background(random.nextInt(6));
  }

  /** As {@link #operation}, in the middle of another call: nothing that has to wait for that. */
  void writeMeanwhile() {
    switch (random.nextInt(8)) {
      case 0 -> deleteRange();
      case 1, 2 -> batch();
      case 3 -> {
        store.flush();
        expected.acknowledge();
      }
      default -> write();
    }
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
    if (times.nextInt(4) == 0) {
      treeOptions = treeOptions.toBuilder().timeToLive(someLifetime()).build();
    }
    ExpectedTree tree = expected.creating("t" + expected.treesEver(), treeOptions);
    store.createTree(tree.name, treeOptions);
    if (shaped) {
      store.tree(tree.name).setMaxSpace(MUCH_SPACE);
      store.tree(tree.name).setRuns(FIRST_SHAPE);
    }
    expected.created(tree, store.options().durability() == Durability.SYNC);
    coverage.count(Happening.TREE_CREATED);
  }

  private void drop() {
    if (expected.live().size() > 1) {
      ExpectedTree tree = any();
      expected.dropping(tree);
      store.dropTree(tree.name);
      expected.dropped(tree, store.options().durability() == Durability.SYNC);
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
    boolean merges = value != null && merges(to, key);
    int dice = value == null || merges ? -1 : random.nextInt(8);
    boolean soon = dice == 0;
    Long expires = dice < 0 ? null : expires(dice);
    expect(to, key, value, merges, at, expires);
    boolean written =
        tryWrite(
            () -> {
              if (value == null) {
                tree.delete(key, durability);
              } else if (merges) {
                tree.merge(key, value.bytes(), durability);
              } else if (expires != null) {
                tree.put(key, value.bytes(), Instant.ofEpochMilli(expires), durability);
              } else {
                tree.put(key, value.bytes(), durability);
              }
            });
    acknowledge(sync && written, to.options.logged());
    if (soon) {
      world.pass(SOON_MILLIS * 1_000_000);
      coverage.count(Happening.ENTRY_EXPIRED);
    }
  }

  private long now() {
    return world.now().toEpochMilli();
  }

  /** When a put expires, if it says so: soon, late, or in between. */
  private @Nullable Long expires(int dice) {
    return switch (dice) {
      case 0 -> Long.valueOf(now() + SOON_MILLIS);
      case 1 -> Long.valueOf(LATE);
      default -> expires();
    };
  }

  /** When a put expires, if it says so: within the time of some operations. */
  private @Nullable Long expires() {
    return times.nextInt(6) == 0 ? now() + 1 + times.nextInt(400) : null;
  }

  /** When what is written now expires that does not say. */
  private long lifetime(ExpectedTree of) {
    long millis = store.tree(of.name).timeToLive().toMillis();
    return millis == 0 ? ModelTree.NEVER : now() + millis;
  }

  private Duration someLifetime() {
    return Duration.ofMillis(LIFETIMES[times.nextInt(LIFETIMES.length)]);
  }

  private void changeTimeToLive() {
    List<ExpectedTree> live = expected.live();
    Tree tree = store.tree(live.get(times.nextInt(live.size())).name);
    tree.setTimeToLive(times.nextInt(3) == 0 ? Duration.ZERO : someLifetime());
    coverage.count(Happening.LIFETIME_CHANGED);
  }

  private void changeShape() {
    List<ExpectedTree> live = expected.live();
    Tree tree = store.tree(live.get(shapes.nextInt(live.size())).name);
    tree.setRuns(Runs.leveled());
    tree.setMaxSpace(shapes.nextInt(3) == 0 ? 0 : 2.5 + shapes.nextInt(6));
    if (tree.maxSpace() >= 2) {
      tree.setRuns(SHAPES[shapes.nextInt(SHAPES.length)]);
    }
    if (shapes.nextInt(3) == 0) {
      tree.setCompression(RandomOptions.compression(shapes));
    }
    coverage.count(Happening.SHAPE_CHANGED);
  }

  /** The machine's clock leaps ahead, or is set right before anything is lost by that. */
  private void leap() {
    leapt = true;
    long ahead =
        leaptMillis == 0 ? leaps.nextLong(StoreClock.LEAP_MILLIS * 2, MOST_LEAP_MILLIS) : 0;
    world.clock().jumpWall(ahead - leaptMillis);
    leaptMillis = ahead;
    coverage.count(Happening.CLOCK_LEAPT);
  }

  private void deleteRange() {
    ExpectedTree to = any();
    byte @Nullable [][] range = someRange(to);
    boolean sync = random.nextInt(3) == 0;
    long at = expected.begin();
    to.deleteRange(range[0], range[1], at);
    Durability durability = sync ? Durability.SYNC : Durability.ASYNC;
    boolean written =
        tryWrite(() -> store.tree(to.name).deleteRange(range[0], range[1], durability));
    // Nothing is written for an empty range, and so nothing synced.
    acknowledge(sync && written && !Arrays.equals(range[0], range[1]), to.options.logged());
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
      boolean merges = value != null && merges(to, key);
      boolean late = value != null && !merges && random.nextInt(8) == 0;
      Long expires = value == null || merges ? null : late ? Long.valueOf(LATE) : expires();
      expect(to, key, value, merges, at, expires);
      if (value == null) {
        batch.delete(store.tree(to.name), key);
      } else if (merges) {
        batch.merge(store.tree(to.name), key, value.bytes());
      } else if (expires != null) {
        batch.put(store.tree(to.name), key, value.bytes(), Instant.ofEpochMilli(expires));
      } else {
        batch.put(store.tree(to.name), key, value.bytes());
      }
    }
    boolean sync = random.nextInt(6) == 0;
    boolean written = tryWrite(() -> store.write(batch, sync ? Durability.SYNC : Durability.ASYNC));
    acknowledge(sync && written, logged);
  }

  /** Enough writes that memory has to be flushed, and merged before that. */
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

  /** What a bulk load puts. */
  private record Loaded(ModelValue value, long expires) {
    void addTo(BulkLoad load, Tree tree, byte[] key) {
      boolean never = expires == ModelTree.NEVER;
      load.add(tree, key, value.bytes(), never ? Instant.MAX : Instant.ofEpochMilli(expires));
    }
  }

  /** Entries in the order of their keys, for one tree or more, and writes of others meanwhile. */
  private void bulkLoad() {
    List<ExpectedTree> to = expected.live().stream().filter(tree -> random.nextBoolean()).toList();
    Map<ExpectedTree, TreeMap<byte[], Loaded>> entries = new LinkedHashMap<>();
    for (ExpectedTree tree : to) {
      TreeMap<byte[], Loaded> sorted = new TreeMap<>(tree.keys.comparator());
      // All of it must fit into one batch, for those who repeat what a crash has taken.
      for (int i = random.nextInt(25); i >= 0; i--) {
        byte[] key = key();
        long stamp = expected.begun() + i + 1;
        ModelValue value = ModelValue.of(random, random.nextInt(600), stamp);
        Long expires = expires();
        sorted.put(key, new Loaded(value, expires == null ? lifetime(tree) : expires));
      }
      entries.put(tree, sorted);
    }
    Tree[] trees = to.stream().map(tree -> store.tree(tree.name)).toArray(Tree[]::new);
    try (BulkLoad load = store.bulkLoad(trees)) {
      expected.acknowledge();
      entries.forEach(
          (tree, sorted) -> {
            sorted.forEach((key, entry) -> entry.addTo(load, store.tree(tree.name), key));
            write();
          });
      if (random.nextInt(5) == 0) {
        return;
      }
      long at = expected.begin();
      entries.forEach(
          (tree, sorted) ->
              sorted.forEach((key, entry) -> tree.write(key, entry.value, at, entry.expires)));
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

  /** Enough data for several levels. */
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
    boolean merges = merges(to, key);
    Long expires = merges || loading ? null : expires();
    expect(to, key, value, merges, at, expires);
    Tree tree = store.tree(to.name);
    tryWrite(
        () -> {
          if (merges) {
            tree.merge(key, value.bytes(), Durability.ASYNC);
          } else if (expires != null) {
            tree.put(key, value.bytes(), Instant.ofEpochMilli(expires), Durability.ASYNC);
          } else {
            tree.put(key, value.bytes(), Durability.ASYNC);
          }
        });
  }

  /** Makes the call of a write that is expected. Whether it did not refuse to wait. */
  private boolean tryWrite(Runnable call) {
    try {
      call.run();
    } catch (WriteStalledException e) {
      expected.refused();
      coverage.count(Happening.WRITE_REFUSED);
      return false;
    }
    expected.returned();
    return true;
  }

  /** Whether the next write to a key is a merge. */
  private boolean merges(ExpectedTree to, byte[] key) {
    long left = to.expires(key) - now();
    return to.options.mergeOperator() != null
        && random.nextInt(4) != 0
        && (left <= 0 || left > NEAR_MILLIS);
  }

  /**
   * A write begins.
   *
   * @param expires when the value does; null if the tree decides
   */
  private void expect(
      ExpectedTree to,
      byte[] key,
      @Nullable ModelValue value,
      boolean merges,
      long at,
      @Nullable Long expires) {
    if (value == null) {
      to.write(key, null, at);
    } else if (merges) {
      to.merge(key, value.bytes(), at, lifetime(to), now());
    } else {
      to.write(key, value, at, expires == null ? lifetime(to) : expires);
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
