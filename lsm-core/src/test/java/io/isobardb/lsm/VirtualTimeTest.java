package io.isobardb.lsm;

import static io.isobardb.lsm.SimulatedStores.key;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.schedule.Job;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.simulation.VirtualDevice;
import io.isobardb.lsm.simulation.VirtualScheduler;
import io.isobardb.lsm.simulation.VirtualScheduler.Client;
import io.isobardb.lsm.simulation.VirtualScheduler.Machine;
import io.isobardb.lsm.simulation.VirtualStorage;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Stores in virtual time, with clients beside each other. */
class VirtualTimeTest {
  private static final StoreOptions OPTIONS =
      StoreOptions.builder()
          .pageSize(4096)
          .memoryBudget(8 << 20)
          .logLimit(8 << 20)
          .memoryTuner(false)
          .backgroundThreads(2)
          .build();

  private record Run(List<Long> latencies, List<String> jobs, long end) {}

  private static Run run(long seed) {
    SimulatedClock clock = new SimulatedClock();
    Machine machine =
        new Machine(
            2,
            2,
            100_000,
            64 << 10,
            new VirtualDevice.Limits(100 << 20, 50 << 20, 100 << 20, 10_000, 2_000_000));
    VirtualScheduler scheduler = new VirtualScheduler(clock, machine);
    VirtualStorage storage = new VirtualStorage(new SimulatedStorage(clock), scheduler);
    List<Long> latencies = new ArrayList<>();
    try (Store store =
        Store.open(
            new Environment(storage, clock, scheduler, new SplittableRandom(seed)), OPTIONS)) {
      Tree tree = store.openTree("t");
      List<Client> clients = new ArrayList<>();
      for (int c = 0; c < 3; c++) {
        SplittableRandom random = new SplittableRandom(seed + c);
        clients.add(
            scheduler.client(
                "client-" + c,
                () -> {
                  long begin = clock.nanos();
                  for (int i = 0; i < 8_000; i++) {
                    long intended = begin + i * 200_000L;
                    scheduler.sleepUntil(intended);
                    scheduler.compute(3_000);
                    byte[] key = key(random.nextInt(20_000));
                    if (random.nextInt(4) == 0) {
                      tree.get(key);
                    } else {
                      tree.put(key, new byte[400]);
                    }
                    scheduler.settle();
                    latencies.add(clock.nanos() - intended);
                  }
                }));
      }
      clients.forEach(Client::join);
      store.awaitQuiet();
    }
    return new Run(
        latencies,
        scheduler.history().stream().map(VirtualScheduler.JobTimes::toString).toList(),
        clock.nanos());
  }

  @Test
  void equalSeedsGiveEqualLatencies() {
    Run first = run(1);
    Run second = run(1);
    assertEquals(first.latencies(), second.latencies());
    assertEquals(first.jobs(), second.jobs());
    assertEquals(first.end(), second.end());
    assertEquals(24_000, first.latencies().size());
    first.jobs().stream().limit(20).forEach(System.err::println);
    assertTrue(first.jobs().stream().anyMatch(job -> job.startsWith(Job.Priority.FLUSH.name())));
    assertTrue(first.jobs().stream().anyMatch(job -> job.startsWith(Job.Priority.MERGE_L0.name())));
    long[] sorted = first.latencies().stream().mapToLong(Long::longValue).sorted().toArray();
    System.err.println(
        Arrays.hashCode(sorted)
            + " p50 "
            + sorted[sorted.length / 2]
            + " p99 "
            + sorted[sorted.length * 99 / 100]
            + " max "
            + sorted[sorted.length - 1]
            + " jobs "
            + first.jobs().size()
            + " end "
            + first.end());
  }
}
