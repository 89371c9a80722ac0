package io.isobardb.lsm.merge;

import static io.isobardb.lsm.SimulatedStores.key;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.observe.StallReason;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.schedule.Job;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.JobTimes;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.simulation.VirtualDevice;
import io.isobardb.lsm.simulation.VirtualScheduler;
import io.isobardb.lsm.simulation.VirtualScheduler.Client;
import io.isobardb.lsm.simulation.VirtualScheduler.Machine;
import io.isobardb.lsm.simulation.VirtualStorage;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Stores in virtual time: clients beside each other and beside the store's own work. */
@Tag("any-jdk")
class VirtualTimeTest {
  private static final long MILLI = 1_000_000;
  private static final long STEP_NANOS = 100_000;
  private static final int KEYS = 12_000;

  /** Processor time of an operation. */
  private static final long OPERATION_NANOS = 3_000;

  private static final StoreOptions OPTIONS =
      StoreOptions.builder()
          .pageSize(4096)
          .memoryBudget(8 << 20)
          .writeMemory(512 << 10)
          .memoryTuner(false)
          .backgroundThreads(2)
          .build();

  /** Levels of fixed sizes: what leaves L0 goes through all of them, by deep merges. */
  private static final StoreOptions DEEP =
      ExperimentalOptions.set(OPTIONS.toBuilder(), e -> e.levelSizeRatio(10)).build();

  /** Write memory that several slices of a flush go into. */
  private static final StoreOptions ROOMY =
      OPTIONS.toBuilder().memoryBudget(24 << 20).writeMemory(4 << 20).build();

  /**
   * What clients do.
   *
   * @param clients beside each other
   * @param operations of each
   * @param everyNanos an operation of each begins so often, whether the one before has ended or not
   * @param writesOf16 how many of 16 operations write
   */
  private record Load(int clients, int operations, long everyNanos, int writesOf16) {}

  private record Run(List<Long> latencies, List<JobTimes> jobs, StoreStats stats, long end) {
    List<String> lines() {
      return jobs.stream().map(JobTimes::toString).toList();
    }

    List<JobTimes> of(Job.Priority priority) {
      return jobs.stream().filter(job -> job.priority() == priority).toList();
    }

    long percentile(double part) {
      return latencies.stream().sorted().toList().get((int) (part * (latencies.size() - 1)));
    }
  }

  private static Run run(long seed, long bytesPerSecond, Load load) {
    return run(seed, bytesPerSecond, load, false, OPTIONS);
  }

  private static Run run(
      long seed, long bytesPerSecond, Load load, boolean fair, StoreOptions options) {
    SimulatedClock clock = new SimulatedClock();
    VirtualDevice.Limits device =
        new VirtualDevice.Limits(
            2 * bytesPerSecond, bytesPerSecond, 2 * bytesPerSecond, 10_000, 2 * MILLI);
    VirtualScheduler scheduler =
        new VirtualScheduler(clock, new Machine(2, 2, STEP_NANOS, 64 << 10, device));
    if (fair) {
      scheduler.fairJobs();
    }
    VirtualStorage storage = new VirtualStorage(new SimulatedStorage(clock), scheduler);
    List<Long> latencies = new ArrayList<>();
    StoreStats stats;
    try (Store store =
        Inside.open(
            new Environment(storage, clock, scheduler, new SplittableRandom(seed)), options)) {
      Tree tree = store.openTree("t");
      List<Client> clients = new ArrayList<>();
      for (int c = 0; c < load.clients(); c++) {
        SplittableRandom random = new SplittableRandom(seed + c);
        clients.add(
            scheduler.client(
                "client-" + c,
                () -> {
                  long begin = clock.nanos();
                  for (int i = 0; i < load.operations(); i++) {
                    long intended = begin + i * load.everyNanos();
                    scheduler.sleepUntil(intended);
                    scheduler.compute(OPERATION_NANOS);
                    byte[] key = key(random.nextInt(KEYS));
                    if (random.nextInt(16) < load.writesOf16()) {
                      tree.put(key, new byte[1000]);
                    } else {
                      tree.get(key);
                    }
                    scheduler.settle();
                    latencies.add(clock.nanos() - intended);
                  }
                }));
      }
      clients.forEach(Client::join);
      store.awaitQuiet();
      stats = store.stats();
    }
    return new Run(latencies, scheduler.history(), stats, clock.nanos());
  }

  @Test
  void equalSeedsGiveEqualLatencies() {
    Load load = new Load(3, 4_000, MILLI, 12);
    Run first = run(1, 20 << 20, load);
    Run second = run(1, 20 << 20, load);
    assertEquals(first.latencies(), second.latencies());
    assertEquals(first.lines(), second.lines());
    assertEquals(first.end(), second.end());
    assertEquals(12_000, first.latencies().size());
    assertTrue(first.percentile(0.5) < MILLI, first.percentile(0.5) + " ns");
  }

  @Test
  void noFlushOrMergeOfL0WaitsForTheEndOfADeeperMerge() {
    Run run = run(2, 20 << 20, new Load(3, 25_000, MILLI, 14), false, DEEP);
    List<JobTimes> deep = run.of(Job.Priority.MERGE_DEEP);
    assertTrue(deep.size() > 5, deep.size() + " deep merges");
    assertTrue(deep.stream().allMatch(job -> job.ended() > 0), "a deep merge never ended");
    int beside = 0;
    for (Job.Priority urgent : List.of(Job.Priority.FLUSH, Job.Priority.MERGE_L0)) {
      assertTrue(run.of(urgent).size() > 20, run.of(urgent).size() + " of " + urgent);
      for (JobTimes job : run.of(urgent)) {
        boolean besideDeep =
            deep.stream().anyMatch(d -> d.begun() < job.begun() && job.ended() < d.ended());
        beside += besideDeep ? 1 : 0;
      }
    }
    assertTrue(beside > 10, beside + " ended beside a deep merge");
    for (JobTimes flush : run.of(Job.Priority.FLUSH)) {
      // One step of others: its processor time, and what it reads and writes.
      assertTrue(flush.begun() - flush.submitted() < 50 * MILLI, flush::toString);
    }
  }

  @Test
  void fairJobsRunToTheirEndAndOthersGiveWay() {
    Load load = new Load(3, 10_000, MILLI, 14);
    assertEquals(0, run(4, 20 << 20, load, true, DEEP).stats().jobsPreempted());
    long ordered = run(4, 20 << 20, load, false, DEEP).stats().jobsPreempted();
    assertTrue(ordered > 10, ordered + " times a job gave way");
  }

  @Test
  void tenTimesTooMuchIsDelayedByDegrees() {
    Run run = run(3, 5 << 20, new Load(4, 6_000, 100_000, 16), false, ROOMY);
    assertTrue(
        run.stats().stalls().get(StallReason.MEMORY_DELAY).count() > 100, run.stats()::toJson);
    long groups =
        run.stats().stalls().get(StallReason.L0_FULL).count()
            + run.stats().stalls().get(StallReason.MEMORY_FULL).count();
    long delays =
        run.stats().stalls().get(StallReason.L0_DELAY).count()
            + run.stats().stalls().get(StallReason.MEMORY_DELAY).count();
    assertTrue(delays > 10 * groups, groups + " stops, " + delays + " delays");
  }
}
