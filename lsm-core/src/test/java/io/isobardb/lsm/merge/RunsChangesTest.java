package io.isobardb.lsm.merge;

import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.merge.VirtualWorld.MILLI;
import static io.isobardb.lsm.merge.VirtualWorld.SECOND;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.observe.StallReason;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.option.Runs;
import io.isobardb.lsm.simulation.VirtualScheduler.Client;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A tree whose runs change while clients write and read, in virtual time. */
@Tag("any-jdk")
class RunsChangesTest {
  private static final List<Runs> POLICIES =
      List.of(Runs.leveled(), Runs.lazy(2), Runs.lazy(4), Runs.tiered(3), Runs.of(4, 1, 1));

  /** Each policy becomes each other one, once. */
  private static final int[] TOUR = {0, 1, 0, 2, 0, 3, 0, 4, 1, 2, 1, 3, 1, 4, 2, 3, 2, 4, 3, 4, 0};

  private static final int KEYS = 8_000;
  private static final int VALUE_BYTES = 1000;
  private static final int CLIENTS = 2;

  /** Operations of a client between two changes. */
  private static final int OPERATIONS = 300;

  private static final int WRITES_OF_16 = 12;
  private static final long OPERATION_NANOS = 3_000;

  /** What the device takes for a sync. */
  private static final long SYNC_NANOS = 2 * MILLI;

  /** Versions, and what was last written. */
  private final int[] written = new int[KEYS];

  private VirtualWorld world = new VirtualWorld(1, 40 << 20, 2);

  private Store open() {
    return world.open(VirtualWorld.options(8 << 20, 1 << 20).build());
  }

  private Tree openTree(Store store) {
    return store.openTree(
        "t", TreeOptions.builder().runs(POLICIES.get(TOUR[0])).maxSpace(2.5).build());
  }

  private void put(Tree tree, int number) {
    tree.put(key(number), ByteBuffer.allocate(VALUE_BYTES).putInt(++written[number]).array());
  }

  /** What the slowest operation took, and what writers waited for. */
  private record Waits(long mostNanos, long stops) {}

  /**
   * Clients go on while the policy changes.
   *
   * @param tour numbers of policies, one after the other
   */
  private Waits run(int[] tour) {
    world = new VirtualWorld(1, 40 << 20, 2);
    try (Store store = open()) {
      Tree tree = openTree(store);
      for (int number = 0; number < KEYS; number++) {
        put(tree, number);
        world.scheduler.settle();
      }
      store.awaitQuiet();
      List<Long> latencies = new ArrayList<>();
      List<Client> clients = new ArrayList<>();
      for (int c = 0; c < CLIENTS; c++) {
        SplittableRandom random = new SplittableRandom(c);
        int own = c;
        clients.add(
            world.scheduler.client(
                "client-" + c,
                () -> {
                  long begin = world.clock.nanos();
                  for (int i = 0; i < TOUR.length * OPERATIONS; i++) {
                    long intended = begin + i * MILLI;
                    world.scheduler.sleepUntil(intended);
                    world.scheduler.compute(OPERATION_NANOS);
                    int number = own + CLIENTS * random.nextInt(KEYS / CLIENTS);
                    if (random.nextInt(16) < WRITES_OF_16) {
                      put(tree, number);
                    } else {
                      check(tree, number);
                    }
                    world.scheduler.settle();
                    latencies.add(world.clock.nanos() - intended);
                  }
                }));
      }
      clients.add(
          world.scheduler.client(
              "changer",
              () -> {
                long begin = world.clock.nanos();
                for (int i = 0; i < TOUR.length; i++) {
                  world.scheduler.sleepUntil(begin + (long) i * OPERATIONS * MILLI);
                  tree.setRuns(POLICIES.get(tour[i]));
                }
              }));
      clients.forEach(Client::join);
      store.awaitQuiet();
      for (int number = 0; number < KEYS; number++) {
        check(tree, number);
      }
      StoreStats stats = store.stats();
      long stops =
          stats.stalls().get(StallReason.L0_FULL).count()
              + stats.stalls().get(StallReason.MEMORY_FULL).count();
      return new Waits(latencies.stream().mapToLong(it -> it).max().orElseThrow(), stops);
    }
  }

  private void check(Tree tree, int number) {
    assertEquals(written[number], ByteBuffer.wrap(tree.get(key(number))).getInt());
  }

  @Test
  void whileAnyPolicyBecomesAnyOtherNoClientWaitsLongerThanWithOneOfThem() {
    long longest = 0;
    long stops = 0;
    for (int policy = 0; policy < POLICIES.size(); policy++) {
      int[] same = new int[TOUR.length];
      Arrays.fill(same, policy);
      Waits waits = run(same);
      longest = Math.max(longest, waits.mostNanos());
      stops = Math.max(stops, waits.stops());
    }
    Waits changing = run(TOUR);
    // A change syncs the manifest, which a flush may have to wait for.
    assertTrue(
        changing.mostNanos() <= longest + SYNC_NANOS,
        changing + ", and " + longest + " ns with one");
    assertTrue(changing.stops() <= stops, changing + ", and " + stops + " stops with one");
  }

  /** How many jobs there were until none came for a while, merges for idle times included. */
  private int jobsAtRest() {
    int before;
    do {
      before = world.scheduler.history().size();
      world.scheduler.sleepUntil(world.clock.nanos() + SECOND);
    } while (before != world.scheduler.history().size());
    return before;
  }

  @Test
  void aChangeAloneRewritesNothing() {
    SplittableRandom random = new SplittableRandom(3);
    try (Store store = open()) {
      Tree tree = openTree(store);
      int tiered = 0;
      for (int policy : TOUR) {
        int before = jobsAtRest();
        tree.setRuns(POLICIES.get(policy));
        assertEquals(before, jobsAtRest(), POLICIES.get(policy)::toString);
        for (int i = 0; i < KEYS / 4; i++) {
          put(tree, random.nextInt(KEYS));
          world.scheduler.settle();
        }
        store.awaitQuiet();
        tiered += store.stats().trees().get(0).tierBytes().isEmpty() ? 0 : 1;
      }
      assertTrue(tiered > 10, tiered + " times there were tiers");
    }
  }
}
