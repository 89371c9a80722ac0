package io.isobardb.lsm.schedule;

import static io.isobardb.lsm.SimulatedStores.key;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.IoBudget;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.observe.IoPurpose;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.option.IoBandwidth;
import io.isobardb.lsm.option.MergeSchedule;
import io.isobardb.lsm.schedule.IoShareRules.Claim;
import io.isobardb.lsm.schedule.Job.Priority;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.simulation.VirtualDevice;
import io.isobardb.lsm.simulation.VirtualScheduler;
import io.isobardb.lsm.simulation.VirtualScheduler.Client;
import io.isobardb.lsm.simulation.VirtualScheduler.Machine;
import io.isobardb.lsm.simulation.VirtualStorage;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What several stores have of one budget. */
@Tag("any-jdk")
class SharedIoTest {
  private static final long MB = 1 << 20;
  private static final long SECOND = 1_000_000_000;

  /** Steps that may be under way, and what is due at the beginning. */
  private static final long STEPS = 3 * MB;

  // The division alone.

  private static double[] rates(double available, Claim... claims) {
    double[] rates = IoShareRules.rates(available, List.of(claims));
    assertEquals(available, Arrays.stream(rates).sum(), available / 1e6);
    return rates;
  }

  @Test
  void aStoreAloneHasAllAndOthersShareByWhatIsOwedAndEvenly() {
    assertEquals(100, rates(100, new Claim(5, 0, true))[0], 1e-6);
    assertEquals(100, rates(100, new Claim(0, 0, false))[0], 1e-6);
    double[] equal = rates(100, new Claim(0, 50, true), new Claim(0, 50, true));
    assertEquals(equal[0], equal[1], 1e-6);
    double[] owed = rates(100, new Claim(300, 50, true), new Claim(100, 50, true));
    assertEquals(62.5, owed[0], 1e-6);
  }

  @Test
  void whatAStoreDoesNotUseTheOthersHave() {
    double[] rates = rates(96, new Claim(0, 10, false), new Claim(0, 80, true));
    assertEquals(16.5, rates[0], 1e-6);
    assertEquals(79.5, rates[1], 1e-6);
  }

  @Test
  void clientsHaveHalfOfItAtMost() {
    assertEquals(100, IoShareRules.forJobs(100, 0));
    assertEquals(70, IoShareRules.forJobs(100, 30));
    assertEquals(50, IoShareRules.forJobs(100, 1_000));
  }

  @Test
  void aClockMayBeginBelowZero() {
    long begin = -10 * SECOND;
    SharedIo.Share share = new SharedIo(100 * MB).join(() -> 0, () -> 0);
    share.charge(Priority.FLUSH, 100 * MB, begin);
    assertTrue(share.waitNanos(Priority.FLUSH, begin) > 0);
    assertEquals(0, share.waitNanos(Priority.FLUSH, begin + 2 * SECOND), "paid by then");
  }

  @Test
  void aStoreThatLeavesGivesItsShareBack() {
    SharedIo budget = new SharedIo(100 * MB);
    SharedIo.Share first = budget.join(() -> 0, () -> 0);
    SharedIo.Share second = budget.join(() -> 0, () -> 0);
    assertEquals(2, budget.stores());
    long now = SECOND;
    second.charge(Priority.MERGE_DEEP, 5 * MB, now);
    first.charge(Priority.MERGE_DEEP, 5 * MB, now);
    assertEquals(100_000_000, first.waitNanos(Priority.MERGE_DEEP, now));
    assertEquals(0, first.waitNanos(Priority.MERGE_L0, now));
    second.close();
    second.close();
    assertEquals(1, budget.stores());
    assertEquals(50_000_000, first.waitNanos(Priority.MERGE_DEEP, now));
    assertEquals(0, first.waitNanos(Priority.MERGE_DEEP, now + 50_000_001));
  }

  @Test
  void aBudgetHasALeastSize() {
    assertThrows(IllegalArgumentException.class, () -> IoBudget.of(1000));
    assertEquals(MB, IoBudget.of(MB).bytesPerSecond());
  }

  // Whole stores.

  private static StoreOptions options(@Nullable IoBudget budget) {
    StoreOptions.Builder builder =
        StoreOptions.builder()
            .pageSize(4096)
            .memoryBudget(8 << 20)
            .writeMemory(512 << 10)
            .memoryTuner(false)
            .backgroundThreads(2);
    return (budget == null ? builder : builder.ioBudget(budget)).build();
  }

  private static long jobBytes(StoreStats stats) {
    return jobBytes(stats.ioBytesRead()) + jobBytes(stats.ioBytesWritten());
  }

  private static long jobBytes(Map<IoPurpose, Long> bytes) {
    return bytes.get(IoPurpose.FLUSH)
        + bytes.get(IoPurpose.MERGE_L0)
        + bytes.get(IoPurpose.MERGE_DEEP);
  }

  private static void write(Tree tree, int from, int count) {
    SplittableRandom random = new SplittableRandom(from);
    for (int i = 0; i < count; i++) {
      tree.put(key(random.nextInt(8_000)), new byte[1000]);
    }
  }

  @Test
  void twoStoresKeepTheSumAndAStoreAloneTakesAll() {
    SharedIo budget = new SharedIo(4 * MB);
    SimulatedClock clock = new SimulatedClock();
    VirtualDevice.Limits device =
        new VirtualDevice.Limits(200 * MB, 200 * MB, 200 * MB, 10_000, 100_000);
    VirtualScheduler scheduler =
        new VirtualScheduler(clock, new Machine(2, 4, 100_000, 64 << 10, device));
    VirtualScheduler other = scheduler.forAnotherStore();
    Store first = open(clock, scheduler, options(budget));
    Store second = open(clock, other, options(budget));
    assertEquals(2, budget.stores());
    List<Client> clients = new ArrayList<>();
    int count = 6_000;
    long begun = clock.nanos();
    long[] ends = new long[2];
    for (Store store : List.of(first, second)) {
      Tree tree = store.openTree("t");
      int place = clients.size();
      clients.add(
          scheduler.client(
              "client-" + place,
              () -> {
                write(tree, place, count);
                ends[place] = clock.nanos();
              }));
    }
    clients.forEach(Client::join);
    double seconds = (clock.nanos() - begun) / 1e9;
    long sum = jobBytes(first.stats()) + jobBytes(second.stats());
    assertTrue(sum <= 4 * MB * seconds + STEPS, sum + " bytes in " + seconds + " s");
    assertTrue(sum >= 2 * MB * seconds, "hardly used: " + sum + " bytes in " + seconds + " s");
    assertTrue(Math.abs(ends[0] - ends[1]) < (ends[0] - begun) / 5, Arrays.toString(ends));
    second.close();
    assertEquals(1, budget.stores());
    long before = jobBytes(first.stats());
    begun = clock.nanos();
    write(first.tree("t"), 7, count);
    seconds = (clock.nanos() - begun) / 1e9;
    long alone = jobBytes(first.stats()) - before;
    assertTrue(alone <= 4 * MB * seconds + STEPS, alone + " bytes in " + seconds + " s");
    // Clients have up to half of it.
    assertTrue(alone >= 2 * MB * seconds, "hardly used: " + alone + " bytes in " + seconds);
    first.close();
    assertEquals(0, budget.stores());
  }

  private static Store open(SimulatedClock clock, VirtualScheduler scheduler, StoreOptions with) {
    return Inside.open(
        new Environment(
            new VirtualStorage(new SimulatedStorage(clock), scheduler),
            clock,
            scheduler,
            new SplittableRandom(1)),
        with);
  }

  /** What one of several stores sees of a device tells little of what the device does. */
  @Test
  void aBudgetTakesThePlaceOfWhatIsLearnt() {
    SimulatedClock clock = new SimulatedClock();
    VirtualDevice.Limits device =
        new VirtualDevice.Limits(20 * MB, 20 * MB, 20 * MB, 100_000, 100_000);
    VirtualScheduler scheduler =
        new VirtualScheduler(clock, new Machine(2, 2, 100_000, 64 << 10, device));
    List<Store> stores =
        List.of(
            open(clock, scheduler, options(null)),
            open(clock, scheduler.forAnotherStore(), options(IoBudget.of(20 * MB))));
    for (Store store : stores) {
      write(store.openTree("t"), 1, 3_000);
      scheduler.settle();
    }
    long learnt = stores.get(0).stats().ioLimits().deviceBytesPerSecond();
    assertTrue(learnt > 18 * MB && learnt < 22 * MB, learnt + " bytes a second learnt");
    StoreStats.IoLimitStats limits = stores.get(1).stats().ioLimits();
    assertEquals(0, limits.deviceBytesPerSecond());
    assertEquals(Long.MAX_VALUE, limits.deepBytesPerSecond());
    stores.forEach(Store::close);
  }

  @Test
  void silkNeedsASizeBesideABudget() {
    StoreOptions.Builder builder =
        StoreOptions.builder().mergeSchedule(MergeSchedule.SILK).ioBudget(IoBudget.of(20 * MB));
    assertThrows(IllegalArgumentException.class, builder::build);
    StoreOptions built = builder.ioBandwidth(IoBandwidth.of(200 * MB)).build();
    assertEquals(MergeSchedule.SILK, built.mergeSchedule());
  }

  @Test
  void storesOfAProcessKeepTheSum(@TempDir Path dir) {
    IoBudget budget = IoBudget.of(16 * MB);
    long begun = System.nanoTime();
    try (Store first = Store.open(dir.resolve("1"), options(budget));
        Store second = Store.open(dir.resolve("2"), options(budget))) {
      write(first.openTree("t"), 1, 1_500);
      write(second.openTree("t"), 2, 1_500);
      long sum = jobBytes(first.stats()) + jobBytes(second.stats());
      double seconds = (System.nanoTime() - begun) / 1e9;
      // Steps are of a megabyte here, and four may be under way.
      assertTrue(sum <= 16 * MB * seconds + 8 * MB, sum + " bytes in " + seconds + " s");
      assertEquals(2, budget.stores());
    }
    assertEquals(0, budget.stores());
    try (Store reader = Store.openReadOnly(dir.resolve("1"), options(budget))) {
      assertEquals(1, budget.stores());
      reader.tree("t").get(key(1));
    }
    assertEquals(0, budget.stores());
  }
}
