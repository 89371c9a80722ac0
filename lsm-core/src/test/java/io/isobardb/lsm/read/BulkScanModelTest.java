package io.isobardb.lsm.read;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.DeflateCodec;
import io.isobardb.lsm.EntryReader;
import io.isobardb.lsm.SimulatedStores;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.policy.MemoryComponent;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.simulation.FallingOrder;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.ModelTree;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedScheduler;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.simulation.SimulatedWorld;
import io.isobardb.lsm.simulation.TailOperator;
import io.isobardb.memory.pool.AllocationFaults;
import io.isobardb.memory.pool.OutOfBudgetException;
import io.isobardb.memory.stats.Purpose;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Entries handed out by {@link Cursor#forEach}, those that {@link Cursor#next} comes to, and a
 * model, over trees with many sources: versions of a key in several of them, seen by snapshots in
 * between, deleted, hidden, merged, expired, or too large for a page. Many keys have their first
 * eight bytes in common, and whole pages have.
 *
 * <p>{@code -Disobar.model.seed=S} sets the first seed, {@code -Disobar.model.seeds=N} how many
 * follow each other.
 */
@Tag("any-jdk")
class BulkScanModelTest {
  private static final long FIRST_SEED = Long.getLong("isobar.model.seed", 1);
  private static final int SEEDS = Integer.getInteger("isobar.model.seeds", 24);
  private static final int ROUNDS = 12;
  private static final int WRITES = 250;
  private static final int PAGE = 4096;
  private static final long NEVER = Long.MAX_VALUE;
  private static final String[] PREFIXES = {"", "eightbyt", "eightbytes and more of them", "z"};

  /** A value, and when it expires. */
  private record Entry(byte[] value, long expires) {}

  /** A moment that can be read at again. */
  private record Moment(Snapshot snapshot, NavigableMap<byte[], Entry> entries) {}

  /** Refuses pages now and then, while it is told to. */
  private static final class Faults implements AllocationFaults {
    private final SplittableRandom random;
    private final Counts counts;
    private boolean on;

    Faults(SplittableRandom random, Counts counts) {
      this.random = random;
      this.counts = counts;
    }

    @Override
    public boolean refuses(Purpose purpose) {
      boolean refused = on && random.nextInt(4) == 0;
      counts.refused += refused ? 1 : 0;
      return refused;
    }
  }

  @Test
  void bulkScansAgreeWithStepsAndWithTheModel() {
    Counts counts = new Counts();
    for (long seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
      try {
        new History(seed, counts).run();
      } catch (RuntimeException | Error e) {
        throw new AssertionError("-Disobar.model.seed=" + seed + " -Disobar.model.seeds=1", e);
      }
    }
    assertTrue(
        SEEDS < 24
            || counts.handedOut > 10_000
                && counts.stops > 100
                && counts.thrown > 100
                && counts.refused > 100,
        counts::toString);
  }

  /** What has been tried. */
  private static final class Counts {
    private long handedOut;
    private int stops;
    private int thrown;
    private int refused;

    @Override
    public String toString() {
      return handedOut
          + " entries, "
          + stops
          + " stops, "
          + thrown
          + " thrown, "
          + refused
          + " refused";
    }
  }

  /** Thrown by a reader. */
  private static final class Enough extends RuntimeException {
    private static final long serialVersionUID = 1;
  }

  private static final class History {
    private final Counts counts;
    private final SplittableRandom random;
    private final SimulatedClock clock = new SimulatedClock();
    private final SimulatedScheduler scheduler;
    private final Faults faults;
    private final Store store;
    private final Tree tree;
    private final boolean operator;
    private final Comparator<byte[]> order;
    private final NavigableMap<byte[], Entry> entries;
    private final List<Moment> moments = new ArrayList<>();

    /** Whether cursors are open. */
    private boolean looking;

    History(long seed, Counts counts) {
      this.counts = counts;
      random = new SplittableRandom(seed);
      scheduler = new SimulatedScheduler(clock, seed);
      faults = new Faults(random.split(), counts);
      StoreOptions.Builder options =
          StoreOptions.builder()
              .memoryBudget(4 << 20)
              .pageSize(PAGE)
              .logLimit(4 << 20)
              .keyOrder(FallingOrder.FALLING)
              .mergeOperator(TailOperator.TAIL);
      MemoryComponent[] components = MemoryComponent.values();
      MemoryComponent component = components[random.nextInt(components.length)];
      boolean small = random.nextInt(4) != 0;
      ExperimentalOptions.set(
          options, e -> e.memoryComponent(component).activeTableSize(small ? 8 * PAGE : 0));
      store =
          Inside.open(
              new Environment(
                  new SimulatedStorage(clock), clock, scheduler, random.split(), faults),
              options.build());
      KeyOrder keyOrder = random.nextInt(6) == 0 ? FallingOrder.FALLING : KeyOrder.BYTES;
      operator = random.nextInt(3) == 0;
      TreeOptions.Builder made =
          TreeOptions.builder().keyOrder(keyOrder).compression(DeflateCodec.any(random));
      if (operator) {
        made.mergeOperator(TailOperator.TAIL);
      }
      tree = store.createTree("t", made.build());
      order = ModelTree.comparator(keyOrder);
      entries = new TreeMap<>(order);
    }

    void run() {
      for (int round = 0; round < ROUNDS; round++) {
        boolean inOrder = random.nextBoolean();
        int first = random.nextInt(2000);
        for (int i = random.nextInt(WRITES); i > 0; i--) {
          write(inOrder ? key(first + i / 2) : key());
        }
        look();
      }
      moments.forEach(moment -> moment.snapshot.close());
      store.close();
    }

    private byte[] key() {
      return key(random.nextInt(400));
    }

    private byte[] key(int number) {
      String prefix = PREFIXES[number % PREFIXES.length];
      return (number < 4 ? prefix : prefix + Integer.toString(number, 36)).getBytes();
    }

    private byte[] value() {
      int dice = random.nextInt(40);
      byte[] value = new byte[dice == 0 ? 2 * PAGE : dice < 20 ? random.nextInt(300) : 9];
      random.nextBytes(value);
      return value;
    }

    private long now() {
      return clock.wallMillis();
    }

    private void write(byte[] key) {
      switch (random.nextInt(20)) {
        case 0, 1 -> {
          tree.delete(key);
          entries.remove(key);
        }
        case 2, 3 -> {
          long expires = now() + random.nextInt(2, 200);
          byte[] value = value();
          tree.put(key, value, Instant.ofEpochMilli(expires));
          entries.put(key, new Entry(value, expires));
        }
        case 4, 5 -> merge(key);
        default -> {
          byte[] value = value();
          tree.put(key, value);
          entries.put(key, new Entry(value, NEVER));
        }
      }
      if (random.nextInt(100) == 0) {
        disturb();
      }
    }

    private void merge(byte[] key) {
      Entry before = entries.get(key);
      // Whether an entry that expires is merged with depends on when that is done.
      if (operator && (before == null || before.expires == NEVER)) {
        byte[] base = before == null ? null : before.value;
        byte[] operand = value();
        tree.merge(key, operand);
        byte[] made = TailOperator.TAIL.merge(key, base, List.of(operand));
        if (made == null) {
          entries.remove(key);
        } else {
          entries.put(key, new Entry(made, NEVER));
        }
      }
    }

    private void disturb() {
      switch (random.nextInt(7)) {
        case 0 -> store.flush();
        case 1 -> scheduler.runFor(random.nextInt(50) * 1_000_000L);
        case 2 -> {
          byte[] from = key();
          byte[] to = key();
          if (order.compare(from, to) <= 0) {
            tree.deleteRange(from, to);
            entries.subMap(from, to).clear();
          }
        }
        case 3 -> {
          for (int i = random.nextInt(20); i > 0 && scheduler.runOne(); i--) {}
        }
        default -> {
          if (looking) {
            return;
          }
          if (moments.size() == 4) {
            moments.remove(random.nextInt(4)).snapshot.close();
          }
          moments.add(new Moment(store.snapshot(), alive(entries)));
        }
      }
    }

    /** As of now, whatever becomes of it. */
    private NavigableMap<byte[], Entry> alive(NavigableMap<byte[], Entry> of) {
      NavigableMap<byte[], Entry> alive = new TreeMap<>(of);
      alive.values().removeIf(entry -> entry.expires <= now());
      return alive;
    }

    private void look() {
      looking = true;
      CursorOptions all = CursorOptions.all();
      try (Snapshot now = store.snapshot()) {
        look(alive(entries), all.snapshot(now), null);
      }
      for (Moment moment : moments) {
        look(moment.entries, all.snapshot(moment.snapshot), null);
      }
      Transaction transaction = store.begin();
      NavigableMap<byte[], Entry> own = alive(entries);
      for (int i = random.nextInt(30); i > 0; i--) {
        writeOwn(transaction, own);
      }
      look(own, all, transaction);
      transaction.rollback();
      looking = false;
    }

    private void writeOwn(Transaction transaction, NavigableMap<byte[], Entry> own) {
      byte[] key = key();
      switch (random.nextInt(16)) {
        case 0 -> {
          byte[] to = key();
          if (order.compare(key, to) <= 0) {
            transaction.deleteRange(tree, key, to);
            own.subMap(key, to).clear();
          }
        }
        case 1, 2, 3 -> {
          transaction.delete(tree, key);
          own.remove(key);
        }
        default -> {
          byte[] value = value();
          transaction.put(tree, key, value);
          own.put(key, new Entry(value, NEVER));
        }
      }
    }

    private void look(
        NavigableMap<byte[], Entry> seen, CursorOptions of, @Nullable Transaction transaction) {
      CursorOptions options = of;
      NavigableMap<byte[], Entry> expected = seen;
      if (random.nextInt(3) == 0) {
        byte[] from = key();
        options = options.from(from);
        expected = expected.tailMap(from, true);
      }
      if (random.nextBoolean()) {
        byte[] to = key();
        boolean none = !expected.isEmpty() && order.compare(to, expected.firstKey()) <= 0;
        options = options.to(to);
        expected = none || expected.isEmpty() ? new TreeMap<>(order) : expected.headMap(to, false);
      }
      List<Map.Entry<byte[], Entry>> list = new ArrayList<>(expected.entrySet());
      try (Cursor cursor = open(options, transaction)) {
        int at = 0;
        for (boolean more = cursor.first(); more; more = cursor.next()) {
          check(list.get(at++), cursor.key(), cursor.value());
        }
        assertEquals(list.size(), at);
      }
      try (Cursor cursor = open(options, transaction)) {
        assertEquals(0, cursor.forEach(10, (key, value) -> true));
        new Walk(cursor, list, transaction == null).run();
      }
    }

    private Cursor open(CursorOptions options, @Nullable Transaction transaction) {
      return transaction == null ? tree.cursor(options) : transaction.cursor(tree, options);
    }

    /** Goes over all there is in pieces, and does other things in between. */
    private final class Walk {
      private final Cursor cursor;
      private final List<Map.Entry<byte[], Entry>> list;
      private final boolean disturbed;
      private int at;

      Walk(Cursor cursor, List<Map.Entry<byte[], Entry>> list, boolean disturbed) {
        this.cursor = cursor;
        this.list = list;
        this.disturbed = disturbed;
      }

      void run() {
        stand(cursor.first());
        while (at < list.size()) {
          faults.on = random.nextInt(8) == 0;
          int start = at;
          try {
            piece();
          } catch (OutOfBudgetException e) {
            // Wherever it was: it stands on none now.
            faults.on = false;
            at = start;
            stand(cursor.seek(list.get(start).getKey()));
          } finally {
            faults.on = false;
          }
        }
        assertEquals(0, cursor.forEach(1, (key, value) -> true));
      }

      private void piece() {
        int limit = random.nextInt(3) == 0 ? random.nextInt(4) : random.nextInt(200);
        int end = Math.min(list.size(), at + limit);
        int last = at + random.nextInt(2 * limit + 1);
        switch (random.nextInt(8)) {
          case 0 -> {
            counts.stops++;
            Reader reader = new Reader(last, false);
            long done = cursor.forEach(limit, reader);
            assertEquals(reader.got, done);
            at += (int) done - (last < end ? 1 : 0);
          }
          case 1 -> {
            counts.thrown++;
            Reader reader = new Reader(last, true);
            if (last < end) {
              assertThrows(Enough.class, () -> cursor.forEach(limit, reader));
            } else {
              assertEquals(end - at, cursor.forEach(limit, reader));
            }
            at += reader.got - (last < end ? 1 : 0);
          }
          case 2 -> {
            at++;
            stand(cursor.next());
          }
          case 3 -> {
            if (at > 0) {
              at--;
              stand(cursor.previous());
            }
          }
          case 4 -> {
            if (disturbed) {
              write(key());
              disturb();
            }
          }
          default -> {
            assertEquals(end - at, cursor.forEach(limit, new Reader(NONE, false)));
            at = end;
          }
        }
        stand(cursor.isValid());
      }

      private static final int NONE = -1;

      /** Compares what it gets, and stops. */
      private final class Reader implements EntryReader {
        private final int last;
        private final boolean throwing;
        private int got;

        Reader(int last, boolean throwing) {
          this.last = last;
          this.throwing = throwing;
        }

        @Override
        public boolean read(ByteBuffer key, ByteBuffer value) {
          assertTrue(key.isReadOnly() && value.isReadOnly());
          assertEquals(ByteOrder.BIG_ENDIAN, key.order());
          assertEquals(ByteOrder.BIG_ENDIAN, value.order());
          check(list.get(at + got), bytes(key), bytes(value));
          key.order(ByteOrder.LITTLE_ENDIAN).limit(key.capacity()).position(key.limit());
          value.order(ByteOrder.LITTLE_ENDIAN).limit(value.capacity()).position(value.limit());
          counts.handedOut++;
          got++;
          if (at + got - 1 != last) {
            return true;
          }
          if (throwing) {
            throw new Enough();
          }
          return false;
        }
      }

      private void stand(boolean valid) {
        assertEquals(at < list.size(), valid);
        assertEquals(at < list.size(), cursor.isValid());
        if (valid) {
          Map.Entry<byte[], Entry> expected = list.get(at);
          check(expected, cursor.key(), cursor.value());
          long expires = expected.getValue().expires;
          assertEquals(expires == NEVER ? null : Instant.ofEpochMilli(expires), cursor.expires());
        }
      }
    }

    private static byte[] bytes(ByteBuffer view) {
      byte[] bytes = new byte[view.remaining()];
      view.get(view.position(), bytes);
      return bytes;
    }

    private static void check(Map.Entry<byte[], Entry> expected, byte[] key, byte[] value) {
      if (!Arrays.equals(expected.getKey(), key)) {
        assertEquals(new String(expected.getKey()), new String(key));
      }
      assertArrayEquals(expected.getValue().value, value, () -> new String(key));
    }
  }

  @Test
  void aWriteOfTheTransactionComesNextHoweverTheCursorWasUsed() {
    Store store = new SimulatedWorld(1).open(SimulatedStores.SMALL);
    Tree tree = store.openTree("t");
    for (int i = 0; i < 20; i++) {
      tree.put(new byte[] {(byte) i}, new byte[] {0});
    }
    Transaction transaction = store.begin();
    List<Integer> values = new ArrayList<>();
    try (Cursor cursor = transaction.cursor(tree)) {
      assertTrue(cursor.first());
      cursor.next();
      for (int i = 2; i < 10; i++) {
        transaction.put(tree, new byte[] {(byte) i}, new byte[] {(byte) i});
        if (i % 2 == 0) {
          cursor.value();
        }
        assertTrue(cursor.next());
        values.add((int) cursor.value()[0]);
        cursor.previous();
        cursor.next();
      }
      cursor.first();
      cursor.forEach(
          20,
          (key, value) -> {
            byte next = (byte) (key.get(key.position()) + 1);
            values.add((int) value.get(value.position()));
            transaction.put(tree, new byte[] {next}, new byte[] {(byte) -next});
            return next < 12;
          });
    }
    assertEquals(
        List.of(2, 3, 4, 5, 6, 7, 8, 9, 0, -1, -2, -3, -4, -5, -6, -7, -8, -9, -10, -11), values);
    transaction.rollback();
    store.close();
  }

  @Test
  void aReaderCantUseItsCursor() {
    Store store = new SimulatedWorld(1).open(SimulatedStores.SMALL);
    Tree tree = store.openTree("t");
    for (int i = 0; i < 10; i++) {
      tree.put(new byte[] {(byte) i}, new byte[] {(byte) i});
    }
    try (Cursor cursor = tree.cursor()) {
      assertTrue(cursor.first());
      List<Runnable> uses =
          List.of(
              cursor::next,
              cursor::key,
              cursor::keyLength,
              cursor::isValid,
              cursor::value,
              cursor::close,
              () -> cursor.seek(new byte[0]),
              () -> cursor.forEach(1, (key, value) -> true));
      long done =
          cursor.forEach(
              5,
              (key, value) -> {
                for (Runnable use : uses) {
                  assertThrows(IllegalStateException.class, use::run);
                }
                return true;
              });
      assertEquals(5, done);
      assertArrayEquals(new byte[] {5}, cursor.key());
      assertThrows(IllegalArgumentException.class, () -> cursor.forEach(-1, (key, value) -> true));
      assertEquals(0, cursor.forEach(0, (key, value) -> true));
      ByteBuffer[] kept = new ByteBuffer[2];
      assertEquals(
          5,
          cursor.forEach(
              Long.MAX_VALUE,
              (key, value) -> {
                kept[0] = key;
                kept[1] = value;
                return true;
              }));
      assertFalse(cursor.isValid());
      assertEquals(0, kept[0].remaining() + kept[1].remaining());
    }
    store.close();
  }

  @Test
  void whatWouldWaitForTheCursorIsRefusedInItsReaderAndDoesNothing() {
    SimulatedWorld world = new SimulatedWorld(1);
    Store store = world.open(SimulatedStores.SMALL);
    Tree tree = store.openTree("t");
    for (int i = 0; i < 10; i++) {
      tree.put(new byte[] {(byte) i}, new byte[] {(byte) i});
    }
    try (Cursor cursor = tree.cursor()) {
      cursor.first();
      long done =
          cursor.forEach(
              10,
              (key, value) -> {
                assertThrows(IllegalStateException.class, () -> store.dropTree("t"));
                assertThrows(IllegalStateException.class, store::close);
                return true;
              });
      assertEquals(10, done);
    }
    assertEquals(List.of("t"), store.treeNames());
    tree.put(new byte[] {1}, new byte[] {2});
    store.dropTree("t");
    assertEquals(List.of(), store.treeNames());
    store.close();
  }
}
