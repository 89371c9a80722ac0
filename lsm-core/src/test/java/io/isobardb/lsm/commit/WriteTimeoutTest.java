package io.isobardb.lsm.commit;

import static io.isobardb.lsm.SimulatedStores.key;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.SimulatedStores;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.TransactionOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.error.LockTimeoutException;
import io.isobardb.lsm.error.WriteStalledException;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.observe.StallReason;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.simulation.CrashMode;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.simulation.VirtualDevice;
import io.isobardb.lsm.simulation.VirtualScheduler;
import io.isobardb.lsm.simulation.VirtualScheduler.Client;
import io.isobardb.lsm.simulation.VirtualScheduler.Machine;
import io.isobardb.lsm.simulation.VirtualStorage;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Writes that would wait too long, in virtual time. */
@Tag("any-jdk")
class WriteTimeoutTest {
  private static final long MILLI = 1_000_000;
  private static final long TIMEOUT = 50 * MILLI;

  /** What a write may take that is refused in time: its own work comes on top of its waits. */
  private static final long MOST = 60 * MILLI;

  private static final StoreOptions OPTIONS =
      StoreOptions.builder()
          .pageSize(4096)
          .memoryBudget(8 << 20)
          .writeMemory(512 << 10)
          .memoryTuner(false)
          .backgroundThreads(2)
          .writeTimeout(Duration.ofNanos(TIMEOUT))
          .build();

  /** Writes of all kinds; each knows its number. */
  private interface Writing {
    void write(Store store, Tree tree, int number);
  }

  /** Those that read nothing: what a write reads is no wait. */
  private static final List<Writing> BLIND =
      List.of(
          (store, tree, i) -> tree.put(key(i), value(i)),
          (store, tree, i) -> store.write(store.newBatch().put(tree, key(i), value(i))),
          (store, tree, i) -> tree.put(key(i), new byte[20_000]),
          (store, tree, i) -> tree.deleteRange(key(i), key(i + 1)));

  private static final List<Writing> BESIDE_TRANSACTIONS =
      List.of(
          (store, tree, i) -> {
            try (Transaction transaction = store.begin()) {
              transaction.put(tree, key(i), value(i));
              transaction.commit();
            }
          },
          (store, tree, i) -> tree.put(key(i), value(i)),
          (store, tree, i) -> tree.deleteRange(key(i), key(i + 1)),
          (store, tree, i) -> store.write(store.newBatch().put(tree, key(i), value(i))));

  /** Those of both that put their key. */
  private static final Set<Writing> KEYS_PUT =
      Set.of(
          BLIND.get(0),
          BLIND.get(1),
          BLIND.get(2),
          BESIDE_TRANSACTIONS.get(0),
          BESIDE_TRANSACTIONS.get(1),
          BESIDE_TRANSACTIONS.get(3));

  private static byte[] value(int i) {
    byte[] value = new byte[1000];
    value[0] = (byte) i;
    return value;
  }

  /** A refused write, and what it was told. */
  private record Refused(int key, WriteStalledException why) {}

  private static final class World {
    private final SimulatedClock clock = new SimulatedClock();
    private final SimulatedStorage disk = new SimulatedStorage(clock);
    private final VirtualScheduler scheduler;
    private final Store store;
    private final Tree tree;
    private final List<Refused> refused = new ArrayList<>();
    private long longest;

    World(StoreOptions options, long bytesPerSecond) {
      VirtualDevice.Limits device =
          new VirtualDevice.Limits(
              2 * bytesPerSecond, bytesPerSecond, 2 * bytesPerSecond, 10_000, 2 * MILLI);
      scheduler = new VirtualScheduler(clock, new Machine(2, 2, 100_000, 64 << 10, device));
      store =
          Inside.open(
              new Environment(
                  new VirtualStorage(disk, scheduler), clock, scheduler, new SplittableRandom(1)),
              options);
      tree = store.openTree("t");
    }

    /** Writes each key once, from several clients, as fast as it can. */
    void overload(int clients, int each, List<Writing> kinds) {
      List<Client> all = new ArrayList<>();
      for (int c = 0; c < clients; c++) {
        int first = c * each;
        all.add(
            scheduler.client(
                "client-" + c,
                () -> {
                  for (int i = first; i < first + each; i++) {
                    write(i, kinds.get(i % kinds.size()));
                  }
                }));
      }
      all.forEach(Client::join);
    }

    private void write(int i, Writing kind) {
      scheduler.compute(3_000);
      scheduler.settle();
      long begun = clock.nanos();
      try {
        kind.write(store, tree, i);
      } catch (WriteStalledException e) {
        refused.add(new Refused(i, e));
      } finally {
        scheduler.settle();
        longest = Math.max(longest, clock.nanos() - begun);
      }
    }

    Map<StallReason, Integer> reasons() {
      Map<StallReason, Integer> reasons = new EnumMap<>(StallReason.class);
      refused.forEach(r -> reasons.merge(StallReason.valueOf(r.why().reason()), 1, Integer::sum));
      return reasons;
    }

    void close() {
      store.close();
    }
  }

  private static StoreOptions l0Fills() {
    StoreOptions.Builder builder = OPTIONS.toBuilder();
    ExperimentalOptions.set(
        builder, e -> e.l0StartGroups(2).l0SlowdownGroups(3).l0StopGroups(3).l0MostGroups(3));
    return builder.build();
  }

  private static StoreOptions logFills() {
    return OPTIONS.toBuilder()
        .memoryBudget(64 << 20)
        .writeMemory(32 << 20)
        .logLimit(1 << 20)
        .build();
  }

  @Test
  void aWriteEndsInTimeWhateverIsFull() {
    Map<StallReason, Integer> all = new EnumMap<>(StallReason.class);
    for (StoreOptions options : List.of(OPTIONS, l0Fills(), logFills())) {
      World world = new World(options, 2 << 20);
      world.overload(4, 1_500, BLIND);
      assertTrue(world.longest <= MOST, world.longest + " ns, " + world.reasons());
      assertEquals(world.refused.size(), world.store.stats().writesRefused());
      world.reasons().forEach((reason, count) -> all.merge(reason, count, Integer::sum));
      world.close();
    }
    for (StallReason reason :
        List.of(
            StallReason.MEMORY_FULL,
            StallReason.L0_FULL,
            StallReason.LOG_FULL,
            StallReason.LOG_BUFFER)) {
      assertTrue(all.containsKey(reason), reason + " of " + all);
    }
  }

  @Test
  void nothingOfARefusedWriteIsSeenNorComesBackAfterACrash() throws IOException {
    for (List<Writing> kinds : List.of(BLIND, BESIDE_TRANSACTIONS)) {
      World world = new World(l0Fills(), 2 << 20);
      world.overload(4, 800, kinds);
      assertTrue(world.refused.size() > 50, world.refused.size() + " refused");
      Set<Integer> refused = world.refused.stream().map(Refused::key).collect(Collectors.toSet());
      check(world.tree, refused, 3_200, kinds);
      // All that was acknowledged is synced, and then the machine fails.
      world.store.sync();
      SimulatedStorage after = world.disk.crash(new SplittableRandom(3), CrashMode.ONLY_SYNCED);
      world.close();
      try (Store again = SimulatedStores.open(after, new SimulatedClock(), 1)) {
        check(again.tree("t"), refused, 3_200, kinds);
      }
    }
  }

  /** Whether a tree has what was written of it, and nothing of what was refused. */
  private static void check(Tree tree, Set<Integer> refused, int keys, List<Writing> kinds) {
    for (int i = 0; i < keys; i++) {
      boolean put = KEYS_PUT.contains(kinds.get(i % kinds.size()));
      assertEquals(put && !refused.contains(i), tree.contains(key(i)), "key " + i);
    }
  }

  @Test
  void zeroFailsInsteadOfWaitingAndABatchMayHaveItsOwn() {
    World world = new World(OPTIONS.toBuilder().writeTimeout(Duration.ZERO).build(), 2 << 20);
    world.overload(2, 1_000, BLIND.subList(0, 1));
    assertEquals(0, world.longest);
    assertEquals(0, world.store.stats().stallNanos());
    assertTrue(world.refused.size() > 100, world.refused.size() + " refused");
    WriteStalledException why = world.refused.get(0).why();
    assertEquals("t", why.tree());
    assertNotNull(why.expectedWait());
    Tree tree = world.tree;
    world.store.write(
        world.store.newBatch().writeTimeout(Duration.ofDays(365)).put(tree, key(-1), value(1)));
    TransactionOptions patient =
        TransactionOptions.builder().writeTimeout(Duration.ofMinutes(1)).build();
    try (Transaction transaction = world.store.begin(patient)) {
      transaction.put(tree, key(-2), value(2));
      transaction.commit();
    }
    assertNotNull(tree.get(key(-1)));
    assertNotNull(tree.get(key(-2)));
    world.close();
  }

  @Test
  void aLargeBatchThatNeverWaitsFitsInTheEnd() {
    World world = new World(OPTIONS.toBuilder().writeTimeout(Duration.ZERO).build(), 2 << 20);
    world.overload(1, 1_000, BLIND.subList(0, 1));
    WriteBatch large = world.store.newBatch();
    for (int i = 0; i < 100; i++) {
      large.put(world.tree, key(100_000 + i), value(i));
    }
    int attempts = 0;
    for (boolean written = false; !written; attempts++) {
      try {
        world.store.write(large);
        written = true;
      } catch (WriteStalledException e) {
        world.scheduler.sleepUntil(world.clock.nanos() + MILLI);
      }
      assertTrue(attempts < 2_000, "it never fits");
    }
    assertTrue(attempts > 1, attempts + " attempts");
    world.close();
  }

  @Test
  void aWriteThatIsLockedOutEndsInTimeToo() {
    World world = new World(OPTIONS, 2 << 20);
    try (Transaction transaction = world.store.begin()) {
      transaction.put(world.tree, key(1), value(1));
      List<Writing> put = BESIDE_TRANSACTIONS.subList(1, 2);
      Client other =
          world.scheduler.client(
              "other",
              () -> assertThrows(LockTimeoutException.class, () -> world.write(1, put.get(0))));
      other.join();
      assertTrue(world.longest <= MOST, world.longest + " ns");
    }
    assertNull(world.tree.get(key(1)));
    world.close();
  }
}
