package io.isobardb.lsm.threads;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static io.isobardb.lsm.merge.VirtualWorld.MILLI;
import static io.isobardb.lsm.merge.VirtualWorld.SECOND;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.BulkLoad;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Isolation;
import io.isobardb.lsm.Locking;
import io.isobardb.lsm.SimulatedStores;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.TransactionOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.error.TooManyRangeDeletesException;
import io.isobardb.lsm.error.TransactionAbortedException;
import io.isobardb.lsm.merge.VirtualWorld;
import io.isobardb.lsm.observe.StallReason;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedStorage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * All calls end, whatever others do meanwhile: transactions, batches, range deletes, some of them
 * too many, snapshots, conditional writes, bulk loads, copies, drops and checkpoints of few keys,
 * by one client each, in virtual time. Pauses between the calls are drawn from a seed.
 */
@Tag("any-jdk")
class LivenessSeedsTest {
  private static final long FIRST = Long.getLong("isobar.seed", 20_271_127L);
  private static final int SEEDS = Integer.getInteger("isobar.liveness.seeds", 20);
  private static final int CALLS = 10;
  private static final String[] KEYS = {"a", "b", "c", "d"};
  private static final byte[] VALUE = new byte[100];

  /** A third of the memory that range deletes may take. */
  private static final int RANGES = 120;

  @Test
  void everyCallEnds() {
    long conflicts = 0;
    long waits = 0;
    long refusals = 0;
    for (long seed = FIRST; seed < FIRST + SEEDS; seed++) {
      Round round = new Round(seed);
      StoreStats stats = round.run();
      conflicts += stats.transactions().conflicts() + stats.transactions().deadlocks();
      waits += stats.stalls().get(StallReason.RANGE_DELETES).count();
      refusals += round.refusals;
    }
    assertTrue(conflicts > 0, "no two clients were in each other's way");
    assertTrue(waits > 0, "no range delete waited for memory");
    assertTrue(refusals > 0, "no range delete was refused");
  }

  /** The clients of one store. */
  private static final class Round {
    private final long seed;
    private final VirtualWorld world;
    private final Store store;
    private final List<Tree> trees;
    private final Set<String> left = new TreeSet<>();
    private long refusals;

    Round(long seed) {
      this.seed = seed;
      this.world = new VirtualWorld(seed, 20 << 20, 2);
      this.store = world.open(SimulatedStores.SMALL);
      Tree first = store.openTree("t");
      Tree second = store.openTree("u");
      this.trees = List.of(first, second);
    }

    StoreStats run() {
      for (int i = 1; i <= 3; i++) {
        client("transaction " + i, this::transaction);
        client("batch " + i, this::batch);
      }
      client("range", this::range);
      client("ranges 1", this::ranges);
      client("ranges 2", this::ranges);
      client("snapshot", this::snapshot);
      client("conditional", random -> tree(random).putIfAbsent(key(random), VALUE));
      client("load 1", this::load);
      client("load 2", this::load);
      client("copy", random -> copy());
      client("drop", random -> drop());
      client("checkpoint", this::checkpoint);
      long end = world.clock.nanos() + 300 * SECOND;
      while (!left.isEmpty() && world.clock.nanos() < end) {
        world.scheduler.sleepUntil(world.clock.nanos() + 10 * MILLI);
      }
      assertEquals(Set.of(), left, "these hang, with -Disobar.seed=" + seed);
      StoreStats stats = store.stats();
      store.close();
      return stats;
    }

    private interface Call {
      void run(SplittableRandom random);
    }

    private void client(String name, Call call) {
      left.add(name);
      SplittableRandom random = new SplittableRandom(seed * 31 + name.hashCode());
      world.scheduler.client(
          name,
          () -> {
            for (int i = 0; i < CALLS; i++) {
              pause(random);
              try {
                call.run(random);
              } catch (TransactionAbortedException e) {
                // Documented: it has ended.
              } catch (TooManyRangeDeletesException e) {
                refusals++;
              }
            }
            left.remove(name);
          });
    }

    private void pause(SplittableRandom random) {
      world.scheduler.sleepUntil(world.clock.nanos() + random.nextLong(MILLI));
    }

    private Tree tree(SplittableRandom random) {
      return trees.get(random.nextInt(trees.size()));
    }

    private static byte[] key(SplittableRandom random) {
      return bytes(KEYS[random.nextInt(KEYS.length)]);
    }

    private static Durability durability(SplittableRandom random) {
      return random.nextBoolean() ? Durability.SYNC : Durability.ASYNC;
    }

    private void transaction(SplittableRandom random) {
      TransactionOptions options =
          TransactionOptions.builder()
              .isolation(Isolation.values()[random.nextInt(3)])
              .locking(random.nextInt(3) == 0 ? Locking.OPTIMISTIC : Locking.PESSIMISTIC)
              .durability(durability(random))
              .build();
      store.runInTransaction(options, transaction -> writeKeys(transaction, random));
    }

    private void writeKeys(Transaction transaction, SplittableRandom random) {
      for (int i = 0; i < 3; i++) {
        switch (random.nextInt(5)) {
          case 0 -> transaction.getForUpdate(tree(random), key(random));
          case 1 -> transaction.deleteRange(tree(random), key(random), null);
          default -> transaction.put(tree(random), key(random), VALUE);
        }
        pause(random);
      }
    }

    private void batch(SplittableRandom random) {
      WriteBatch batch = store.newBatch();
      for (String key : KEYS) {
        if (random.nextInt(4) > 0) {
          batch.put(tree(random), bytes(key), VALUE);
        }
      }
      store.write(batch, durability(random));
    }

    private void range(SplittableRandom random) {
      tree(random).deleteRange(key(random), random.nextBoolean() ? null : bytes("z"));
    }

    /** Many that nobody covers, with long keys. */
    private void ranges(SplittableRandom random) {
      String prefix = "r".repeat(500) + random.nextInt(1_000_000);
      WriteBatch batch = store.newBatch();
      for (int i = 0; i < RANGES; i++) {
        batch.deleteRange(tree(random), bytes(prefix + i + "a"), bytes(prefix + i + "b"));
      }
      store.write(batch, durability(random));
    }

    private void snapshot(SplittableRandom random) {
      Snapshot snapshot = store.snapshot();
      for (int i = 0; i < 5; i++) {
        pause(random);
      }
      snapshot.close();
    }

    private void load(SplittableRandom random) {
      try (BulkLoad load = store.bulkLoad(trees.toArray(new Tree[0]))) {
        Tree tree = tree(random);
        load.add(tree, key(random), VALUE);
        load.add(tree, bytes("z"), VALUE);
        pause(random);
        load.commit();
      }
    }

    private void copy() {
      try {
        Inside.of(store).checkpointTo(new SimulatedStorage(world.clock));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private void drop() {
      Tree made = store.createTree("made", TreeOptions.builder().logged(false).build());
      made.put(bytes("a"), VALUE);
      store.dropTree("made");
    }

    private void checkpoint(SplittableRandom random) {
      if (random.nextBoolean()) {
        store.checkpoint();
      } else {
        store.flush();
      }
    }
  }
}
