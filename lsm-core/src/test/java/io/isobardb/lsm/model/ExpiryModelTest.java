package io.isobardb.lsm.model;

import static io.isobardb.lsm.model.Texts.all;
import static io.isobardb.lsm.model.Texts.text;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.BulkLoad;
import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.commit.StoreClock;
import io.isobardb.lsm.entry.Moment;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.setting.OptionLimits;
import io.isobardb.lsm.simulation.CrashMode;
import io.isobardb.lsm.simulation.FallingOrder;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.ModelTree;
import io.isobardb.lsm.simulation.SimulatedWorld;
import io.isobardb.lsm.simulation.TailOperator;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Entries that expire, of few keys, against a model that knows the time: reads of each kind, now
 * and as of snapshots, across flushes, merges, crashes and clocks that are set back. {@link
 * StoreModelTest} has some of it among many more keys.
 *
 * <p>{@code -Disobar.model.seed=S} sets the first seed, {@code -Disobar.model.expiry=N} how many
 * follow each other.
 */
@Tag("any-jdk")
class ExpiryModelTest {
  private static final long FIRST_SEED = Long.getLong("isobar.model.seed", 1);
  private static final int SEEDS = Integer.getInteger("isobar.model.expiry", 12);
  private static final int STEPS = 700;
  private static final int KEYS = 24;
  private static final int PAGE_SIZE = 4096;
  private static final long NEVER = Long.MAX_VALUE;

  @Test
  void whatHasExpiredIsAbsentForEachReaderByItsTime() {
    run(FIRST_SEED, SEEDS);
  }

  /**
   * A flush within a replay dropped an expired value that an operand further on in the log counts.
   */
  @Test
  void whatExpiredAfterItWasMergedWithSurvivesAReplay() {
    run(7046, 1);
  }

  /** A merge that drops an expired value which a newer operand counts is found here. */
  @Test
  void whatExpiredAfterItWasMergedWithSurvivesAMerge() {
    run(29, 1);
  }

  private static void run(long first, int seeds) {
    for (long seed = first; seed < first + seeds; seed++) {
      History history = new History(seed);
      try {
        history.run();
      } catch (IOException | RuntimeException | Error e) {
        history.abandon();
        throw new AssertionError("-Disobar.model.seed=" + seed + history.doing + ": " + e, e);
      }
    }
  }

  /**
   * A version of a key.
   *
   * @param value null for a deletion
   */
  private record Version(long at, byte @Nullable [] value, long expiry) {}

  private record Moment(Snapshot snapshot, long at, long time) {}

  private static final class History {
    private final SplittableRandom random;
    private final TreeOptions options;
    private final TreeMap<byte[], List<Version>> model;
    private final List<Moment> moments = new ArrayList<>();
    private SimulatedWorld world;
    private Store store;
    private Tree tree;
    private long now;
    private long time;
    private long timeToLive;
    private String doing = "";

    /** How far the machine's clock is ahead. */
    private long leaptMillis;

    /** Whether it was ahead once. */
    private boolean leapt;

    History(long seed) {
      random = new SplittableRandom(seed);
      world = new SimulatedWorld(random.nextLong());
      TreeOptions.Builder some =
          TreeOptions.builder()
              .keyOrder(random.nextInt(3) == 0 ? FallingOrder.FALLING : KeyOrder.BYTES);
      if (random.nextBoolean()) {
        some.mergeOperator(TailOperator.TAIL);
      }
      options = some.build();
      model = new TreeMap<>(ModelTree.comparator(options.keyOrder()));
      open();
    }

    private void open() {
      // Writes that are refused are not what this is about.
      StoreOptions some =
          HistoryOptions.some(random, PAGE_SIZE).toBuilder()
              .durability(Durability.SYNC)
              .writeTimeout(OptionLimits.FOREVER)
              .build();
      store = world.open(some, world.storage());
      tree = store.openTree("t", options);
      assertEquals(timeToLive, tree.timeToLive().toMillis());
    }

    void abandon() {
      try {
        store.close();
      } catch (RuntimeException | Error e) {
        // The failure is told.
      }
    }

    void run() throws IOException {
      for (int step = 0; step < STEPS; step++) {
        int dice = random.nextInt(37);
        doing = ", step " + step + " (" + dice + ")";
        time = clock();
        switch (dice) {
          case 0, 1, 2, 3, 4 -> put();
          case 5, 6, 7 -> putUntil();
          case 8, 9 -> delete();
          case 10 -> deleteRange();
          case 11, 12, 13 -> batch();
          case 14, 15 -> transaction();
          case 16, 17 -> snapshot();
          case 18 -> endSnapshot();
          case 19, 20 -> store.flush();
          case 21 -> quiet();
          case 22 -> changeTimeToLive();
          case 23 -> bulkLoad();
          case 24 -> reopen();
          case 25 -> crash();
          case 26, 27 -> check();
          case 36 -> leap();
          case 28, 29, 30, 31 -> pass(random.nextInt(40));
          default -> {
            if (tree.options().mergeOperator() == null) {
              put();
            } else {
              merge(random.nextInt(8) == 0 ? 40 : 1);
            }
          }
        }
        world.background(random.nextInt(4));
      }
      reopen();
      store.close();
      world.checkClosed();
    }

    /** The machine's clock leaps ahead, is set right, or is set back. */
    private void leap() {
      if (leaptMillis != 0) {
        setRight();
      } else if (random.nextBoolean()) {
        leaptMillis = 100_000 + random.nextInt(1_000_000);
        world.clock().jumpWall(leaptMillis);
        leapt = true;
        time = clock();
      } else if (random.nextBoolean()) {
        world.clock().jumpWall(-random.nextInt(20_000));
        time = clock();
      } else {
        world.clock().jumpWall(-setBack());
        fall();
      }
    }

    private long setBack() {
      return StoreClock.LEAP_MILLIS + 1 + random.nextInt(1_000_000);
    }

    /** Nothing is lost, if the store was not closed meanwhile. */
    private void setRight() {
      world.clock().jumpWall(-leaptMillis);
      leaptMillis = 0;
      time = clock();
    }

    /** What has expired by a leap stays so, or not, once the store was closed. */
    private void believe() {
      if (leaptMillis != 0 && random.nextBoolean()) {
        setRight();
      }
      leaptMillis = 0;
    }

    /**
     * The store's time may have fallen. What had expired before that is there again, unless merges
     * have dropped it.
     */
    private void fall() {
      time = clock();
      now++;
      for (byte[] key : model.keySet()) {
        byte[] expected = get(key, now, time);
        byte[] found = tree.get(key);
        if (found == null && expected != null) {
          write(key, null, NEVER);
        } else {
          assertArrayEquals(expected, found);
        }
      }
    }

    private void pass(long millis) {
      world.clock().advance(millis * 1_000_000);
      time = clock();
    }

    /** The store's time. It follows that of the machine, and runs back with a leap only. */
    private long clock() {
      long told = told();
      long wall = world.clock().wallMillis();
      if (time <= wall + StoreClock.LEAP_MILLIS) {
        assertEquals(Math.max(time, wall), told);
      } else {
        assertTrue(told >= wall && told <= wall + StoreClock.LEAP_MILLIS, "not set back");
      }
      return told;
    }

    private long told() {
      return Inside.of(store).engine().snapshots().time().getAsLong();
    }

    private byte[] key() {
      return String.format("%02d", random.nextInt(KEYS)).getBytes(StandardCharsets.UTF_8);
    }

    private byte[] value() {
      int length =
          switch (random.nextInt(24)) {
            case 0, 1 -> 0;
            case 2 -> PAGE_SIZE / 2 + random.nextInt(3 * PAGE_SIZE);
            case 3 -> PAGE_SIZE - 120 + random.nextInt(120);
            default -> 1 + random.nextInt(60);
          };
      byte[] value = new byte[length];
      Arrays.fill(value, (byte) ('a' + random.nextInt(26)));
      return value;
    }

    private long lifetime() {
      return timeToLive == 0 ? NEVER : time + timeToLive;
    }

    private void write(byte[] key, byte @Nullable [] value, long expiry) {
      model
          .computeIfAbsent(key, k -> new ArrayList<>())
          .add(new Version(now, value, value == null ? NEVER : expiry));
    }

    private byte @Nullable [] get(byte[] key, long at, long when) {
      Version version = version(key, at, when);
      return version == null ? null : version.value;
    }

    private @Nullable Version version(byte[] key, long at, long when) {
      List<Version> versions = model.getOrDefault(key, List.of());
      for (int i = versions.size() - 1; i >= 0; i--) {
        Version version = versions.get(i);
        if (version.at <= at) {
          return version.value == null || version.expiry <= when ? null : version;
        }
      }
      return null;
    }

    private void merged(byte[] key, byte[] operand) {
      byte[] base = get(key, now, time);
      write(key, TailOperator.TAIL.merge(key, base, List.of(operand)), lifetime());
    }

    private long until() {
      return switch (random.nextInt(8)) {
        case 0 -> NEVER;
        case 1 -> time - random.nextInt(3);
        default -> time + random.nextInt(200);
      };
    }

    /**
     * When what is put until then expires: later if the machine's clock was set back and has yet to
     * come to it.
     */
    private long lasts(long until) {
      boolean stands = until <= time && until > world.clock().wallMillis();
      return stands ? until + StoreClock.LEAP_MILLIS : until;
    }

    private static Instant instant(long millis) {
      return millis == NEVER ? Instant.MAX : Instant.ofEpochMilli(millis);
    }

    private void put() {
      byte[] key = key();
      byte[] value = value();
      tree.put(key, value);
      now++;
      write(key, value, lifetime());
    }

    private void putUntil() {
      byte[] key = key();
      byte[] value = value();
      long until = until();
      long expiry = lasts(until);
      tree.put(key, value, instant(until));
      now++;
      write(key, value, expiry);
    }

    private void delete() {
      byte[] key = key();
      tree.delete(key);
      now++;
      write(key, null, NEVER);
    }

    private void merge(int times) {
      byte[] key = key();
      for (int i = 0; i < times; i++) {
        byte[] operand = value();
        tree.merge(key, operand);
        now++;
        merged(key, operand);
      }
    }

    private void deleteRange() {
      byte[] from = key();
      tree.deleteRange(from, null);
      now++;
      for (byte[] key : model.tailMap(from, true).keySet()) {
        write(key, null, NEVER);
      }
    }

    private void bulkLoad() {
      TreeMap<byte[], byte[]> entries = new TreeMap<>(model.comparator());
      for (int i = random.nextInt(10); i >= 0; i--) {
        entries.put(key(), value());
      }
      boolean own = random.nextBoolean();
      long until = until();
      long expiry = own ? lasts(until) : lifetime();
      try (BulkLoad load = store.bulkLoad(tree)) {
        entries.forEach(
            (key, value) -> {
              if (own) {
                load.add(tree, key, value, instant(until));
              } else {
                load.add(tree, key, value);
              }
            });
        load.commit();
      }
      now++;
      entries.forEach((key, value) -> write(key, value, expiry));
    }

    private void batch() {
      WriteBatch batch = store.newBatch();
      List<Runnable> effects = new ArrayList<>();
      Set<byte[]> merged = new TreeSet<>(model.comparator());
      for (int i = random.nextInt(10); i >= 0; i--) {
        byte[] key = key();
        byte[] value = value();
        switch (random.nextInt(8)) {
          case 0 -> {
            batch.delete(tree, key);
            effects.add(() -> write(key, null, NEVER));
          }
          case 1, 2 -> {
            long until = until();
            long expiry = lasts(until);
            batch.put(tree, key, value, instant(until));
            effects.add(
                () -> {
                  merged.remove(key);
                  write(key, value, expiry);
                });
          }
          case 3, 4, 5 -> {
            if (tree.options().mergeOperator() != null) {
              long expiry = lifetime();
              batch.merge(tree, key, value);
              effects.add(
                  () -> {
                    // What one batch merges with a key is one operand.
                    byte[] base = get(key, now, merged.add(key) ? time : Long.MIN_VALUE);
                    write(key, TailOperator.TAIL.merge(key, base, List.of(value)), expiry);
                  });
            }
          }
          default -> {
            long expiry = lifetime();
            batch.put(tree, key, value);
            effects.add(
                () -> {
                  merged.remove(key);
                  write(key, value, expiry);
                });
          }
        }
        if (random.nextInt(6) == 0) {
          pass(random.nextInt(20));
        }
      }
      store.write(batch);
      now++;
      effects.forEach(Runnable::run);
    }

    /** What the transaction writes is seen by it, and it reads at one moment. */
    private void transaction() {
      TreeMap<byte[], Version> own = new TreeMap<>(model.comparator());
      try (Transaction transaction = store.begin()) {
        // Its moment is that of its first read.
        byte[] first = key();
        assertArrayEquals(get(first, now, time), transaction.get(tree, first));
        long begun = time;
        for (int i = random.nextInt(8); i >= 0; i--) {
          byte[] key = key();
          byte[] value = value();
          switch (random.nextInt(4)) {
            case 0 -> {
              transaction.delete(tree, key);
              own.put(key, new Version(0, null, NEVER));
            }
            case 1 -> {
              long until = until();
              transaction.put(tree, key, value, instant(until));
              long expiry = lasts(until);
              boolean past = expiry <= time;
              own.put(key, new Version(0, past ? null : value, past ? NEVER : expiry));
            }
            default -> {
              transaction.put(tree, key, value);
              own.put(key, new Version(0, value, lifetime()));
            }
          }
          if (random.nextInt(3) == 0) {
            pass(random.nextInt(40));
          }
          byte[] read = key();
          assertArrayEquals(seen(own, read, begun), transaction.get(tree, read));
        }
        compare(begun, own, transaction.cursor(tree));
        if (random.nextInt(4) == 0) {
          return;
        }
        transaction.commit();
      }
      now++;
      own.forEach((key, version) -> write(key, version.value, version.expiry));
    }

    private byte @Nullable [] seen(TreeMap<byte[], Version> own, byte[] key, long begun) {
      Version written = own.get(key);
      return written == null ? get(key, now, begun) : written.value;
    }

    private void compare(long begun, TreeMap<byte[], Version> own, Cursor cursor) {
      Map<String, String> expected = new TreeMap<>();
      for (int i = 0; i < KEYS; i++) {
        byte[] key = String.format("%02d", i).getBytes(StandardCharsets.UTF_8);
        byte[] value = seen(own, key, begun);
        if (value != null) {
          expected.put(text(key), text(value));
        }
      }
      assertEquals(expected, all(cursor));
    }

    private void changeTimeToLive() {
      timeToLive = random.nextInt(3) == 0 ? 0 : 1 + random.nextInt(300);
      tree.setTimeToLive(Duration.ofMillis(timeToLive));
    }

    private void snapshot() {
      if (moments.size() < 5) {
        moments.add(new Moment(store.snapshot(), now, time));
      }
    }

    private void endSnapshot() {
      if (!moments.isEmpty()) {
        moments.remove(random.nextInt(moments.size())).snapshot.close();
      }
    }

    private void endSnapshots() {
      while (!moments.isEmpty()) {
        endSnapshot();
      }
    }

    private void quiet() {
      store.awaitQuiet();
      time = clock();
    }

    private void check() {
      List<byte[]> keys = new ArrayList<>();
      for (int i = 0; i < KEYS; i++) {
        keys.add(String.format("%02d", i).getBytes(StandardCharsets.UTF_8));
      }
      List<byte @Nullable []> values = tree.multiGet(keys);
      for (int i = 0; i < KEYS; i++) {
        byte[] key = keys.get(i);
        byte[] expected = get(key, now, time);
        assertArrayEquals(expected, tree.get(key));
        assertArrayEquals(expected, values.get(i));
        assertArrayEquals(expected, tree.read(key, HistoryEntries::copy));
        for (Moment moment : moments) {
          byte[] then = get(key, moment.at, moment.time);
          assertArrayEquals(then, tree.get(key, moment.snapshot));
        }
      }
      walk(now, time, tree.cursor());
      for (Moment moment : moments) {
        walk(moment.at, moment.time, tree.cursor(CursorOptions.all().snapshot(moment.snapshot)));
      }
    }

    private void walk(long at, long when, Cursor cursor) {
      Map<String, String> expected = new TreeMap<>();
      Map<String, String> expiries = new TreeMap<>();
      for (byte[] key : model.keySet()) {
        Version version = version(key, at, when);
        if (version != null && version.value != null) {
          expected.put(text(key), text(version.value));
          expiries.put(text(key), version.expiry == NEVER ? "never" : "" + version.expiry);
        }
      }
      Map<String, String> seen = new TreeMap<>();
      for (boolean more = cursor.last(); more; more = cursor.previous()) {
        Instant expires = cursor.expires();
        seen.put(text(cursor.key()), expires == null ? "never" : "" + expires.toEpochMilli());
      }
      assertEquals(expiries, seen);
      assertEquals(expected, all(cursor));
    }

    private void reopen() throws IOException {
      believe();
      check();
      endSnapshots();
      if (random.nextInt(3) == 0) {
        quiet();
      }
      store.close();
      world.checkClosed();
      // Whatever was told before it was closed stays so, but for a leap.
      if (random.nextBoolean()) {
        world.clock().jumpWall(random.nextInt(5) == 0 ? -setBack() : -random.nextInt(200));
      }
      open();
      fall();
      check();
    }

    /** Power fails. */
    private void crash() {
      believe();
      moments.clear();
      SimulatedWorld before = world;
      world =
          new SimulatedWorld(
              before.storage().crash(random, CrashMode.ONLY_SYNCED), random.nextLong());
      store.close();
      long back = random.nextInt(5) == 0 ? setBack() : 0;
      world.clock().jumpWall(Math.max(0, time - world.clock().wallMillis()) - back);
      open();
      if (leapt) {
        // The manifest may have a time that was told before the clock was set right.
        time =
            Math.max(time, Math.min(told(), world.clock().wallMillis() + StoreClock.LEAP_MILLIS));
      }
      fall();
      check();
    }
  }
}
