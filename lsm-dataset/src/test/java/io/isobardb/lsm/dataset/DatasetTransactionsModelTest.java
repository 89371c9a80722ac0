package io.isobardb.lsm.dataset;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.Isolation;
import io.isobardb.lsm.Locking;
import io.isobardb.lsm.Savepoint;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.TransactionOptions;
import io.isobardb.lsm.error.SelfDeadlockException;
import io.isobardb.lsm.error.TransactionAbortedException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Several transactions at once and plain writes on datasets that are new, so that each has a first
 * record that expires: over records that stay the same, under all kinds of indexes, which come and
 * go. After each step an index gives what a look at all records would.
 *
 * <p>{@code -Disobar.seed=S} sets the first seed, {@code -Disobar.dataset.seeds=N} how many follow
 * each other.
 */
class DatasetTransactionsModelTest {
  private static final long FIRST_SEED = Long.getLong("isobar.seed", 1);
  private static final int SEEDS = Integer.getInteger("isobar.dataset.seeds", 8);
  private static final int DATASETS = 5;
  private static final int STEPS = 60;
  private static final int NUMBERS = 4;
  private static final int KEYS = 6;

  @Test
  void indexesFitTheRecordsWhateverTransactionsOverlap() {
    int commits = 0;
    int aborts = 0;
    int duplicates = 0;
    for (long seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
      History history = new History(seed);
      try {
        history.run();
      } catch (RuntimeException | Error e) {
        throw new AssertionError(
            "-Disobar.seed=" + seed + " -Disobar.dataset.seeds=1, step " + history.step, e);
      }
      commits += history.commits;
      aborts += history.aborts;
      duplicates += history.duplicates;
    }
    assertTrue(
        commits > SEEDS && aborts > SEEDS && duplicates > SEEDS,
        commits + " commits, " + aborts + " aborts, " + duplicates + " duplicates");
  }

  private static final class Open {
    final Transaction transaction;
    final TransactionOptions options;
    final List<Savepoint> savepoints = new ArrayList<>();

    Open(Transaction transaction, TransactionOptions options) {
      this.transaction = transaction;
      this.options = options;
    }

    /** Whether what it sees may be no state at all: then its commit fails. */
    boolean mayBeTorn() {
      return options.isolation() == Isolation.READ_COMMITTED
          && options.locking() == Locking.OPTIMISTIC;
    }
  }

  private static final class History {
    private final SplittableRandom random;
    private final SimulatedDatasets world;
    private final Store store;
    private final List<Open> open = new ArrayList<>();
    private final List<Index> indexes = new ArrayList<>();
    private Dataset dataset;
    private String name;
    private int step;
    private int commits;
    private int aborts;
    private int duplicates;

    History(long seed) {
      random = new SplittableRandom(seed);
      world = new SimulatedDatasets(seed);
      store = world.open();
      name = "d0";
      dataset = Dataset.open(store, name, DatasetOptions.defaults());
    }

    void run() {
      for (int i = 0; i < DATASETS; i++) {
        anew("d" + (i + 1));
        for (int j = 0; j < STEPS; j++) {
          step++;
          step();
          check();
        }
        endAll();
        pass(1000);
        check();
      }
      store.close();
    }

    private static List<Index> all() {
      return List.of(
          Records.tagIndex("tags-eager", Maintenance.EAGER),
          Records.tagIndex("tags-lazy", Maintenance.VALIDATION),
          Records.numberIndex("number-eager", Maintenance.EAGER),
          Records.numberIndex("number-lazy", Maintenance.VALIDATION));
    }

    /** A dataset in which nothing has expired yet. */
    private void anew(String next) {
      endAll();
      indexes.clear();
      DatasetOptions.Builder options =
          DatasetOptions.builder().changeTimeout(Duration.ofMillis(20));
      for (Index index : all()) {
        if (random.nextInt(4) != 0) {
          indexes.add(index);
          options.index(index);
        }
      }
      name = next;
      dataset = Dataset.open(store, name, options.build());
    }

    private void endAll() {
      open.forEach(each -> each.transaction.rollback());
      open.clear();
    }

    private void pass(long millis) {
      world.clock().advance(millis * 1_000_000);
    }

    private void step() {
      switch (random.nextInt(20)) {
        case 0, 1, 2 -> pass(random.nextInt(30));
        case 3 -> {
          if (random.nextInt(3) == 0) {
            store.flush();
          }
          world.background(random.nextInt(10));
        }
        case 4 -> {
          long millis = random.nextInt(3) == 0 ? 1 + random.nextInt(60) : 0;
          store.tree(name).setTimeToLive(Duration.ofMillis(millis));
        }
        case 5 -> changeIndex();
        case 6 -> begin();
        case 7 -> changeWhatExpires();
        case 8, 9, 10, 11 -> writePlainly();
        default -> {
          if (open.isEmpty()) {
            begin();
          }
          use(open.get(random.nextInt(open.size())));
        }
      }
      open.removeIf(each -> !each.transaction.isOpen());
    }

    private void begin() {
      // READ_COMMITTED twice as often.
      Isolation[] isolations = {
        Isolation.READ_COMMITTED, Isolation.SNAPSHOT, Isolation.SERIALIZABLE
      };
      if (open.size() < 3) {
        TransactionOptions options =
            TransactionOptions.builder()
                .isolation(isolations[random.nextInt(4) % 3])
                .locking(random.nextInt(3) == 0 ? Locking.PESSIMISTIC : Locking.OPTIMISTIC)
                .lockTimeout(Duration.ofMillis(1))
                .build();
        open.add(new Open(store.begin(options), options));
      }
    }

    private void changeIndex() {
      if (random.nextInt(3) != 0) {
        return;
      }
      // A change waits for them.
      endAll();
      Index index = all().get(random.nextInt(4));
      if (indexes.removeIf(each -> each.name().equals(index.name()))) {
        dataset.dropIndex(index.name());
        return;
      }
      boolean possible = !index.unique() || isUnique(Records.entries(index, records(null)));
      try {
        dataset.createIndex(index);
        indexes.add(index);
        assertTrue(possible, "a unique index over duplicates");
      } catch (DuplicateKeyException e) {
        assertTrue(!possible, e.getMessage());
      }
    }

    private static boolean isUnique(List<IndexEntry> entries) {
      for (int i = 1; i < entries.size(); i++) {
        if (Arrays.equals(entries.get(i - 1).indexKey(), entries.get(i).indexKey())) {
          return false;
        }
      }
      return true;
    }

    private byte[] key() {
      return new byte[] {(byte) random.nextInt(KEYS)};
    }

    /** Often what the record has already. */
    private byte[] value(byte @Nullable [] before) {
      if (before != null && random.nextInt(3) != 0) {
        return before;
      }
      byte[][] tags = new byte[random.nextInt(3)][];
      Arrays.setAll(tags, i -> new byte[] {(byte) random.nextInt(3)});
      return Records.of(random.nextInt(4) == 0 ? Records.NONE : random.nextInt(NUMBERS), tags);
    }

    private @Nullable Instant expires() {
      return switch (random.nextInt(3)) {
        case 0 -> Instant.ofEpochMilli(millis() + random.nextInt(60) - 3);
        case 1 -> Instant.MAX;
        default -> null;
      };
    }

    /** The records as a transaction sees them, or as they are. */
    private SortedMap<byte[], byte[]> records(@Nullable Transaction transaction) {
      SortedMap<byte[], byte[]> records = Records.newModel();
      CursorOptions all = CursorOptions.all();
      try (Cursor cursor =
          transaction == null ? dataset.cursor(all) : dataset.cursor(transaction, all)) {
        for (boolean more = cursor.first(); more; more = cursor.next()) {
          records.put(cursor.key(), cursor.value());
        }
      }
      return records;
    }

    private void writePlainly() {
      byte[] key = key();
      writePlainly(key, random.nextInt(5) == 0 ? null : value(dataset.get(key)), expires());
    }

    private void writePlainly(byte[] key, byte @Nullable [] value, @Nullable Instant expires) {
      SortedMap<byte[], byte[]> before = records(null);
      boolean taken =
          value != null
              && (value[0] & 255) != Records.NONE
              && indexes.stream().anyMatch(Index::unique)
              && before.entrySet().stream()
                  .anyMatch(e -> e.getValue()[0] == value[0] && !Arrays.equals(e.getKey(), key));
      SortedMap<byte[], byte[]> lasting = lasting(before);
      long began = millis();
      try {
        if (value == null) {
          dataset.delete(key);
        } else if (expires == null) {
          dataset.put(key, value);
        } else {
          dataset.put(key, value, expires);
        }
      } catch (DuplicateKeyException e) {
        assertTrue(taken, e.getMessage());
        duplicates++;
        return;
      } catch (SelfDeadlockException e) {
        // A transaction of this thread has locked it.
        aborts++;
        return;
      } finally {
        boolean waited = millis() != began;
        SortedMap<byte[], byte[]> rest = waited ? lasting : before;
        rest.remove(key);
        SortedMap<byte[], byte[]> after = waited ? lasting(records(null)) : records(null);
        after.remove(key);
        same(rest, after);
      }
      if (millis() == began) {
        assertTrue(!taken, "a duplicate was written");
        boolean gone =
            value == null || (expires != null && !expires.isAfter(Instant.ofEpochMilli(began)));
        assertArrayEquals(gone ? null : value, dataset.get(key));
      }
    }

    /**
     * A record expires between a transaction's write of it and the commit, and another gets its
     * unique key.
     */
    private void changeWhatExpires() {
      begin();
      if (open.isEmpty()) {
        return;
      }
      try (Cursor cursor = dataset.cursor(CursorOptions.all())) {
        for (boolean more = cursor.first(); more; more = cursor.next()) {
          Instant expires = cursor.expires();
          byte[] value = cursor.value();
          if (expires != null && (value[0] & 255) != Records.NONE) {
            byte[] key = cursor.key();
            Open on = open.get(random.nextInt(open.size()));
            byte[] changed = Records.of((value[0] + 1 + random.nextInt(NUMBERS - 1)) % NUMBERS);
            use(on, each -> write(each, key, changed));
            pass(Math.max(0, expires.toEpochMilli() - millis()));
            byte[] other = {(byte) ((key[0] + 1 + random.nextInt(KEYS - 1)) % KEYS)};
            writePlainly(other, value, null);
            if (on.transaction.isOpen() && random.nextBoolean()) {
              use(on, this::endOrRollBack);
            }
            return;
          }
        }
      }
    }

    private long millis() {
      return world.clock().wallMillis();
    }

    /** Without the records that expire. */
    private SortedMap<byte[], byte[]> lasting(SortedMap<byte[], byte[]> records) {
      SortedMap<byte[], byte[]> lasting = Records.newModel();
      lasting.putAll(records);
      try (Cursor cursor = dataset.cursor(CursorOptions.all())) {
        for (boolean more = cursor.first(); more; more = cursor.next()) {
          if (cursor.expires() != null) {
            lasting.remove(cursor.key());
          }
        }
      }
      return lasting;
    }

    private static void same(SortedMap<byte[], byte[]> expected, SortedMap<byte[], byte[]> found) {
      assertEquals(expected.size(), found.size());
      expected.forEach((key, value) -> assertArrayEquals(value, found.get(key)));
    }

    private void use(Open on) {
      use(on, random.nextInt(10) < 5 ? each -> write(each, key()) : this::endOrRollBack);
    }

    private void endOrRollBack(Open on) {
      switch (random.nextInt(6)) {
        case 0 -> on.savepoints.add(on.transaction.savepoint());
        case 1 -> {
          if (!on.savepoints.isEmpty()) {
            int to = random.nextInt(on.savepoints.size());
            on.transaction.rollbackTo(on.savepoints.get(to));
            on.savepoints.subList(to + 1, on.savepoints.size()).clear();
          }
        }
        case 2 -> on.transaction.rollback();
        default -> {
          on.transaction.commit();
          commits++;
        }
      }
    }

    private void use(Open on, Consumer<Open> how) {
      try {
        how.accept(on);
        if (on.transaction.isOpen() && !on.mayBeTorn()) {
          checkIn(on);
        }
      } catch (TransactionAbortedException e) {
        aborts++;
      } catch (SelfDeadlockException e) {
        // Another transaction of this thread has locked it.
        aborts++;
      }
    }

    private void write(Open on, byte[] key) {
      write(on, key, value(dataset.get(on.transaction, key)));
    }

    private void write(Open on, byte[] key, byte[] value) {
      Transaction transaction = on.transaction;
      int choice = random.nextInt(8);
      Instant expires = expires();
      long began = millis();
      try {
        if (choice == 0) {
          byte[] to = {(byte) (key[0] + random.nextInt(3))};
          dataset.deleteRange(transaction, key, to);
        } else if (choice == 1) {
          dataset.delete(transaction, key);
        } else if (expires == null) {
          dataset.put(transaction, key, value);
        } else {
          dataset.put(transaction, key, value, expires);
        }
      } catch (DuplicateKeyException e) {
        duplicates++;
        byte[] holder = dataset.get(transaction, e.holder());
        assertTrue(
            millis() != began
                || holder != null
                    && holder[0] == e.indexKey()[0]
                    && !Arrays.equals(e.holder(), key),
            () -> "not as the transaction sees it: " + e.getMessage());
      }
    }

    /** The transaction's view of each index is that of its records. */
    private void checkIn(Open on) {
      SortedMap<byte[], byte[]> records = records(on.transaction);
      for (Index index : indexes) {
        List<IndexEntry> expected = Records.entries(index, records);
        try (IndexCursor cursor = dataset.cursor(on.transaction, index.name(), IndexRange.all())) {
          assertEquals(expected, Records.forward(cursor), index.name());
          assertEquals(expected, Records.backward(cursor), index.name());
        }
      }
    }

    private void check() {
      DatasetCheck check = dataset.check();
      assertTrue(check.isSound(), check::toString);
      SortedMap<byte[], byte[]> records = records(null);
      for (Index index : indexes) {
        try (IndexCursor cursor = dataset.cursor(index.name(), IndexRange.all())) {
          List<IndexEntry> expected = Records.entries(index, records);
          assertEquals(expected, Records.forward(cursor), index.name());
          assertEquals(expected, Records.backward(cursor), index.name());
        }
      }
    }
  }
}
