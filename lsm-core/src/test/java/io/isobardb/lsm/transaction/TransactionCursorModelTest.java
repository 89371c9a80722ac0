package io.isobardb.lsm.transaction;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.Isolation;
import io.isobardb.lsm.Locking;
import io.isobardb.lsm.Savepoint;
import io.isobardb.lsm.SimulatedStores;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.TransactionOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.error.TransactionAbortedException;
import io.isobardb.lsm.option.MergeOperator;
import io.isobardb.lsm.simulation.SimulatedWorld;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Random cursors of random transactions, both ways, beside a model: between the steps the
 * transaction writes and goes back to savepoints, others write, entries expire, and memory is
 * flushed.
 *
 * <p>{@code -Disobar.model.seed=S} sets the first seed, {@code -Disobar.model.seeds=N} how many
 * follow each other.
 */
class TransactionCursorModelTest {
  private static final long FIRST_SEED = Long.getLong("isobar.model.seed", 1);
  private static final int SEEDS = Integer.getInteger("isobar.model.seeds", 12);
  private static final int TRANSACTIONS = 8;
  private static final int STEPS = 120;
  private static final int KEYS = 24;
  private static final long NEVER = Long.MAX_VALUE;

  /** Appends; an operand that is empty removes what is there. */
  static final MergeOperator EMPTY_REMOVES =
      new MergeOperator() {
        @Override
        public String name() {
          return "empty-removes";
        }

        @Override
        public byte @Nullable [] merge(byte[] key, byte @Nullable [] base, List<byte[]> operands) {
          String value = base == null ? null : new String(base, UTF_8);
          for (byte[] operand : operands) {
            value = append(value, new String(operand, UTF_8));
          }
          return value == null ? null : bytes(value);
        }
      };

  private static @Nullable String append(@Nullable String value, String operand) {
    if (operand.isEmpty()) {
      return null;
    }
    return value == null ? operand : value + operand;
  }

  /** A value, or null for none, and when it expires. */
  private record Entry(@Nullable String value, long expiry) {
    static final Entry NONE = new Entry(null, NEVER);

    boolean isThere(long now) {
      return value != null && expiry > now;
    }

    Entry merged(String operand) {
      return new Entry(append(value, operand), NEVER);
    }
  }

  /** What a transaction has written to a key: all of it, or operands on what is below. */
  private record Own(@Nullable Entry entry, List<String> operands) {
    Entry over(Entry below) {
      Entry result = entry == null ? below : entry;
      for (String operand : operands) {
        result = result.merged(operand);
      }
      return result;
    }

    static Own merged(@Nullable Own before, String operand) {
      List<String> operands = new ArrayList<>(before == null ? List.of() : before.operands);
      operands.add(operand);
      return new Own(before == null ? null : before.entry, operands);
    }

    static Own of(Entry entry) {
      return new Own(entry, List.of());
    }
  }

  private record Mark(Savepoint savepoint, Map<String, Own> own) {}

  @Test
  void cursorsOfTransactionsAgreeWithTheModel() {
    int looks = 0;
    int gone = 0;
    for (long seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
      History history = new History(seed);
      try {
        history.run();
      } catch (RuntimeException | Error e) {
        throw new AssertionError(
            "-Disobar.model.seed=" + seed + " -Disobar.model.seeds=1, step " + history.steps, e);
      }
      looks += history.looks;
      gone += history.gone;
    }
    assertTrue(looks > 200 * SEEDS && gone > 2 * SEEDS, looks + " looks, " + gone + " at no entry");
  }

  private static final class History {
    private final SplittableRandom random;
    private final SimulatedWorld world;
    private final boolean operator;
    private final Store store;
    private final Tree tree;
    private final NavigableMap<String, Entry> committed = new TreeMap<>();
    private final List<Walker> walkers = new ArrayList<>();
    private final List<Mark> marks = new ArrayList<>();

    /** What others may not write now. */
    private final TreeMap<String, Boolean> locked = new TreeMap<>();

    private Map<String, Own> own = new TreeMap<>();
    private Transaction transaction;

    /** What there was when the transaction first read; null if each cursor has its own moment. */
    private @Nullable NavigableMap<String, Entry> first;

    private boolean pessimistic;
    private int steps;
    private int looks;
    private int gone;

    History(long seed) {
      random = new SplittableRandom(seed);
      world = new SimulatedWorld(seed);
      operator = random.nextBoolean();
      store = world.open(SimulatedStores.SMALL);
      TreeOptions.Builder options = TreeOptions.builder();
      if (operator) {
        options.mergeOperator(EMPTY_REMOVES);
      }
      tree = store.createTree("t", options.build());
      transaction = store.begin();
      transaction.rollback();
    }

    void run() {
      for (int i = random.nextInt(20); i > 0; i--) {
        writeOther();
      }
      for (int i = 0; i < TRANSACTIONS; i++) {
        play();
      }
      store.close();
    }

    private long now() {
      return world.clock().wallMillis();
    }

    private String key() {
      return String.format("%02d", random.nextInt(KEYS));
    }

    /** Some are longer than what fits a page. */
    private String value() {
      String value = Integer.toString(steps);
      return random.nextInt(12) == 0 ? value.repeat(2000) : value;
    }

    private String operand() {
      return random.nextInt(4) == 0 ? "" : "+" + steps;
    }

    /** As of now, whatever becomes of it. */
    private NavigableMap<String, Entry> alive() {
      NavigableMap<String, Entry> alive = new TreeMap<>(committed);
      alive.values().removeIf(entry -> !entry.isThere(now()));
      return alive;
    }

    private void play() {
      Isolation isolation = Isolation.values()[random.nextInt(3)];
      pessimistic = random.nextBoolean();
      TransactionOptions options =
          TransactionOptions.builder()
              .isolation(isolation)
              .locking(pessimistic ? Locking.PESSIMISTIC : Locking.OPTIMISTIC)
              .build();
      transaction = store.begin(options);
      own = new TreeMap<>();
      first = null;
      if (isolation != Isolation.READ_COMMITTED) {
        transaction.get(tree, bytes("none"));
        first = alive();
      }
      for (int i = 0; i < STEPS; i++) {
        steps++;
        step();
      }
      walkers.clear();
      marks.clear();
      locked.clear();
      if (random.nextBoolean()) {
        transaction.rollback();
        return;
      }
      try {
        transaction.commit();
        takeUp();
      } catch (TransactionAbortedException e) {
        assertTrue(!pessimistic || isolation == Isolation.SERIALIZABLE, e::getMessage);
      }
    }

    /** Takes up what a commit has made of the tree. */
    private void takeUp() {
      committed.clear();
      try (Cursor cursor = tree.cursor()) {
        for (boolean more = cursor.first(); more; more = cursor.next()) {
          Instant expires = cursor.expires();
          committed.put(
              new String(cursor.key(), UTF_8),
              new Entry(
                  new String(cursor.value(), UTF_8),
                  expires == null ? NEVER : expires.toEpochMilli()));
        }
      }
    }

    private void step() {
      switch (random.nextInt(20)) {
        case 0 -> world.pass(random.nextInt(30) * 1_000_000L);
        case 1 -> store.flush();
        case 2, 3 -> writeOther();
        case 4, 5, 6 -> write();
        case 7 -> {
          if (marks.size() < 3) {
            marks.add(new Mark(transaction.savepoint(), new TreeMap<>(own)));
          }
        }
        case 8 -> rollBack();
        case 9 -> open();
        default -> {
          if (walkers.isEmpty()) {
            open();
          }
          walkers.get(random.nextInt(walkers.size())).use();
        }
      }
    }

    private void open() {
      if (walkers.size() == 3) {
        walkers.remove(0).cursor.close();
      }
      walkers.add(new Walker(first == null ? alive() : first));
    }

    private void rollBack() {
      if (!marks.isEmpty()) {
        int to = random.nextInt(marks.size());
        transaction.rollbackTo(marks.get(to).savepoint);
        own = new TreeMap<>(marks.get(to).own);
        marks.subList(to + 1, marks.size()).clear();
      }
    }

    private Instant in(long millis) {
      return Instant.ofEpochMilli(now() + millis);
    }

    /** A write outside of the transaction. */
    private void writeOther() {
      String key = key();
      if (locked.containsKey(key)) {
        return;
      }
      Entry before = committed.getOrDefault(key, Entry.NONE);
      Entry live = before.isThere(now()) ? before : Entry.NONE;
      String value = value();
      switch (random.nextInt(5)) {
        case 0 -> {
          tree.delete(bytes(key));
          committed.remove(key);
        }
        case 1 -> {
          long millis = random.nextInt(60) - 2;
          tree.put(bytes(key), bytes(value), in(millis));
          committed.put(key, new Entry(value, now() + millis));
        }
        case 2 -> {
          if (operator) {
            String operand = operand();
            tree.merge(bytes(key), bytes(operand));
            committed.put(key, live.merged(operand));
          }
        }
        default -> {
          tree.put(bytes(key), bytes(value));
          committed.put(key, new Entry(value, NEVER));
        }
      }
    }

    /** A key that a cursor stands on, or any. */
    private String writtenKey() {
      if (!walkers.isEmpty() && random.nextBoolean()) {
        String at = walkers.get(random.nextInt(walkers.size())).at;
        return at == null ? key() : at;
      }
      return key();
    }

    private void write() {
      String key = writtenKey();
      try {
        switch (random.nextInt(7)) {
          case 0, 1 -> {
            lock(key);
            transaction.delete(tree, bytes(key));
            own.put(key, Own.of(Entry.NONE));
          }
          case 2 -> {
            String to = String.format("%02d", Integer.parseInt(key) + random.nextInt(1, 4));
            for (int i = 0; i < KEYS; i++) {
              String each = String.format("%02d", i);
              if (each.compareTo(key) >= 0 && each.compareTo(to) < 0) {
                lock(each);
                own.put(each, Own.of(Entry.NONE));
              }
            }
            transaction.deleteRange(tree, bytes(key), bytes(to));
          }
          case 3 -> {
            lock(key);
            long millis = random.nextInt(60) - 2;
            String value = value();
            transaction.put(tree, bytes(key), bytes(value), in(millis));
            own.put(key, Own.of(millis <= 0 ? Entry.NONE : new Entry(value, now() + millis)));
          }
          case 4, 5 -> {
            if (operator) {
              lock(key);
              String operand = operand();
              transaction.merge(tree, bytes(key), bytes(operand));
              own.put(key, Own.merged(own.get(key), operand));
            }
          }
          default -> {
            lock(key);
            String value = value();
            transaction.put(tree, bytes(key), bytes(value));
            own.put(key, Own.of(new Entry(value, NEVER)));
          }
        }
      } catch (TransactionAbortedException e) {
        // Others have written the key since the snapshot. It can't go on, so another begins.
        assertTrue(!transaction.isOpen(), e::getMessage);
        walkers.clear();
        marks.clear();
        locked.clear();
        own = new TreeMap<>();
        first = null;
        pessimistic = false;
        transaction =
            store.begin(
                TransactionOptions.builder()
                    .isolation(Isolation.READ_COMMITTED)
                    .locking(Locking.OPTIMISTIC)
                    .build());
      }
    }

    private void lock(String key) {
      if (pessimistic) {
        locked.put(key, true);
      }
    }

    /** A cursor of the transaction, and where it should stand. */
    private final class Walker {
      private final NavigableMap<String, Entry> below;
      private final Cursor cursor;
      private final @Nullable String from;
      private final @Nullable String to;
      private @Nullable String at;

      Walker(NavigableMap<String, Entry> below) {
        this.below = below;
        from = random.nextInt(4) == 0 ? key() : null;
        to = random.nextInt(4) == 0 ? key() : null;
        CursorOptions options = CursorOptions.all();
        options = from == null ? options : options.from(bytes(from));
        options = to == null ? options : options.to(bytes(to));
        cursor = transaction.cursor(tree, options);
      }

      /** What it sees now, within its bounds. */
      private NavigableMap<String, Entry> view() {
        NavigableMap<String, Entry> view = new TreeMap<>(below);
        own.forEach(
            (key, written) -> view.put(key, written.over(below.getOrDefault(key, Entry.NONE))));
        view.entrySet()
            .removeIf(
                e ->
                    e.getValue().value == null
                        || from != null && e.getKey().compareTo(from) < 0
                        || to != null && e.getKey().compareTo(to) >= 0);
        return view;
      }

      void use() {
        String key = key();
        NavigableMap<String, Entry> view = view();
        switch (random.nextInt(16)) {
          case 0 -> moved(cursor.first(), view.firstEntry());
          case 1 -> moved(cursor.last(), view.lastEntry());
          case 2 -> moved(cursor.seek(bytes(key)), view.ceilingEntry(key));
          case 3 -> moved(cursor.seekBefore(bytes(key)), view.lowerEntry(key));
          case 4, 5, 6 -> {}
          case 7, 8, 9, 10, 11 -> walk(view, true);
          default -> walk(view, false);
        }
        for (int i = random.nextInt(4); i > 0; i--) {
          look(view);
        }
      }

      private void walk(NavigableMap<String, Entry> view, boolean forward) {
        if (at == null) {
          assertThrows(IllegalStateException.class, forward ? cursor::next : cursor::previous);
        }
        for (int i = random.nextInt(1, 6); at != null && i > 0; i--) {
          if (forward) {
            moved(cursor.next(), view.higherEntry(at));
          } else {
            moved(cursor.previous(), view.lowerEntry(at));
          }
        }
      }

      private void moved(boolean on, Map.@Nullable Entry<String, Entry> expected) {
        at = expected == null ? null : expected.getKey();
        assertEquals(at != null, on, () -> "at " + at);
        assertEquals(at != null, cursor.isValid());
        if (at != null) {
          assertEquals(at, new String(cursor.key(), UTF_8));
        }
      }

      /** The key stays what it was; a value is there if the transaction sees one. */
      private void look(NavigableMap<String, Entry> view) {
        looks++;
        Entry expected = at == null ? null : view.get(at);
        if (expected == null) {
          gone += at == null ? 0 : 1;
          assertThrows(IllegalStateException.class, cursor::value);
          assertThrows(IllegalStateException.class, cursor::expires);
        } else {
          assertArrayEquals(bytes(expected.value), cursor.value(), at);
          assertEquals(
              expected.expiry == NEVER ? null : Instant.ofEpochMilli(expected.expiry),
              cursor.expires(),
              at);
        }
        if (at != null) {
          assertEquals(at, new String(cursor.key(), UTF_8));
        }
      }
    }
  }
}
