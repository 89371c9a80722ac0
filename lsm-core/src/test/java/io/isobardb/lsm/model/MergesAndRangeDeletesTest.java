package io.isobardb.lsm.model;

import static io.isobardb.lsm.model.Texts.all;
import static io.isobardb.lsm.model.Texts.text;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Locking;
import io.isobardb.lsm.Savepoint;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.TransactionOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.setting.OptionLimits;
import io.isobardb.lsm.simulation.CrashMode;
import io.isobardb.lsm.simulation.FallingOrder;
import io.isobardb.lsm.simulation.ModelTree;
import io.isobardb.lsm.simulation.ModelValue;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.simulation.SimulatedWorld;
import io.isobardb.lsm.simulation.TailOperator;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Operands and range deletes of few keys, so that both meet often: behind a range delete there is
 * nothing to merge with. {@link StoreModelTest} draws both, too, among many more keys.
 *
 * <p>{@code -Disobar.model.seed=S} sets the first seed, {@code -Disobar.model.mixed=N} how many
 * follow each other.
 */
@Tag("any-jdk")
class MergesAndRangeDeletesTest {
  private static final long FIRST_SEED = Long.getLong("isobar.model.seed", 1);
  private static final int SEEDS = Integer.getInteger("isobar.model.mixed", 12);
  private static final int STEPS = 700;
  private static final int KEYS = 24;
  private static final int PAGE_SIZE = 4096;
  private static final int CRASHES = 24;

  private static final byte[] BEFORE = {0};
  private static final byte[] KEY = {1};
  private static final byte[] MARKER = {2};
  private static final byte[] BEHIND = {3};
  private static final byte[] EARLIER = {'e'};
  private static final byte[] LATER = {'l'};

  /** Two flushes begin a merge, and the log is synced by whoever needs it. */
  private static final StoreOptions BESIDE_A_MERGE =
      ExperimentalOptions.set(
              StoreOptions.builder()
                  .memoryBudget(OptionLimits.leastBudget(PAGE_SIZE))
                  .pageSize(PAGE_SIZE)
                  .durability(Durability.ASYNC)
                  .asyncSyncInterval(Duration.ofHours(1))
                  .mergeOperator(TailOperator.TAIL),
              e -> e.l0StartGroups(2).mergesWithinL0(false))
          .build();

  @Test
  void whatARangeDeleteCoversIsNotMergedWith() {
    for (long seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
      try {
        new History(seed).run();
      } catch (IOException | RuntimeException | Error e) {
        throw new AssertionError("-Disobar.model.seed=" + seed + ": " + e, e);
      }
    }
  }

  /** What is written between two range deletes of the same keys. */
  enum Between {
    NOTHING,
    A_PUT,
    AN_OPERAND
  }

  /**
   * The first range delete is no longer kept once the second one is visible. A merge comes then,
   * and a crash that takes the second one alone back.
   */
  @ParameterizedTest
  @EnumSource
  void aMergeBesideAnUnsyncedRangeDeleteLeavesWhatACrashBringsBack(Between between) {
    int lost = 0;
    int kept = 0;
    for (int steps = 0; steps < CRASHES; steps++) {
      SimulatedStorage disk = crashBesideAMerge(between, steps);
      try (Store store = new SimulatedWorld(disk, steps).open(BESIDE_A_MERGE)) {
        Tree tree = store.tree("t");
        boolean deletedAgain = tree.get(MARKER) != null;
        boolean there = between != Between.NOTHING && !deletedAgain;
        assertArrayEquals(there ? LATER : null, tree.get(KEY));
        assertNotNull(tree.get(BEFORE));
        lost += deletedAgain ? 0 : 1;
        kept += deletedAgain ? 1 : 0;
      }
    }
    assertTrue(lost > 0, "the crash never takes a range delete back");
    assertTrue(between != Between.AN_OPERAND || kept > 0, "no merge ever waits for the log");
  }

  /** Leaves what is synced after some steps of background work. */
  private static SimulatedStorage crashBesideAMerge(Between between, int steps) {
    SimulatedWorld world = new SimulatedWorld(steps);
    TreeOptions.Builder options = TreeOptions.builder();
    if (between == Between.AN_OPERAND) {
      options.mergeOperator(TailOperator.TAIL);
    }
    try (Store store = world.open(BESIDE_A_MERGE)) {
      Tree tree = store.openTree("t", options.build());
      tree.put(BEFORE, EARLIER);
      tree.put(KEY, EARLIER);
      store.flush();
      Snapshot keepsIt = store.snapshot();
      tree.deleteRange(KEY, MARKER);
      switch (between) {
        case NOTHING -> tree.put(BEFORE, LATER);
        case A_PUT -> tree.put(KEY, LATER);
        case AN_OPERAND -> tree.merge(KEY, LATER);
        default -> throw new IllegalStateException();
      }
      store.flush();
      keepsIt.close();
      WriteBatch again = store.newBatch();
      again.deleteRange(tree, KEY, MARKER);
      again.put(tree, MARKER, LATER);
      store.write(again);
      // This looks which of those before are still needed.
      tree.deleteRange(BEHIND, null);
      world.background(steps);
      return world.storage().crash(new SplittableRandom(steps), CrashMode.ONLY_SYNCED);
    }
  }

  private static final class History {
    private final SplittableRandom random;
    private final SimulatedWorld world;
    private final ModelTree model;
    private final List<Snapshot> snapshots = new ArrayList<>();
    private final List<Long> moments = new ArrayList<>();
    private Store store;
    private Tree tree;
    private long now;

    History(long seed) {
      random = new SplittableRandom(seed);
      world = new SimulatedWorld(random.nextLong());
      TreeOptions options =
          TreeOptions.builder()
              .keyOrder(random.nextInt(3) == 0 ? FallingOrder.FALLING : KeyOrder.BYTES)
              .mergeOperator(TailOperator.TAIL)
              .build();
      model = new ModelTree("t", options);
      open();
    }

    private void open() {
      store = world.open(HistoryOptions.some(random, PAGE_SIZE), world.storage());
      tree = store.openTree("t", model.options);
    }

    void run() throws IOException {
      for (int step = 0; step < STEPS; step++) {
        switch (random.nextInt(32)) {
          case 0, 1, 2 -> put();
          case 3, 4 -> delete();
          case 5, 6 -> deleteRange();
          case 7, 8, 9 -> batch();
          case 10, 11, 12 -> transaction();
          case 13, 14 -> snapshot();
          case 15 -> endSnapshot();
          case 16, 17 -> store.flush();
          case 18 -> store.awaitQuiet();
          case 19 -> store.sync();
          case 20 -> mergeOften();
          case 21 -> reopen();
          case 22, 23 -> check();
          default -> merge();
        }
        world.background(random.nextInt(4));
      }
      reopen();
      store.close();
      world.checkClosed();
    }

    private byte[] key() {
      return String.format("%02d", random.nextInt(KEYS)).getBytes(StandardCharsets.UTF_8);
    }

    private byte[] value() {
      byte[] value = new byte[random.nextInt(12) == 0 ? 0 : 1 + random.nextInt(60)];
      Arrays.fill(value, (byte) ('a' + random.nextInt(26)));
      return value;
    }

    private byte @Nullable [][] range() {
      byte[] a = random.nextInt(8) == 0 ? null : key();
      byte[] b = random.nextInt(8) == 0 ? null : key();
      boolean swap = a != null && b != null && model.keys.comparator().compare(a, b) > 0;
      return swap ? new byte @Nullable [][] {b, a} : new byte @Nullable [][] {a, b};
    }

    private void put() {
      byte[] key = key();
      byte[] value = value();
      tree.put(key, value);
      model.write(key, ModelValue.made(value), ++now);
    }

    private void delete() {
      byte[] key = key();
      tree.delete(key);
      model.write(key, null, ++now);
    }

    private void merge() {
      byte[] key = key();
      byte[] operand = value();
      tree.merge(key, operand);
      model.merge(key, operand, ++now);
    }

    private void mergeOften() {
      byte[] key = key();
      for (int i = 0; i < 40; i++) {
        byte[] operand = value();
        tree.merge(key, operand);
        model.merge(key, operand, ++now);
      }
    }

    private void deleteRange() {
      byte @Nullable [][] range = range();
      tree.deleteRange(range[0], range[1]);
      model.deleteRange(range[0], range[1], ++now);
    }

    private void batch() {
      WriteBatch batch = store.newBatch();
      long at = ++now;
      for (int i = random.nextInt(10); i >= 0; i--) {
        byte[] key = key();
        byte[] value = value();
        switch (random.nextInt(8)) {
          case 0 -> {
            batch.delete(tree, key);
            model.write(key, null, at);
          }
          case 1, 2 -> {
            byte @Nullable [][] range = range();
            batch.deleteRange(tree, range[0], range[1]);
            model.deleteRange(range[0], range[1], at);
          }
          case 3, 4 -> {
            batch.put(tree, key, value);
            model.write(key, ModelValue.made(value), at);
          }
          default -> {
            batch.merge(tree, key, value);
            model.merge(key, value, at);
          }
        }
      }
      store.write(batch);
    }

    private void transaction() {
      ModelTree own = copy(model);
      Locking locking = random.nextBoolean() ? Locking.OPTIMISTIC : Locking.PESSIMISTIC;
      TransactionOptions options = TransactionOptions.builder().locking(locking).build();
      try (Transaction transaction = store.begin(options)) {
        play(transaction, own);
        if (random.nextInt(3) == 0) {
          Savepoint savepoint = transaction.savepoint();
          play(transaction, copy(own));
          transaction.rollbackTo(savepoint);
          compare(own, transaction.cursor(tree));
        }
        if (random.nextInt(4) == 0) {
          return;
        }
        transaction.commit();
      }
      now++;
      own.keys.forEach(
          (key, versions) -> {
            byte[] value = own.get(key, Long.MAX_VALUE);
            if (!Arrays.equals(value, model.get(key, Long.MAX_VALUE))) {
              model.write(key, value == null ? null : ModelValue.made(value), now);
            }
          });
    }

    /** A tree that holds what is there now. */
    private ModelTree copy(ModelTree of) {
      ModelTree copy = new ModelTree(of.name, of.options);
      for (byte[] key : of.keys.keySet()) {
        byte[] value = of.get(key, Long.MAX_VALUE);
        if (value != null) {
          copy.write(key, ModelValue.made(value), 0);
        }
      }
      return copy;
    }

    private void play(Transaction transaction, ModelTree own) {
      for (int i = random.nextInt(8); i >= 0; i--) {
        byte[] key = key();
        byte[] value = value();
        switch (random.nextInt(8)) {
          case 0 -> {
            transaction.delete(tree, key);
            own.write(key, null, 0);
          }
          case 1, 2 -> {
            byte @Nullable [][] range = range();
            transaction.deleteRange(tree, range[0], range[1]);
            own.deleteRange(range[0], range[1], 0);
          }
          case 3 -> {
            transaction.put(tree, key, value);
            own.write(key, ModelValue.made(value), 0);
          }
          default -> {
            transaction.merge(tree, key, value);
            own.merge(key, value, 0);
          }
        }
        byte[] read = key();
        byte[] expected = own.get(read, Long.MAX_VALUE);
        assertArrayEquals(expected, transaction.get(tree, read));
        if (random.nextInt(4) == 0) {
          assertArrayEquals(expected, transaction.getForUpdate(tree, read));
          compare(own, transaction.cursor(tree));
        }
      }
    }

    private static void compare(ModelTree expected, Cursor cursor) {
      Map<String, String> live = new TreeMap<>();
      for (byte[] key : expected.keys.keySet()) {
        byte[] value = expected.get(key, Long.MAX_VALUE);
        if (value != null) {
          live.put(text(key), text(value));
        }
      }
      assertEquals(live, all(cursor));
    }

    private void snapshot() {
      if (snapshots.size() < 5) {
        snapshots.add(store.snapshot());
        moments.add(now);
      }
    }

    private void endSnapshot() {
      if (!snapshots.isEmpty()) {
        int which = random.nextInt(snapshots.size());
        snapshots.remove(which).close();
        moments.remove(which);
      }
    }

    private void check() {
      List<byte[]> keys = new ArrayList<>();
      for (int i = 0; i < KEYS; i++) {
        keys.add(String.format("%02d", i).getBytes(StandardCharsets.UTF_8));
      }
      List<byte @Nullable []> values = tree.multiGet(keys);
      for (int i = 0; i < KEYS; i++) {
        byte[] expected = model.get(keys.get(i), now);
        assertArrayEquals(expected, tree.get(keys.get(i)));
        assertArrayEquals(expected, values.get(i));
        for (int s = 0; s < snapshots.size(); s++) {
          byte[] then = model.get(keys.get(i), moments.get(s));
          assertArrayEquals(then, tree.get(keys.get(i), snapshots.get(s)));
        }
      }
      walk(now, null);
      for (int s = 0; s < snapshots.size(); s++) {
        walk(moments.get(s), snapshots.get(s));
      }
    }

    private void walk(long at, @Nullable Snapshot snapshot) {
      ModelCursor cursor = ModelCursor.open(tree, model, at, snapshot, null, null);
      cursor.walkAll();
      cursor.close();
    }

    private void reopen() {
      check();
      while (!snapshots.isEmpty()) {
        endSnapshot();
      }
      if (random.nextInt(3) == 0) {
        store.awaitQuiet();
      }
      store.close();
      open();
      check();
    }
  }
}
