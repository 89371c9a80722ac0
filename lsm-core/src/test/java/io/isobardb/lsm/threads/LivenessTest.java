package io.isobardb.lsm.threads;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.SimulatedStores.value;
import static io.isobardb.lsm.merge.VirtualWorld.MILLI;
import static io.isobardb.lsm.merge.VirtualWorld.SECOND;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.BulkLoad;
import io.isobardb.lsm.HoldingScheduler;
import io.isobardb.lsm.SimulatedStores;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.merge.VirtualWorld;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.version.L0Limits;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Every call ends, whatever others do meanwhile: clients of one store, in virtual time. */
class LivenessTest {
  private static final byte[] VALUE = new byte[10];

  private static final StoreOptions LARGE =
      StoreOptions.builder()
          .pageSize(4096)
          .memoryBudget(32 << 20)
          .logLimit(64 << 20)
          .memoryTuner(false)
          .backgroundThreads(2)
          .build();

  private final VirtualWorld world = new VirtualWorld(1, 100 << 20, 2);
  private final List<String> ended = new ArrayList<>();
  private final List<String> begun = new ArrayList<>();

  /** A client that does something at a time. */
  private void client(String name, long atMillis, Runnable body) {
    begun.add(name);
    world.scheduler.client(
        name,
        () -> {
          at(atMillis);
          body.run();
          ended.add(name);
        });
  }

  private void at(long millis) {
    world.scheduler.sleepUntil(millis * MILLI);
  }

  private void awaitClients() {
    world.scheduler.sleepUntil(world.clock.nanos() + 60 * SECOND);
    assertEquals(begun.stream().sorted().toList(), ended.stream().sorted().toList());
  }

  /** Holds a key until a time, and then wants another one. */
  private void transaction(Store store, Tree tree, String first, long untilMillis, String then) {
    store.runInTransaction(
        transaction -> {
          transaction.put(tree, bytes(first), VALUE);
          at(untilMillis);
          transaction.put(tree, bytes(then), VALUE);
        });
  }

  private static void load(Store store, Tree tree, String key) {
    try (BulkLoad load = store.bulkLoad(tree)) {
      load.add(tree, bytes(key), VALUE);
      load.commit();
    }
  }

  /** Two keys are held, a plain write waits for the first, and a bulk load for the write. */
  private void aPlainWriteClosesACircleBesideABulkLoad(Runnable write, Store store, Tree tree) {
    Tree loaded = store.openTree("loaded");
    client("holder", 10, () -> transaction(store, tree, "b", 100, "x"));
    client("rival", 10, () -> transaction(store, tree, "c", 30, "a"));
    client("writer", 20, write);
    client("load", 40, () -> load(store, loaded, "a"));
    awaitClients();
    store.close();
  }

  @Test
  void aBatchThatClosesACircleDoesNotHoldABulkLoadUp() {
    Store store = world.open(SimulatedStores.SMALL);
    Tree tree = store.openTree("t");
    WriteBatch batch = store.newBatch();
    List.of("a", "b", "c").forEach(key -> batch.put(tree, bytes(key), VALUE));
    aPlainWriteClosesACircleBesideABulkLoad(() -> store.write(batch), store, tree);
  }

  @Test
  void norDoesARangeDelete() {
    Store store = world.open(SimulatedStores.SMALL);
    Tree tree = store.openTree("t");
    aPlainWriteClosesACircleBesideABulkLoad(
        () -> tree.deleteRange(bytes("a"), bytes("d")), store, tree);
  }

  private void everyKindOfWriteWaitsForATransactionThat(Consumer<Store> does) {
    Store store = world.open(SimulatedStores.SMALL);
    Tree tree = store.openTree("t");
    store.openTree("other");
    client(
        "holder",
        10,
        () -> {
          store.runInTransaction(
              transaction -> {
                transaction.put(tree, bytes("a"), VALUE);
                at(30);
                does.accept(store);
              });
          // The writers' locks time out after a second.
          assertTrue(world.clock.nanos() < SECOND, "waited for those who wait for its lock");
        });
    client("put", 20, () -> tree.put(bytes("a"), VALUE));
    client("batch", 20, () -> store.write(store.newBatch().put(tree, bytes("a"), VALUE)));
    client("range", 20, () -> tree.deleteRange(bytes("a"), null));
    client("conditional", 20, () -> tree.putIfAbsent(bytes("a"), VALUE));
    awaitClients();
    store.close();
  }

  @Test
  void aTransactionLoadsBesideWritesThatWaitForItsLocks() {
    everyKindOfWriteWaitsForATransactionThat(store -> load(store, store.tree("other"), "a"));
  }

  @Test
  void andDropsATree() {
    everyKindOfWriteWaitsForATransactionThat(store -> store.dropTree("other"));
  }

  @Test
  void andMakesACopy() {
    everyKindOfWriteWaitsForATransactionThat(
        store -> {
          try {
            Inside.of(store).checkpointTo(new SimulatedStorage(world.clock));
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        });
  }

  @Test
  void aLoadIntoATreeWhoseL0IsFullLetsItsMergesGoOn() {
    StoreOptions options =
        ExperimentalOptions.set(LARGE.toBuilder(), e -> e.l0MostGroups(L0Limits.DEFAULT.stop()))
            .build();
    HoldingScheduler merges = new HoldingScheduler(world.scheduler, HoldingScheduler.MERGES);
    Store store =
        Inside.open(
            new Environment(world.storage, world.clock, merges, new SplittableRandom(1)), options);
    // One merge at a time: that of the second tree begins when that of the first has ended.
    for (String name : List.of("first", "second")) {
      for (int group = 0; group < L0Limits.DEFAULT.stop(); group++) {
        fill(store.openTree(name), 500);
        store.flush();
      }
    }
    Tree small = store.openTree("small");
    // Shown where it lies, within the operation.
    small.put(bytes("a"), value(1, 3000));
    store.flush();
    store.openTree("dropped");
    long begin = world.clock.nanos() / MILLI;
    Tree tree = store.tree("second");
    client("writer", begin + 10, () -> fill(tree, 40_000));
    // Until 30 s the load waits for the drop, which waits for the reader; then the writer waits for
    // memory again, though the load has flushed the tree.
    client("reader", begin + 5_000, () -> small.read(bytes("a"), value -> pause(begin + 30_000)));
    client("drop", begin + 6_000, () -> store.dropTree("dropped"));
    client("load", begin + 10_000, () -> load(store, tree, "z"));
    client("merges", begin + 40_000, merges::letGo);
    awaitClients();
    store.close();
  }

  private boolean pause(long untilMillis) {
    at(untilMillis);
    return true;
  }

  private static void fill(Tree tree, int keys) {
    for (int i = 0; i < keys; i++) {
      tree.put(key(i), value(i, 1000));
    }
  }
}
