package io.isobardb.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.simulation.CrashMode;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedScheduler;
import io.isobardb.lsm.simulation.SimulatedStorage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.errors.TaskCorruptedException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A process or its machine ends at some moment of a state store's life, on a simulated disk. What
 * the next one finds is never behind its offsets, and at most a second behind the last commit.
 *
 * <p>{@code -Disobar.streams.crashes=500} looks at as many lives for each way of processing.
 */
@Tag("any-jdk")
class CrashTest {
  private static final int LIVES = Integer.getInteger("isobar.streams.crashes", 1);

  /** One call to the disk in so many is a moment that is looked at. */
  private static final int STRIDE = 25;

  private static final int KEYS = 10;
  private static final int LARGE_KEYS = 30;
  private static final int LARGE_VALUE = 40_000;
  private static final String PARTS = "commits in parts";
  private static final String TRANSACTIONAL = "enable.transactional.statestores";
  private static final TopicPartition CHANGELOG = new TopicPartition("app-counts-changelog", 0);
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  @TempDir Path directory;

  private final Map<String, Object> options = new HashMap<>();

  /** A commit that has returned. */
  private record Told(long nanos, long offset) {}

  /**
   * What a crash leaves.
   *
   * @param marker what the marker has; null if there is none
   * @param least the least offset that must be there; null for none
   * @param most the most that was ever handed to a commit
   */
  private record Moment(
      String what,
      SimulatedStorage disk,
      byte @Nullable [] marker,
      @Nullable Long least,
      long most) {}

  @AfterEach
  void close() {
    SharedStore.openIn(Store::open);
    assertEquals(0, IsobarStores.close(), "all state stores are closed");
  }

  /** One process after another on a simulated disk. */
  private final class Life {
    private final SplittableRandom random;
    private final SimulatedClock clock = new SimulatedClock();
    private final SimulatedStorage disk = new SimulatedStorage(clock);
    private final List<Moment> moments = new ArrayList<>();
    private final List<Told> told = new ArrayList<>();

    /** Offsets of commits in parts. */
    private final List<Long> large = new ArrayList<>();

    /** Time passes here with that of the clock: a simulated store belongs to one thread. */
    private final ManualSurroundings surroundings;

    private final String name;
    private @Nullable SimulatedScheduler scheduler;
    private String phase = "";
    private int countdown = 1;
    private long most = -1;

    Life(long seed) {
      random = new SplittableRandom(seed);
      name = options + ", seed " + seed;
      surroundings =
          new ManualSurroundings(
              (path, of) -> {
                scheduler = new SimulatedScheduler(clock, random.nextLong());
                return Inside.open(new Environment(disk, clock, scheduler, random.split()), of);
              });
      SharedStore.openIn(surroundings);
      disk.onMutation(
          any -> {
            if (--countdown == 0) {
              countdown = 1 + random.nextInt(2 * STRIDE);
              look();
            }
          });
    }

    private MockTask task() {
      return new MockTask(directory, 0, options);
    }

    private Path marker() {
      return Marker.path(directory.resolve("app").resolve("0_0"), "counts");
    }

    /** Notes what is left if the process ends now, or the machine. */
    void look() {
      byte[] marker;
      try {
        marker = Files.exists(marker()) ? Files.readAllBytes(marker()) : null;
      } catch (IOException e) {
        throw new AssertionError(e);
      }
      boolean inParts = phase.equals(PARTS); // it may begin anew then
      Long last = inParts ? null : lastBefore(clock.nanos());
      moments.add(new Moment("killed in " + phase, disk.copy(), marker, last, most));
      CrashMode mode = CrashMode.values()[random.nextInt(CrashMode.values().length)];
      moments.add(
          new Moment(
              "no power in " + phase + ", " + mode,
              disk.crash(random.split(), mode),
              marker,
              inParts ? null : lastBefore(clock.nanos() - SECOND),
              most));
    }

    private @Nullable Long lastBefore(long nanos) {
      Long last = null;
      for (Told each : told) {
        if (each.nanos() <= nanos) {
          last = each.offset();
        }
      }
      return last;
    }

    private void commit(IsobarKeyValueStore store, long offset) {
      most = offset;
      store.commit(Map.of(CHANGELOG, offset));
      told.add(new Told(clock.nanos(), offset));
      look();
    }

    private void pass(long nanos) {
      Objects.requireNonNull(scheduler).runFor(nanos);
      surroundings.pass(Duration.ofNanos(nanos));
    }

    private IsobarKeyValueStore open() {
      return task().open(new IsobarKeyValueStore("counts"));
    }

    /** Init, restore, commits, a close, a wipe and a drop. */
    void live() throws IOException {
      phase = "init";
      IsobarKeyValueStore store = open();
      phase = "restore";
      long offset = restore(store, 0);
      phase = "commit";
      offset = process(store, offset);
      phase = "close";
      store.close();
      IsobarStores.close();
      phase = "init again";
      store = open();
      phase = "commit again";
      offset = process(store, offset);
      phase = PARTS;
      commitInParts(store, offset);
      phase = "close again";
      store.close();
      phase = "wipe";
      told.clear();
      most = -1;
      task().wipe();
      look();
      store = open();
      phase = "drop";
      restore(store, 0);
      assertEquals(1, SharedStore.onlyOne().sweep().size());
      phase = "after the drop";
      process(store, most + 1);
      store.close();
      IsobarStores.close();
      disk.onMutation(any -> {});
    }

    /** Commits that are larger than the store takes at once: all of one is there, or nothing. */
    private void commitInParts(IsobarKeyValueStore store, long from) {
      if (!transactional()) {
        return;
      }
      for (long offset = from; offset < from + 3; offset++) {
        store.put(Bytes.wrap(key(offset)), value(offset));
        for (int i = 0; i < LARGE_KEYS; i++) {
          store.put(largeKey(i), Arrays.copyOf(value(offset), LARGE_VALUE));
        }
        large.add(offset);
        commit(store, offset);
        pass(random.nextLong(SECOND));
      }
    }

    private boolean transactional() {
      return StreamsOptions.KAFKA_COMMITS && options.containsKey(TRANSACTIONAL);
    }

    private long restore(IsobarKeyValueStore store, long from) {
      long offset = from;
      for (int batch = 0; batch < 3; batch++) {
        store.restoreAll(records(offset, 20));
        offset += 20;
        look();
        commit(store, offset - 1);
        pass(random.nextLong(SECOND));
      }
      return offset;
    }

    private long process(IsobarKeyValueStore store, long from) {
      long offset = from;
      for (int commits = 0; commits < 4; commits++) {
        for (int i = random.nextInt(1, 15); i > 0; i--, offset++) {
          store.put(Bytes.wrap(key(offset)), value(offset));
        }
        look();
        commit(store, offset - 1);
        pass(random.nextLong(SECOND));
      }
      return offset;
    }

    /** Opens what a crash has left. */
    void check(Moment moment) throws IOException {
      String what = name + ": " + moment.what();
      task().wipe();
      if (moment.marker() != null) {
        Files.createDirectories(marker().getParent());
        Files.write(marker(), moment.marker());
      }
      SharedStore.openIn(
          new ManualSurroundings(
              (path, of) ->
                  Inside.open(
                      new Environment(
                          moment.disk(), clock, new SimulatedScheduler(clock, 1), random.split()),
                      of)));
      IsobarKeyValueStore store;
      try {
        store = open();
        checkEntries(what, store, moment);
      } catch (TaskCorruptedException e) {
        assertTrue(options.containsValue("exactly_once_v2"), what);
        task().wipe();
        store = open();
        assertNull(store.committedOffset(CHANGELOG), what);
        assertNull(store.get(Bytes.wrap(key(0))), what);
      }
      store.restoreAll(records(0, 20));
      store.commit(Map.of(CHANGELOG, 19L));
      store.close();
      assertEquals(0, IsobarStores.close(), what);
      store = open();
      assertEquals(19L, store.committedOffset(CHANGELOG), what + ": it works as before");
      store.close();
      SharedStore.onlyOne().sweep();
      assertEquals(
          2, SharedStore.onlyOne().store().treeNames().size(), what + ": its tree, and the ledger");
      IsobarStores.close();
    }

    private void checkEntries(String what, IsobarKeyValueStore store, Moment moment) {
      Long committed = store.committedOffset(CHANGELOG);
      Long least = moment.least();
      if (least != null && moment.marker() != null) {
        assertNotNull(committed, what);
        assertTrue(committed >= least, what + ": " + committed + " of " + least);
      }
      if (committed == null) {
        return;
      }
      assertTrue(committed <= moment.most(), what + ": " + committed + " of " + moment.most());
      for (long offset = Math.max(0, committed - KEYS + 1); offset <= committed; offset++) {
        byte[] value = store.get(Bytes.wrap(key(offset)));
        assertNotNull(value, what + ": no entry for offset " + offset);
        assertTrue(Long.parseLong(new String(value, UTF_8)) >= offset, what);
      }
      byte[] expected = null;
      for (long offset : moment.most() == -1 ? List.<Long>of() : large) {
        if (offset <= committed) {
          expected = Arrays.copyOf(value(offset), LARGE_VALUE);
        }
      }
      for (int i = 0; i < LARGE_KEYS; i++) {
        assertArrayEquals(expected, store.get(largeKey(i)), what + ", committed " + committed);
      }
    }
  }

  private static Bytes largeKey(int i) {
    return Bytes.wrap(("large" + i).getBytes(UTF_8));
  }

  private static List<AbstractStore.Restored> records(long from, int count) {
    List<AbstractStore.Restored> records = new ArrayList<>();
    for (long offset = from; offset < from + count; offset++) {
      records.add(new AbstractStore.Restored(key(offset), value(offset), 0));
    }
    return records;
  }

  private static byte[] key(long offset) {
    return String.valueOf(offset % KEYS).getBytes(UTF_8);
  }

  private static byte[] value(long offset) {
    return String.valueOf(offset).getBytes(UTF_8);
  }

  private void live(Map<String, Object> with) throws IOException {
    options.putAll(with);
    options.put("isobar.memoryBudget", "4MB");
    options.put("isobar.pageSize", "4096");
    for (int seed = 0; seed < LIVES; seed++) {
      Life life = new Life(seed);
      life.live();
      for (Moment moment : life.moments) {
        life.check(moment);
      }
      life.task().wipe();
    }
  }

  @Test
  void atLeastOnceGoesOnFromTheLastCommit() throws IOException {
    live(Map.of());
  }

  @Test
  void exactlyOnceGoesOnFromTheLastCommitOrBeginsAnewOnce() throws IOException {
    live(Map.of("processing.guarantee", "exactly_once_v2"));
  }

  /** With a Kafka that commits to state stores; an older one takes it for exactly once. */
  @Test
  void transactionalStateStoresGoOnFromTheLastCommit() throws IOException {
    live(Map.of("processing.guarantee", "exactly_once_v2", TRANSACTIONAL, "true"));
  }
}
