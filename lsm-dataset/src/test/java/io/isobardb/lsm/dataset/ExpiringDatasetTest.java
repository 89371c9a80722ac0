package io.isobardb.lsm.dataset;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Isolation;
import io.isobardb.lsm.Locking;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.TransactionOptions;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.error.ConflictException;
import io.isobardb.lsm.io.Clock;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedScheduler;
import io.isobardb.lsm.simulation.SimulatedStorage;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Records that expire: their index entries do so in the same millisecond, whatever became of them
 * since. {@code -Disobar.seed=S} sets the first seed.
 */
@Tag("any-jdk")
class ExpiringDatasetTest {
  private static final long FIRST_SEED = Long.getLong("isobar.seed", 1);
  private static final int SEEDS = 6;
  private static final long NEVER = Long.MAX_VALUE;

  private record Timed(byte[] value, long expiry) {}

  private record Held(Snapshot snapshot, SortedMap<byte[], byte[]> records) {}

  @Test
  void theCheckFindsNothingAtAnyMoment() {
    for (long seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
      History history = new History(seed);
      try {
        history.run();
      } catch (RuntimeException | Error e) {
        history.store.close();
        throw new AssertionError("-Disobar.seed=" + seed + ", step " + history.step + ": " + e, e);
      }
    }
  }

  /** A clock that may go on by a millisecond with each look at it. */
  private static final class TickingClock implements Clock {
    private final SimulatedClock clock = new SimulatedClock();
    private boolean ticks;

    @Override
    public long nanos() {
      return clock.nanos();
    }

    @Override
    public long wallMillis() {
      if (ticks) {
        clock.advance(1_000_000);
      }
      return clock.wallMillis();
    }
  }

  /**
   * What is put until an instant that the store's time has passed, and the machine's clock has not,
   * lives longer. So the record does, or its entries, if the clock comes to it in between.
   */
  @Test
  void entriesLiveAsLongAsTheirRecordThoughTheStoresTimeStandsStill() {
    TickingClock clock = new TickingClock();
    Environment environment =
        new Environment(
            new SimulatedStorage(clock.clock),
            clock,
            new SimulatedScheduler(clock.clock, 1),
            new SplittableRandom(1));
    try (Store store = Inside.open(environment, SimulatedDatasets.SMALL)) {
      DatasetOptions options =
          DatasetOptions.builder()
              .index(Records.tagIndex("tags", Maintenance.EAGER))
              .index(Records.numberIndex("number", Maintenance.EAGER))
              .build();
      Dataset dataset = Dataset.open(store, "d", options);
      clock.clock.jumpWall(30_000);
      dataset.put(new byte[] {1}, Records.of(1), Instant.ofEpochMilli(clock.wallMillis() + 1));
      clock.clock.jumpWall(-30_000);
      for (int ahead = 1; ahead < 40; ahead++) {
        Instant expires = Instant.ofEpochMilli(clock.wallMillis() + ahead);
        clock.ticks = true;
        dataset.put(new byte[] {2}, Records.of(7, new byte[] {'a'}, new byte[] {'b'}), expires);
        clock.ticks = false;
        DatasetCheck check = dataset.check();
        assertTrue(check.isSound(), ahead + " ms ahead: " + check);
      }
    }
  }

  /** The ways in which a dataset's first record that expires may be put over one that does not. */
  private enum FirstPut {
    ALONE {
      @Override
      void put(Store store, Dataset dataset, byte[] key, byte[] value, Instant expires) {
        dataset.put(key, value, expires);
      }
    },
    IN_A_BATCH {
      @Override
      void put(Store store, Dataset dataset, byte[] key, byte[] value, Instant expires) {
        dataset.write(new RecordBatch().put(key, value).put(key, value, expires));
      }
    },
    IN_A_TRANSACTION {
      @Override
      void put(Store store, Dataset dataset, byte[] key, byte[] value, Instant expires) {
        store.runInTransaction(
            transaction -> {
              dataset.put(transaction, key, value);
              dataset.put(transaction, key, value, expires);
            });
      }
    },
    BY_TIME_TO_LIVE {
      @Override
      void put(Store store, Dataset dataset, byte[] key, byte[] value, Instant expires) {
        store.tree("d").setTimeToLive(Duration.ofMillis(100));
        dataset.put(key, value);
        store.tree("d").setTimeToLive(Duration.ZERO);
      }
    };

    abstract void put(Store store, Dataset dataset, byte[] key, byte[] value, Instant expires);
  }

  @ParameterizedTest
  @EnumSource(FirstPut.class)
  void theFirstRecordThatExpiresTakesItsUnchangedEntriesAlong(FirstPut first) {
    for (Maintenance maintenance : Maintenance.values()) {
      SimulatedDatasets world = new SimulatedDatasets(1);
      try (Store store = world.open()) {
        DatasetOptions options =
            DatasetOptions.builder()
                .index(Records.tagIndex("tags", maintenance))
                .index(Records.numberIndex("number", maintenance))
                .build();
        Dataset dataset = Dataset.open(store, "d", options);
        byte[] value = Records.of(7, new byte[] {'a'}, new byte[] {'b'});
        dataset.put(new byte[] {1}, value);
        Instant expires = Instant.ofEpochMilli(world.clock().wallMillis() + 100);
        first.put(store, dataset, new byte[] {1}, value, expires);
        assertEquals(1, dataset.find("number", new byte[] {7}).size());
        world.clock().advance(100_000_000L);
        assertEquals(List.of(), dataset.find("number", new byte[] {7}));
        assertEquals(List.of(), dataset.find("tags", new byte[] {'a'}));
        assertTrue(dataset.check().isSound());
        dataset.put(new byte[] {2}, value);
        assertEquals(1, dataset.find("number", new byte[] {7}).size());
        assertTrue(dataset.check().isSound());
      }
    }
  }

  /** The extractor is called between the looks at what the write needs and the write. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aTimeToLiveThatIsSetDuringAWriteCountsForRecordAndEntriesAlike(boolean shortens) {
    SimulatedDatasets world = new SimulatedDatasets(1);
    try (Store store = world.open()) {
      List<Runnable> during = new ArrayList<>();
      Index number =
          Index.builder("number")
              .key(
                  (key, value) -> {
                    List.copyOf(during).forEach(Runnable::run);
                    return Records.number(value);
                  })
              .unique(true)
              .maintenance(Maintenance.EAGER)
              .build();
      Dataset dataset = Dataset.open(store, "d", DatasetOptions.builder().index(number).build());
      byte[] value = Records.of(7);
      dataset.put(new byte[] {1}, value);
      store.tree("d").setTimeToLive(shortens ? Duration.ZERO : Duration.ofMillis(100));
      during.add(
          () -> store.tree("d").setTimeToLive(shortens ? Duration.ofMillis(100) : Duration.ZERO));
      dataset.put(new byte[] {1}, value);
      during.clear();
      for (int later = 0; later < 2; later++) {
        int records = dataset.get(new byte[] {1}) == null ? 0 : 1;
        assertEquals(records, dataset.find("number", new byte[] {7}).size());
        assertTrue(dataset.check().isSound(), dataset.check()::toString);
        world.clock().advance(100_000_000L);
      }
    }
  }

  /** The record expires after the transaction has read it, and another gets its unique key. */
  @Test
  void aKeyThatExpiryFreesMeanwhileStaysWithWhoTakesIt() {
    SimulatedDatasets world = new SimulatedDatasets(1);
    try (Store store = world.open()) {
      Index number = Records.numberIndex("number", Maintenance.EAGER);
      Dataset dataset = Dataset.open(store, "d", DatasetOptions.builder().index(number).build());
      Instant soon = Instant.ofEpochMilli(world.clock().wallMillis() + 10);
      dataset.put(new byte[] {1}, Records.of(7), soon);
      TransactionOptions options =
          TransactionOptions.builder()
              .isolation(Isolation.READ_COMMITTED)
              .locking(Locking.OPTIMISTIC)
              .build();
      try (Transaction transaction = store.begin(options)) {
        dataset.put(transaction, new byte[] {1}, Records.of(8));
        world.clock().advance(10_000_000L);
        dataset.put(new byte[] {2}, Records.of(7));
        assertThrows(ConflictException.class, transaction::commit);
      }
      assertEquals(1, dataset.find("number", new byte[] {7}).size());
      assertTrue(dataset.check().isSound(), dataset.check()::toString);
    }
  }

  private static final class History {
    private final SplittableRandom random;
    private final SimulatedDatasets world;
    private final TreeMap<byte[], Timed> records = new TreeMap<>(Arrays::compareUnsigned);
    private final List<Index> indexes = new ArrayList<>();
    private Store store;
    private Dataset dataset;
    private @Nullable Held held;
    private long timeToLive;
    private int step;

    History(long seed) {
      random = new SplittableRandom(seed);
      world = new SimulatedDatasets(seed);
      indexes.add(Records.tagIndex("tags-eager", Maintenance.EAGER));
      indexes.add(Records.tagIndex("tags-lazy", Maintenance.VALIDATION));
      if (random.nextBoolean()) {
        indexes.add(Records.numberIndex("number-eager", Maintenance.EAGER));
      } else {
        indexes.add(Records.numberIndex("number-lazy", Maintenance.VALIDATION));
      }
      open();
    }

    private void open() {
      store = world.open();
      DatasetOptions.Builder options =
          DatasetOptions.builder()
              .primary(TreeOptions.builder().timeToLive(Duration.ofMillis(timeToLive)).build());
      indexes.forEach(options::index);
      dataset = Dataset.open(store, "d", options.build());
    }

    void run() {
      for (step = 0; step < 250; step++) {
        switch (random.nextInt(24)) {
          case 0, 1, 2 -> world.clock().advance(random.nextInt(60) * 1_000_000L);
          case 3 -> store.flush();
          case 4 -> store.awaitQuiet();
          case 5 -> anew();
          case 6 -> hold();
          case 7 -> {
            timeToLive = random.nextInt(3) == 0 ? 0 : 1 + random.nextInt(200);
            store.tree("d").setTimeToLive(Duration.ofMillis(timeToLive));
          }
          case 8 -> {
            letGo();
            store.close();
            open();
          }
          case 9, 10, 11 -> check();
          default -> write();
        }
        world.background(random.nextInt(4));
      }
      check();
      letGo();
      store.close();
    }

    private long now() {
      return world.clock().wallMillis();
    }

    private SortedMap<byte[], byte[]> alive() {
      SortedMap<byte[], byte[]> alive = Records.newModel();
      records.forEach(
          (key, timed) -> {
            if (timed.expiry > now()) {
              alive.put(key, timed.value);
            }
          });
      return alive;
    }

    private void write() {
      byte[] key = Records.key(random);
      byte[] value = Records.random(random, 40);
      boolean taken =
          (value[0] & 255) != Records.NONE
              && alive().entrySet().stream()
                  .anyMatch(e -> e.getValue()[0] == value[0] && !Arrays.equals(e.getKey(), key));
      try {
        switch (random.nextInt(6)) {
          case 0 -> {
            dataset.delete(key);
            records.remove(key);
            return;
          }
          case 1, 2 -> {
            long until = now() + random.nextInt(150) - 5;
            if (random.nextBoolean()) {
              dataset.put(key, value, Instant.ofEpochMilli(until));
            } else {
              dataset.write(new RecordBatch().put(key, value, Instant.ofEpochMilli(until)));
            }
            records.put(key, new Timed(value, until));
          }
          case 3 -> {
            try (Transaction transaction = store.begin()) {
              dataset.put(transaction, key, value, Instant.ofEpochMilli(now() + 20));
              dataset.put(transaction, key, value, Instant.MAX);
              transaction.commit();
            }
            records.put(key, new Timed(value, NEVER));
          }
          default -> {
            dataset.put(key, value);
            records.put(key, new Timed(value, timeToLive == 0 ? NEVER : now() + timeToLive));
          }
        }
        assertTrue(!taken, "a duplicate was written");
      } catch (DuplicateKeyException e) {
        assertTrue(taken, e.getMessage());
      }
    }

    /** Drops an index, and builds it from the records that are there. */
    private void anew() {
      Index index = indexes.get(random.nextInt(indexes.size()));
      letGo();
      dataset.dropIndex(index.name());
      dataset.createIndex(index);
    }

    private void hold() {
      letGo();
      held = new Held(store.snapshot(), alive());
    }

    private void letGo() {
      if (held != null) {
        held.snapshot.close();
        held = null;
      }
    }

    private void check() {
      SortedMap<byte[], byte[]> alive = alive();
      DatasetCheck check = dataset.check();
      assertTrue(check.isSound(), check::toString);
      assertEquals(alive.size(), check.records());
      alive.forEach((key, value) -> assertArrayEquals(value, dataset.get(key)));
      for (Index index : indexes) {
        try (IndexCursor cursor = dataset.cursor(index.name(), IndexRange.all())) {
          assertEquals(Records.entries(index, alive), Records.forward(cursor));
        }
        if (held != null) {
          try (IndexCursor cursor = dataset.cursor(held.snapshot, index.name(), IndexRange.all())) {
            assertEquals(Records.entries(index, held.records), Records.backward(cursor));
          }
        }
      }
    }
  }
}
