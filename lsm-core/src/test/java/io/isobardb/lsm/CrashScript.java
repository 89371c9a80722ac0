package io.isobardb.lsm;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.io.CrashMode;
import io.isobardb.lsm.io.SimulatedStorage;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A workload on a simulated disk whose power fails at many moments: each time a copy of the disk is
 * opened and must hold what a prefix of the writes makes, over all trees together, with every
 * acknowledged one among them. The original goes on.
 */
final class CrashScript {
  /** How far the creation and the drop of a tree have come. */
  private static final class Life {
    final StoreModel.ModelTree tree;
    boolean created;
    boolean dropping;
    boolean dropped;

    Life(StoreModel.ModelTree tree) {
      this.tree = tree;
    }
  }

  private final SplittableRandom random;
  private final SimulatedWorld world;
  private final StoreOptions options;
  private final double share;
  private final Map<String, Life> lives = new TreeMap<>();
  private Store store;

  /**
   * Writes begun, each one operation or batch; the number of the last is its place in the order.
   */
  private long begun;

  /** All up to this one are durable. */
  private long acknowledged;

  private long states;
  private @Nullable Throwable failure;
  private @Nullable String where;

  /**
   * @param share of the moments at which the power fails, each in one way; above 1, all moments in
   *     all ways
   */
  CrashScript(long seed, double share) {
    this.random = new SplittableRandom(seed);
    this.share = share;
    this.world = new SimulatedWorld(random.nextLong());
    world.storage().supportsDirect(random.nextBoolean());
    world.storage().onMutation(this::mayCrash);
    // With little write memory, replay has to flush.
    long budget = 4L << 20;
    this.options =
        StoreOptions.builder()
            .memoryBudget(budget)
            .writeMemory(random.nextBoolean() ? budget / 2 : budget / 8)
            .pageSize(4096)
            .logLimit(1 << 20)
            .asyncSyncInterval(Duration.ofMillis(2))
            .backgroundThreads(1 + random.nextInt(3))
            .build();
    this.store = world.open(options);
  }

  /** States opened and checked. */
  long states() {
    return states;
  }

  /** Runs the workload in {@code sessions}, closing the store after each. */
  void run(int sessions, int operations, int valueBytes) throws Throwable {
    for (int session = 0; session < sessions; session++) {
      if (session > 0) {
        store = world.open(options);
      }
      if (live().size() < 2) {
        create();
        create();
      }
      for (int i = 0; i < operations && failure == null; i++) {
        operation(valueBytes);
        world.background(random.nextInt(6));
      }
      store.close();
      acknowledged = begun;
      rethrow();
      world.checkClosed();
    }
    world.storage().onMutation(storage -> {});
  }

  private void rethrow() throws Throwable {
    if (failure != null) {
      throw new AssertionError(where, failure);
    }
  }

  private List<Life> live() {
    return lives.values().stream().filter(life -> life.created && !life.dropping).toList();
  }

  private void create() {
    String name = "t" + lives.size();
    TreeOptions treeOptions =
        TreeOptions.builder()
            .compression(random.nextInt(3) == 0 ? Compression.LZ4 : Compression.NONE)
            .build();
    Life life = new Life(new StoreModel.ModelTree(name, treeOptions));
    lives.put(name, life);
    store.createTree(name, treeOptions);
    life.created = true;
  }

  private void operation(int valueBytes) {
    int dice = random.nextInt(100);
    if (dice < 55) {
      StoreModel.ModelTree to = any();
      byte[] key = key();
      boolean sync = random.nextInt(8) == 0;
      Durability durability = sync ? Durability.SYNC : Durability.ASYNC;
      StoreModel.Value value = random.nextInt(5) == 0 ? null : value(valueBytes);
      to.write(key, value, ++begun);
      long at = begun;
      if (value == null) {
        store.tree(to.name).delete(key, durability);
      } else {
        store.tree(to.name).put(key, value.bytes(), durability);
      }
      acknowledged = sync ? at : acknowledged;
    } else if (dice < 80) {
      batch(valueBytes);
    } else if (dice < 86) {
      store.sync();
      acknowledged = begun;
    } else if (dice < 93) {
      store.flush();
    } else if (dice < 95) {
      store.awaitQuiet();
    } else if (dice < 97) {
      world.pass(3_000_000);
    } else if (dice < 98 && live().size() > 2) {
      Life life = live().get(random.nextInt(live().size()));
      life.dropping = true;
      store.dropTree(life.tree.name);
      life.dropped = true;
    } else if (live().size() < 4) {
      create();
    }
  }

  private void batch(int valueBytes) {
    WriteBatch batch = store.newBatch();
    long at = ++begun;
    for (int i = 1 + random.nextInt(5); i >= 0; i--) {
      StoreModel.ModelTree to = any();
      byte[] key = key();
      StoreModel.Value value = random.nextInt(4) == 0 ? null : value(valueBytes);
      to.write(key, value, at);
      if (value == null) {
        batch.delete(store.tree(to.name), key);
      } else {
        batch.put(store.tree(to.name), key, value.bytes());
      }
    }
    boolean sync = random.nextInt(6) == 0;
    store.write(batch, sync ? Durability.SYNC : Durability.ASYNC);
    acknowledged = sync ? at : acknowledged;
  }

  private StoreModel.ModelTree any() {
    List<Life> live = live();
    return live.get(random.nextInt(live.size())).tree;
  }

  private byte[] key() {
    return ("key-" + random.nextInt(60)).getBytes();
  }

  private StoreModel.Value value(int bytes) {
    int length = random.nextInt(12) == 0 ? 6000 : random.nextInt(2 * bytes);
    return StoreModel.Value.of(random, length, begun);
  }

  private void mayCrash(SimulatedStorage storage) {
    if (failure != null) {
      return;
    }
    if (share > 1) {
      for (CrashMode mode : CrashMode.values()) {
        crash(storage, mode, random.nextLong());
      }
    } else if (random.nextDouble() < share) {
      CrashMode[] modes = CrashMode.values();
      crash(storage, modes[random.nextInt(modes.length)], random.nextLong());
    }
  }

  /** Whatever goes wrong is kept for later: the engine would take it for an I/O error. */
  private void crash(SimulatedStorage storage, CrashMode mode, long seed) {
    if (failure != null) {
      return;
    }
    where = "crash " + mode + " before mutation " + storage.mutations() + ", seed " + seed;
    SplittableRandom dice = new SplittableRandom(seed);
    try {
      if (dice.nextInt(4) != 0) {
        checkAndGoOn(storage.crash(dice, mode), dice);
        return;
      }
      // The process dies, its successor is under way, then the power fails.
      SimulatedStorage left = dice.nextBoolean() ? storage.copy() : storage.crash(dice, mode);
      List<SimulatedStorage> later = new ArrayList<>();
      left.onMutation(
          disk -> {
            if (later.isEmpty() && dice.nextInt(12) == 0) {
              later.add(disk.crash(dice, mode));
            }
          });
      where += ", then another one";
      SimulatedWorld second = new SimulatedWorld(left, dice.nextLong());
      Store reopened = second.open(options);
      second.background(dice.nextInt(30));
      left.onMutation(disk -> {});
      check(reopened);
      reopened.close();
      for (SimulatedStorage disk : later) {
        checkAndGoOn(disk, dice);
      }
    } catch (Throwable e) {
      failure = e;
    }
  }

  /** Opens a disk, checks it, writes, and checks once more after another opening. */
  private void checkAndGoOn(SimulatedStorage disk, SplittableRandom dice) throws IOException {
    states++;
    SimulatedWorld after = new SimulatedWorld(disk, dice.nextLong());
    byte[] key = "key-after".getBytes();
    byte[] value = new byte[5000];
    List<String> names;
    long prefix;
    try (Store opened = after.open(options)) {
      after.background(dice.nextInt(20));
      prefix = check(opened);
      names = opened.treeNames();
      for (String name : names) {
        opened.tree(name).put(key, value, Durability.ASYNC);
      }
      if (dice.nextBoolean()) {
        opened.flush();
      }
    }
    after.checkClosed();
    try (Store again = after.open(options)) {
      assertEquals(names, again.treeNames());
      for (String name : names) {
        assertArrayEquals(value, again.tree(name).get(key));
        again.tree(name).delete(key);
      }
      assertTrue(holds(contents(again), prefix), "no more the prefix up to write " + prefix);
    }
    after.checkClosed();
  }

  /** Finds the prefix of the writes that the store holds. */
  private long check(Store opened) {
    for (Life life : lives.values()) {
      boolean there = opened.treeNames().contains(life.tree.name);
      if (life.dropped || (life.created && !life.dropping)) {
        assertEquals(!life.dropped, there, life.tree.name);
      }
    }
    Map<String, TreeMap<byte[], byte[]>> contents = contents(opened);
    for (long prefix = begun; prefix >= acknowledged; prefix--) {
      if (holds(contents, prefix)) {
        return prefix;
      }
    }
    StringBuilder message = new StringBuilder();
    for (Map.Entry<String, TreeMap<byte[], byte[]>> tree : contents.entrySet()) {
      message.append(describe(tree.getKey(), tree.getValue()));
    }
    throw new AssertionError(
        "no prefix from write " + acknowledged + " to " + begun + " makes this:" + message);
  }

  /** Which prefixes would make each key of a tree what it is, where those are not all. */
  private String describe(String name, TreeMap<byte[], byte[]> contents) {
    StringBuilder text = new StringBuilder();
    StoreModel.ModelTree tree = lives.get(name).tree;
    for (byte[] key : tree.keys.keySet()) {
      StringBuilder fitting = new StringBuilder();
      boolean all = true;
      for (long prefix = acknowledged; prefix <= begun; prefix++) {
        if (Arrays.equals(tree.get(key, prefix), contents.get(key))) {
          fitting.append(' ').append(prefix);
        } else {
          all = false;
        }
      }
      if (!all) {
        text.append("\n  ").append(name).append(' ').append(new String(key)).append(" fits");
        text.append(fitting.length() > 200 ? fitting.substring(0, 200) + "..." : fitting);
      }
    }
    return text.toString();
  }

  private static Map<String, TreeMap<byte[], byte[]>> contents(Store opened) {
    Map<String, TreeMap<byte[], byte[]>> contents = new TreeMap<>();
    for (String name : opened.treeNames()) {
      TreeMap<byte[], byte[]> entries = new TreeMap<>(Arrays::compareUnsigned);
      try (Cursor cursor = opened.tree(name).cursor()) {
        for (boolean more = cursor.first(); more; more = cursor.next()) {
          entries.put(cursor.key(), cursor.value());
        }
      }
      contents.put(name, entries);
    }
    return contents;
  }

  private boolean holds(Map<String, TreeMap<byte[], byte[]>> contents, long prefix) {
    for (Map.Entry<String, TreeMap<byte[], byte[]>> tree : contents.entrySet()) {
      StoreModel.ModelTree expected = lives.get(tree.getKey()).tree;
      int found = 0;
      for (byte[] key : expected.keys.keySet()) {
        byte[] value = expected.get(key, prefix);
        if (!Arrays.equals(value, tree.getValue().get(key))) {
          return false;
        }
        found += value == null ? 0 : 1;
      }
      if (found != tree.getValue().size()) {
        return false;
      }
    }
    return true;
  }
}
