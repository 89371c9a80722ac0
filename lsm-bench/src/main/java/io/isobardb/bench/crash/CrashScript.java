package io.isobardb.bench.crash;

import io.isobardb.bench.crash.Expected.ExpectedTree;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.io.SimulatedStorage;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * A random workload on a simulated disk whose power fails before every mutating call, or every k-th
 * one: each time copies of the disk, as different crashes leave it, are opened and verified. The
 * original goes on.
 *
 * <p>All is drawn from the seed; which crashes are looked at does not change the workload, so a
 * single one can be replayed.
 *
 * <p>Thread rule: one thread.
 */
final class CrashScript {
  /** Where there is much data, states are dear: of the crashes, only every so many-th counts. */
  private static final int WIDE_STRIDE = 8;

  /** The same while that data is loaded. */
  private static final int LOAD_STRIDE = 64;

  private static final int MAX_TREES = 4;

  /**
   * Which crashes to look at.
   *
   * @param stride every how many mutating calls
   * @param survivals what is left, each of these at each call
   * @param at the only mutating call to look at, or -1 for all
   */
  record Crashes(int stride, Set<Survival> survivals, long at) {
    boolean at(long mutation, long seed, int thinned) {
      return at >= 0 ? mutation == at : (mutation + seed) % ((long) stride * thinned) == 0;
    }
  }

  /**
   * What was found wrong.
   *
   * @param mutation the mutating call before which the crash came, or -1 if there was no crash
   * @param survival what was left, or null
   * @param cause what is wrong
   */
  record Violation(long seed, long mutation, @Nullable Survival survival, Throwable cause) {}

  private final long seed;
  private final Crashes crashes;
  private final Coverage coverage;
  private final SplittableRandom random;
  private final Expected expected = new Expected();
  private final Verifier verifier;
  private final int pageSize;
  private final int keys;
  private final int valueBytes;
  private final boolean wide;
  private World world;
  private StoreOptions options;
  private Store store;
  private boolean loading;
  private @Nullable Violation violation;

  CrashScript(long seed, Crashes crashes, Coverage coverage) {
    this.seed = seed;
    this.crashes = crashes;
    this.coverage = coverage;
    this.random = new SplittableRandom(seed);
    this.verifier = new Verifier(expected, coverage);
    this.wide = random.nextInt(8) == 0;
    this.pageSize = wide ? 4096 : RandomOptions.pageSize(random);
    this.keys = wide ? 900 : 10 + random.nextInt(90);
    this.valueBytes = random.nextInt(3) == 0 ? 2500 : 300;
    this.world = new World(random.nextLong());
    this.options = RandomOptions.store(random, pageSize);
    hook();
    this.store = openStore();
  }

  /** States opened and checked. */
  long states() {
    return verifier.states();
  }

  /** Equal for equal runs. */
  long traceHash() {
    return world.storage().traceHash();
  }

  /** Runs the workload to its end, or to the first violation, which it returns. */
  @Nullable Violation run() {
    try {
      int sessions = 1 + random.nextInt(3);
      for (int session = 1; session <= sessions && violation == null; session++) {
        session();
        endSession(session == sessions);
      }
    } catch (Throwable e) {
      // Once a crash was found wrong, that is what to tell.
      if (violation == null) {
        violation = new Violation(seed, -1, null, e);
      }
    }
    try {
      abandon();
    } catch (RuntimeException e) {
      violation = violation != null ? violation : new Violation(seed, -1, null, e);
    }
    return violation;
  }

  private Store openStore() {
    Store opened = world.open(options);
    opened.addListener(coverage);
    return opened;
  }

  private void hook() {
    world.storage().supportsDirect(random.nextBoolean());
    world.storage().faults(coverage);
    world.storage().onMutation(this::mayCrash);
  }

  private void session() {
    while (expected.live().size() < 2) {
      create();
    }
    if (wide) {
      load();
    }
    int operations = 20 + random.nextInt(wide ? 40 : 80);
    for (int i = 0; i < operations && violation == null; i++) {
      operation();
      world.background(random.nextInt(6));
    }
  }

  /** Closes the store and opens it with other options, or goes on after a crash. */
  private void endSession(boolean last) throws IOException {
    if (random.nextInt(3) != 0) {
      expected.checkpointing();
      store.close();
      expected.checkpointed();
      coverage.count(Happening.CLOSED);
      world.checkClosed();
      if (last) {
        return;
      }
      options = RandomOptions.store(random, pageSize);
      store = openStore();
      return;
    }
    Survival[] survivals = Survival.values();
    SimulatedStorage disk =
        survivals[random.nextInt(survivals.length)].crash(world.storage(), random);
    abandon();
    world = new World(disk, random.nextLong());
    hook();
    store = openStore();
    expected.cutTo(verifier.contents(store, random));
  }

  private void abandon() {
    world.storage().onMutation(storage -> {});
    store.close();
  }

  private void operation() {
    int dice = random.nextInt(100);
    if (dice < 50) {
      write();
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
    } else if (dice < 95) {
      burst();
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
    Expected.Value value = random.nextInt(5) == 0 ? null : value(at);
    expected.write(to, key, value, at);
    if (value == null) {
      tree.delete(key, durability);
    } else {
      tree.put(key, value.bytes(), durability);
    }
    acknowledge(sync, to.options.logged());
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
      Expected.Value value = random.nextInt(4) == 0 ? null : value(at);
      expected.write(to, key, value, at);
      if (value == null) {
        batch.delete(store.tree(to.name), key);
      } else {
        batch.put(store.tree(to.name), key, value.bytes());
      }
    }
    boolean sync = random.nextInt(6) == 0;
    store.write(batch, sync ? Durability.SYNC : Durability.ASYNC);
    acknowledge(sync, logged);
  }

  /** So many writes that memory has to be flushed, and merged before that. */
  private void burst() {
    ExpectedTree to = any();
    int count = 20 + random.nextInt(150);
    int length = random.nextInt(3) == 0 ? 4000 : 900;
    for (int i = 0; i < count && violation == null; i++) {
      put(to, key(), length);
      if (i % 8 == 0) {
        world.background(random.nextInt(3));
      }
    }
  }

  /** So much data that there are several levels. */
  private void load() {
    loading = true;
    ExpectedTree to = any();
    for (int i = 0; i < keys && violation == null; i++) {
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
    Expected.Value value = Expected.Value.of(random, length, at);
    expected.write(to, key, value, at);
    store.tree(to.name).put(key, value.bytes(), Durability.ASYNC);
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

  private Expected.Value value(long at) {
    int length =
        switch (random.nextInt(24)) {
          case 0 -> 0;
          case 1 -> 6000;
          case 2 -> random.nextInt(Expected.MAX_VALUE / 2);
          default -> random.nextInt(2 * valueBytes);
        };
    return Expected.Value.of(random, length, at);
  }

  private int thinned() {
    return loading ? LOAD_STRIDE : wide ? WIDE_STRIDE : 1;
  }

  private void mayCrash(SimulatedStorage storage) {
    long mutation = storage.mutations();
    if (violation != null || !crashes.at(mutation, seed, thinned())) {
      return;
    }
    for (Survival survival : crashes.survivals()) {
      SplittableRandom dice =
          new SplittableRandom(seed * 31 + mutation * 0x9E3779B97F4A7C15L + survival.ordinal());
      StoreOptions later = dice.nextInt(4) == 0 ? RandomOptions.store(dice, pageSize) : options;
      try {
        verifier.verify(survival.crash(storage, dice), later, dice);
      } catch (Throwable e) {
        // Kept for later: the engine would take it for an error of the disk.
        violation = new Violation(seed, mutation, survival, e);
        return;
      }
    }
  }
}
