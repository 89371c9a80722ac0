package io.isobardb.lsm.merge;

import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.merge.VirtualWorld.MILLI;
import static io.isobardb.lsm.merge.VirtualWorld.SECOND;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.observe.StallReason;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.option.MergeSchedule;
import io.isobardb.lsm.schedule.Job;
import io.isobardb.lsm.simulation.JobTimes;
import io.isobardb.lsm.simulation.VirtualDevice;
import io.isobardb.memory.stats.Purpose;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Disk merges that wait for a pause in what users write, in virtual time. */
@Tag("any-jdk")
class MergeScheduleTest {
  private static final MergeSchedule NEVER_QUIET =
      MergeSchedule.afterLastWrite(Duration.ofHours(1));

  private final VirtualWorld world = new VirtualWorld(5, 20 << 20, 2);
  private final SplittableRandom random = new SplittableRandom(6);
  private final Map<Integer, Integer> model = new HashMap<>();

  private static StoreOptions options(MergeSchedule schedule, int slowdownGroups) {
    return ExperimentalOptions.set(
            StoreOptions.builder()
                .pageSize(4096)
                .memoryBudget(8 << 20)
                .writeMemory(1 << 20)
                .memoryTuner(false)
                .backgroundThreads(2)
                .mergeSchedule(schedule),
            e ->
                e.l0SlowdownGroups(slowdownGroups)
                    .l0StopGroups(slowdownGroups + 8)
                    .l0MostGroups(slowdownGroups + 8)
                    .mergeDebtLimit(1L << 30))
        .build();
  }

  private static MergeSchedule schedule(String text) {
    if (text.equals("ADAPTIVE")) {
      return MergeSchedule.ADAPTIVE;
    }
    return text.startsWith("AFTER")
        ? MergeSchedule.afterLastWrite(Duration.ofMillis(500))
        : MergeSchedule.belowThroughput(512 << 10, Duration.ofMillis(500));
  }

  /** Writes for so long as fast as the store takes it. Returns how many. */
  private int burst(Tree tree, long nanos) {
    long end = world.clock.nanos() + nanos;
    int writes = 0;
    while (world.clock.nanos() < end) {
      world.scheduler.compute(20_000);
      int key = random.nextInt(20_000);
      tree.put(key(key), ByteBuffer.allocate(1000).putInt(writes).array());
      model.put(key, writes);
      world.scheduler.settle();
      writes++;
    }
    return writes;
  }

  private void check(Tree tree) {
    model.forEach(
        (key, value) -> assertEquals(value, ByteBuffer.wrap(tree.get(key(key))).getInt()));
  }

  private void rest(long nanos) {
    world.scheduler.sleepUntil(world.clock.nanos() + nanos);
  }

  private List<JobTimes> merges(Job.Priority priority) {
    return world.scheduler.history().stream().filter(job -> job.priority() == priority).toList();
  }

  private int merges() {
    return merges(Job.Priority.MERGE_L0).size() + merges(Job.Priority.MERGE_DEEP).size();
  }

  @ParameterizedTest
  @ValueSource(strings = {"AFTER_LAST_WRITE", "BELOW_THROUGHPUT", "ADAPTIVE"})
  void mergesWaitForTheEndOfABurst(String kind) {
    try (Store store = world.open(options(schedule(kind), 100))) {
      Tree tree = store.openTree("t");
      burst(tree, 2 * SECOND);
      StoreStats stats = store.stats();
      assertTrue(stats.flushes() > 5, stats::toJson);
      assertEquals(0, merges(), "merges during the burst");
      rest(10 * SECOND);
      assertTrue(merges() > 1, "no merges after the burst");
      assertEquals(0, world.scheduler.pending());
      assertEquals(0, store.stats().mergeDebtBytes());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"AFTER_LAST_WRITE", "BELOW_THROUGHPUT", "ADAPTIVE"})
  void aBurstAfterALongRestIsSeenAtOnce(String kind) {
    StoreOptions options =
        ExperimentalOptions.set(options(schedule(kind), 100).toBuilder(), e -> e.l0StartGroups(1))
            .build();
    try (Store store = world.open(options)) {
      Tree tree = store.openTree("t");
      burst(tree, SECOND);
      rest(1000 * SECOND);
      // As much as may be written within a probe.
      burst(tree, 20 * MILLI);
      int done = merges();
      long flushes = store.stats().flushes();
      burst(tree, SECOND);
      assertTrue(store.stats().flushes() > flushes + 5, "few flushes");
      assertEquals(done, merges(), "merges during the second burst");
    }
  }

  private long diskBytes(Store store, String tree) {
    return store.stats().trees().stream()
        .filter(stats -> stats.name().equals(tree))
        .mapToLong(stats -> stats.diskBytes())
        .sum();
  }

  @Test
  void whatARangeDeleteHidesGoesThoughMergesWait() {
    try (Store store = world.open(options(NEVER_QUIET, 100))) {
      Tree tree = store.openTree("t");
      burst(tree, SECOND);
      store.flush();
      assertTrue(diskBytes(store, "t") > 0, "nothing to delete");
      assertEquals(0, store.stats().merges(), "merges during the burst");
      tree.deleteRange(null, null, Durability.SYNC);
      rest(SECOND);
      assertEquals(0, diskBytes(store, "t"));
      assertEquals(0, store.stats().mergeBytesRead(), "it is read");
    }
  }

  @Test
  void whatARangeDeleteHidesWaitsForNoMergeOfAnotherTree() {
    StoreOptions options =
        options(MergeSchedule.ALWAYS, 100).toBuilder().backgroundThreads(1).build();
    try (Store store = world.open(options)) {
      Tree other = store.openTree("other");
      burst(other, SECOND);
      store.flush();
      store.awaitQuiet();
      Tree busy = store.openTree("busy");
      burst(busy, 2 * SECOND);
      assertTrue(store.stats().mergeDebtBytes() > 0, "no merge is under way");
      other.deleteRange(null, null, Durability.SYNC);
      long merges = store.stats().merges();
      for (int i = 0; i < 10_000 && diskBytes(store, "other") > 0; i++) {
        rest(MILLI);
      }
      assertEquals(merges + 1, store.stats().merges(), "merges, the drop included");
    }
  }

  @Test
  void learntPausesAreUsedForFlushesToo() {
    try (Store store = world.open(options(MergeSchedule.ADAPTIVE, 100))) {
      Tree tree = store.openTree("t");
      for (int i = 0; i < 4; i++) {
        burst(tree, SECOND);
        rest(5 * SECOND);
        assertEquals(0, store.stats().mergeDebtBytes(), "debt after burst " + i);
      }
      long limit = store.stats().writeMemoryLimitBytes();
      long used = store.stats().writeMemoryBytes();
      assertTrue(used < limit / 4, used + " bytes in memory before the next burst");
      check(tree);
    }
  }

  @Test
  void mergesRunBesideTheFewWritesOfALearntPause() {
    try (Store store = world.open(options(MergeSchedule.ADAPTIVE, 100))) {
      Tree tree = store.openTree("t");
      burst(tree, 2 * SECOND);
      assertEquals(0, merges(), "merges during the burst");
      for (int i = 0; i < 300; i++) {
        burst(tree, MILLI / 10);
        rest(10 * MILLI);
      }
      assertTrue(merges() > 1, "no merges in the pause");
      assertEquals(0, store.stats().mergeDebtBytes());
    }
  }

  @Test
  void aMergeThatIsPausedEndsAndHoldsUpNobody() {
    // So small a first level that deep merges are under way whenever a burst begins.
    StoreOptions options =
        ExperimentalOptions.set(
                options(schedule("AFTER_LAST_WRITE"), 100).toBuilder(), e -> e.levelSizeRatio(10))
            .build();
    StoreStats stats;
    try (Store store = world.open(options)) {
      Tree tree = store.openTree("t");
      for (int i = 0; i < 10; i++) {
        burst(tree, SECOND);
        rest(SECOND);
      }
      store.awaitQuiet();
      stats = store.stats();
      check(tree);
    }
    List<JobTimes> deep = merges(Job.Priority.MERGE_DEEP);
    assertTrue(deep.stream().allMatch(job -> job.ended() > 0), "a deep merge never ended");
    long paused = deep.stream().filter(job -> job.longestPause() > 500 * MILLI).count();
    assertTrue(paused > 0, "no deep merge was paused");
    assertTrue(stats.mergesPaused() >= paused, stats::toJson);
    assertEquals(0, stats.mergeDebtBytes());
    for (Job.Priority urgent : List.of(Job.Priority.FLUSH, Job.Priority.MERGE_L0)) {
      for (JobTimes job : merges(urgent)) {
        // One step of others: its processor time, and what it reads and writes.
        assertTrue(job.begun() - job.submitted() < 50 * MILLI, job::toString);
        assertTrue(urgent == Job.Priority.FLUSH || job.longestPause() < 400 * MILLI, job::toString);
      }
    }
  }

  @Test
  void aMergeThatIsPausedGivesItsBuffersBack() {
    List<Job.Priority> merging =
        List.of(Job.Priority.MERGE_L0, Job.Priority.MERGE_DEEP, Job.Priority.IDLE);
    int rested = 0;
    try (Store store = world.open(options(MergeSchedule.ALWAYS, 100))) {
      Tree tree = store.openTree("t");
      burst(tree, 2 * SECOND);
      for (int i = 0; i < 50; i++) {
        burst(tree, 20 * MILLI);
        merging.forEach(priority -> world.scheduler.hold(priority, true));
        rest(200 * MILLI);
        long held = store.stats().ledger().bytes(Purpose.MERGE);
        // What the output begins: a page of data, one of its index, one of the filter.
        assertTrue(held <= 4 * 4096L * world.scheduler.pending(), held + " bytes held");
        rested += world.scheduler.pending() > 0 ? 1 : 0;
        merging.forEach(priority -> world.scheduler.hold(priority, false));
      }
      store.awaitQuiet();
      check(tree);
    }
    assertTrue(rested > 10, rested + " times a merge rested");
  }

  @Test
  void whoWaitsForMergesEndsThePause() {
    try (Store store = world.open(options(NEVER_QUIET, 100))) {
      Tree tree = store.openTree("t");
      burst(tree, SECOND);
      assertEquals(0, merges(), "merges during the burst");
      store.awaitQuiet();
      assertEquals(0, store.stats().mergeDebtBytes());
      int done = merges();
      assertTrue(done > 0, "awaitQuiet left merges undone");
      burst(tree, SECOND);
      assertEquals(done, merges(), "merges after awaitQuiet");
    }
  }

  @Test
  void aTreeIsDroppedAndTheStoreClosedWhileItsMergesArePaused() {
    Tree kept;
    try (Store store = world.open(options(schedule("AFTER_LAST_WRITE"), 100))) {
      for (String name : List.of("dropped", "kept")) {
        Tree tree = store.openTree(name);
        int held = 0;
        for (int i = 0; i < 20 && held == 0; i++) {
          burst(tree, SECOND);
          rest(700 * MILLI);
          burst(tree, 300 * MILLI);
          held = world.scheduler.pending();
        }
        assertTrue(held > 0, "nothing is paused");
        if (name.equals("dropped")) {
          store.dropTree(name);
        }
      }
      kept = store.tree("kept");
    }
    assertEquals("kept", kept.name());
    assertEquals(0, world.scheduler.pending());
  }

  @Test
  void mergesOfL0GiveWayBeforeWritersAreSlowedDown() {
    try (Store store = world.open(options(NEVER_QUIET, 8))) {
      Tree tree = store.openTree("t");
      for (int i = 0; i < 12_000; i++) {
        rest(MILLI);
        tree.put(key(random.nextInt(6_000)), new byte[1000]);
      }
      StoreStats stats = store.stats();
      assertTrue(merges(Job.Priority.MERGE_L0).size() > 3, "L0 was not merged");
      assertEquals(0, stats.stalls().get(StallReason.L0_DELAY).count(), stats::toJson);
      assertEquals(0, stats.stalls().get(StallReason.L0_FULL).count(), stats::toJson);
    }
  }

  /** Though the device can't take what is written, all is written in the end. */
  @Test
  void postponedMergesNeverKeepWritersWaitingForGood() {
    try (Store store = world.open(options(NEVER_QUIET, 6))) {
      Tree tree = store.openTree("t");
      int writes = burst(tree, 8 * SECOND);
      StoreStats stats = store.stats();
      assertTrue(writes > 8_000, writes + " writes");
      assertTrue(stats.trees().get(0).l0Groups() <= 14, stats::toJson);
      assertTrue(stats.stalls().get(StallReason.L0_FULL).nanos() < 4 * SECOND, stats::toJson);
    }
  }

  /** The device is so fast that flushes end one right after the other. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void mergesAreNotForgottenUntilTheNextProbe(boolean throughput) {
    VirtualDevice.Limits device =
        new VirtualDevice.Limits(8L << 30, 8L << 30, 8L << 30, 10_000_000, 10_000);
    VirtualWorld fast = new VirtualWorld(5, device, 2);
    MergeSchedule hourly =
        throughput ? MergeSchedule.belowThroughput(1, Duration.ofHours(1)) : NEVER_QUIET;
    StoreOptions options =
        ExperimentalOptions.set(
                options(hourly, 5).toBuilder(),
                e -> e.l0StartGroups(1).l0SlowdownGroups(3).l0StopGroups(3))
            .build();
    try (Store store = fast.open(options)) {
      Tree tree = store.openTree("t");
      for (int i = 0; i < 20_000; i++) {
        tree.put(key(random.nextInt(6_000)), new byte[1000]);
        fast.scheduler.settle();
      }
      StoreStats stats = store.stats();
      assertTrue(fast.clock.nanos() < 60 * SECOND, stats::toJson);
    }
  }
}
