package io.isobardb.bench.crash;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.commit.StoreClock;
import io.isobardb.lsm.error.Finding;
import io.isobardb.lsm.inspect.CheckProgress;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.simulation.FallingOrder;
import io.isobardb.lsm.simulation.FaultPlan;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.simulation.SimulatedWorld;
import io.isobardb.repair.check.OfflineStore;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Opens disks as crashes left them, and holds them against what is expected: the contents; in part
 * of the cases also that the files are sound, that the store can be written and opened again, that
 * a crash of the recovery itself does no harm, and that what was once recovered stays.
 *
 * <p>Thread rule: one thread.
 */
final class Verifier {
  private static final Map<String, KeyOrder> ORDERS =
      Map.of("bytes", KeyOrder.BYTES, "falling", FallingOrder.FALLING);
  private static final byte[] KEY_AFTER = "~after".getBytes();
  private static final int BYTES_AFTER = 5000;
  private static final int MAX_DEPTH = 3;
  private static final int MOST_AGAIN = 4;

  private final Expected expected;
  private final Coverage coverage;
  private long states;

  Verifier(Expected expected, Coverage coverage) {
    this.expected = expected;
    this.coverage = coverage;
  }

  /** States opened and checked. */
  long states() {
    return states;
  }

  /**
   * Opens and checks a disk; whatever is decided is drawn from {@code dice}.
   *
   * @param survival how it came about
   * @throws AssertionError if it holds what it must not
   */
  void verify(Survival survival, SimulatedStorage disk, StoreOptions options, SplittableRandom dice)
      throws IOException {
    verify(survival, disk, options, dice, 1, null);
  }

  private void verify(
      Survival survival,
      SimulatedStorage disk,
      StoreOptions options,
      SplittableRandom dice,
      int depth,
      Expected.@Nullable Moments before)
      throws IOException {
    states++;
    List<Crashed> crashes = new ArrayList<>();
    if (depth < MAX_DEPTH && dice.nextInt(4) == 0) {
      crashTwice(disk, dice.split(), crashes);
    }
    disk.faults(coverage.ofRecovery());
    Expected.Moments found;
    boolean wrote = false;
    boolean again = false;
    SimulatedWorld world = new SimulatedWorld(disk, dice.nextLong());
    try (Store store = world.open(RandomOptions.patient(options))) {
      disk.onMutation(hooked -> {});
      disk.faults(FaultPlan.NONE);
      coverage.count(Happening.RECOVERED);
      world.background(dice.nextInt(12));
      found = check(survival, store, before, dice);
      switch (dice.nextInt(8)) {
        case 0 -> {
          goOn(store, world, dice);
          wrote = true;
        }
        // What was seen after a recovery is durable.
        case 1 ->
            verify(Survival.LOST, Survival.LOST.crash(disk, dice), options, dice, MAX_DEPTH, found);
        case 2 -> again = again(store, world, options, found, dice);
        default -> {}
      }
    }
    if (!again && dice.nextInt(wrote ? 2 : 16) == 0) {
      closed(world, options, found, wrote, dice);
    }
    for (Crashed crash : crashes) {
      coverage.count(Happening.RECOVERY_CRASHED);
      Survival both = survival == Survival.KILLED ? crash.survival() : survival;
      verify(both, crash.disk(), options, dice, depth + 1, before);
    }
  }

  /** A disk, and what left it so. */
  private record Crashed(Survival survival, SimulatedStorage disk) {}

  /** Keeps what two crashes would leave, each mutating call being as likely as any other. */
  private static void crashTwice(
      SimulatedStorage disk, SplittableRandom dice, List<Crashed> crashes) {
    long first = disk.mutations();
    disk.onMutation(
        recovering -> {
          long calls = recovering.mutations() - first + 1;
          for (int i = 0; i < 2; i++) {
            if (dice.nextLong(calls) == 0) {
              Survival survival = survival(dice);
              Crashed crashed = new Crashed(survival, survival.crash(recovering, dice));
              if (crashes.size() <= i) {
                crashes.add(crashed);
              } else {
                crashes.set(i, crashed);
              }
            }
          }
        });
  }

  private static Survival survival(SplittableRandom dice) {
    Survival[] all = Survival.values();
    return all[dice.nextInt(all.length)];
  }

  private Expected.Moments check(
      Survival survival, Store store, Expected.@Nullable Moments before, SplittableRandom dice) {
    Expected.Moments found = expected.check(read(store, dice), survival == Survival.KILLED);
    if (before != null && !found.agreesWith(before)) {
      throw new AssertionError(
          "what had been recovered has changed: moments " + before + " before, now " + found);
    }
    return found;
  }

  /** What a store that was never closed or crashed holds. */
  Expected.Moments live(Store store, SplittableRandom dice) {
    return expected.checkLive(read(store, dice));
  }

  /** What a store holds. */
  Expected.Found read(Store store, SplittableRandom dice) {
    Map<String, TreeMap<byte[], byte[]>> contents = new TreeMap<>();
    long from = time(store);
    for (String name : store.treeNames()) {
      TreeMap<byte[], byte[]> entries = entries(store.tree(name));
      entries.remove(KEY_AFTER);
      contents.put(name, entries);
      // Else entries may expire between the two.
      if (dice.nextInt(4) == 0 && time(store) == from) {
        lookUp(store.tree(name), entries, dice);
      }
    }
    return new Expected.Found(contents, from, time(store));
  }

  /** What the store would judge by, which does not ask its clock if nothing in it expires. */
  private static long time(Store store) {
    Engine engine = Inside.of(store).engine();
    StoreClock clock = engine.snapshots().time();
    return clock.isUsed() ? clock.getAsLong() : engine.environment().clock().wallMillis();
  }

  private Map<String, TreeMap<byte[], byte[]>> lasting(Store store, SplittableRandom dice) {
    return lasting(read(store, dice));
  }

  /** What was found without the keys that have or had values that expire. */
  Map<String, TreeMap<byte[], byte[]>> lasting(Expected.Found found) {
    Map<String, TreeMap<byte[], byte[]>> lasting = new TreeMap<>();
    found
        .trees()
        .forEach(
            (name, entries) -> {
              TreeMap<byte[], byte[]> left = new TreeMap<>(Arrays::compareUnsigned);
              left.putAll(entries);
              left.keySet().removeIf(expected.tree(name)::everExpires);
              lasting.put(name, left);
            });
    return lasting;
  }

  private static TreeMap<byte[], byte[]> entries(Tree tree) {
    TreeMap<byte[], byte[]> entries = new TreeMap<>(Arrays::compareUnsigned);
    try (Cursor cursor = tree.cursor()) {
      for (boolean more = cursor.first(); more; more = cursor.next()) {
        if (entries.put(cursor.key(), cursor.value()) != null) {
          throw new AssertionError("a cursor shows a key twice");
        }
      }
    }
    return entries;
  }

  /** Point lookups must show what cursors do. */
  private void lookUp(Tree tree, TreeMap<byte[], byte[]> entries, SplittableRandom dice) {
    int keys = expected.tree(tree.name()).keys.size();
    int share = Math.max(1, keys / 64);
    for (byte[] key : expected.tree(tree.name()).keys.keySet()) {
      if (dice.nextInt(share) == 0 && !Arrays.equals(entries.get(key), tree.get(key))) {
        throw new AssertionError(
            "tree "
                + tree.name()
                + ": a cursor and a lookup disagree about key "
                + Expected.text(key));
      }
    }
  }

  /** Writes to all trees. */
  private static void goOn(Store store, SimulatedWorld world, SplittableRandom dice) {
    for (String name : store.treeNames()) {
      store.tree(name).put(KEY_AFTER, new byte[BYTES_AFTER], Instant.MAX, Durability.ASYNC);
    }
    switch (dice.nextInt(3)) {
      case 0 -> store.flush();
      case 1 -> store.awaitQuiet();
      default -> world.background(dice.nextInt(20));
    }
    expectAfter(store);
  }

  /**
   * Does the first writes that the crash has taken once more, with other values of the same length,
   * as an application would: they end where later writes began that the crash may have left on the
   * disk, and those must not come back at the next crash.
   *
   * @return whether there were such writes
   */
  private boolean again(
      Store store,
      SimulatedWorld world,
      StoreOptions options,
      Expected.Moments found,
      SplittableRandom dice) {
    long end = found.latest() + 1 + dice.nextInt(MOST_AGAIN);
    List<Map<String, TreeMap<byte[], byte[]>>> steps = new ArrayList<>();
    steps.add(lasting(store, dice));
    for (long at = found.latest() + 1; at <= end && at <= expected.begun(); at++) {
      if (again(store, expected.actions(at), dice)) {
        steps.add(lasting(store, dice));
      }
    }
    if (steps.size() == 1) {
      return false;
    }
    if (dice.nextBoolean()) {
      store.sync();
      steps.subList(0, steps.size() - 1).clear();
    } else {
      world.background(dice.nextInt(4));
    }
    states++;
    SimulatedWorld crashed =
        new SimulatedWorld(survival(dice).crash(world.storage(), dice), dice.nextLong());
    try (Store reopened = crashed.open(RandomOptions.patient(options))) {
      Map<String, TreeMap<byte[], byte[]>> after = lasting(reopened, dice);
      if (steps.stream().noneMatch(step -> same(step, after))) {
        throw new AssertionError(
            "after "
                + (end - found.latest())
                + " more writes and another crash, no prefix of them makes what is there");
      }
    }
    return true;
  }

  private static boolean again(Store store, List<Expected.Action> actions, SplittableRandom dice) {
    WriteBatch batch = store.newBatch();
    for (Expected.Action action : actions) {
      if (!store.treeNames().contains(action.tree().name)) {
        return false;
      }
      Tree tree = store.tree(action.tree().name);
      if (action.value() == null) {
        batch.delete(tree, action.key());
      } else {
        batch.put(tree, action.key(), action.value().other(dice).bytes(), Instant.MAX);
      }
    }
    store.write(batch, Durability.ASYNC);
    return !actions.isEmpty();
  }

  private static boolean same(
      Map<String, TreeMap<byte[], byte[]>> one, Map<String, TreeMap<byte[], byte[]>> other) {
    return one.keySet().equals(other.keySet())
        && one.keySet().stream().allMatch(name -> same(one.get(name), other.get(name)));
  }

  private static boolean same(TreeMap<byte[], byte[]> one, TreeMap<byte[], byte[]> other) {
    return one.size() == other.size()
        && one.entrySet().stream()
            .allMatch(entry -> Arrays.equals(entry.getValue(), other.get(entry.getKey())));
  }

  private static void expectAfter(Store store) {
    for (String name : store.treeNames()) {
      byte[] value = store.tree(name).get(KEY_AFTER);
      if (value == null || value.length != BYTES_AFTER) {
        throw new AssertionError(
            "what was written to tree " + name + " after the recovery is not there");
      }
    }
  }

  /**
   * Looks at a closed store's files, and opens it once more.
   *
   * @param wrote whether it went on after its recovery
   */
  private void closed(
      SimulatedWorld world,
      StoreOptions options,
      Expected.Moments found,
      boolean wrote,
      SplittableRandom dice)
      throws IOException {
    world.checkClosed();
    checkFiles(world.storage().copy(), options);
    try (Store reopened = world.open(RandomOptions.patient(options))) {
      check(Survival.ALL, reopened, found, dice);
      if (wrote) {
        expectAfter(reopened);
      }
    }
  }

  /** Looks at all files of a store that is not open, and closes it. */
  static void checkFiles(SimulatedStorage disk, StoreOptions options) throws IOException {
    try (OfflineStore inspector = OfflineStore.open(disk, options.memoryBudget(), ORDERS)) {
      List<Finding> findings = inspector.check(CheckProgress.NONE).findings();
      if (!findings.isEmpty()) {
        throw new AssertionError("check finds " + findings);
      }
    }
  }

  /** What a store that goes on after a crash holds. */
  Expected.Moments contents(Survival survival, Store store, SplittableRandom dice) {
    return check(survival, store, null, dice);
  }
}
