package io.isobardb.lsm.merge;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.simulation.VirtualScheduler.Client;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * What became of clients that read and write beside flushes and merges, in virtual time.
 *
 * @param reads how long each took from when it was due, in nanoseconds
 * @param stats at the end
 */
record DeviceRun(List<Long> reads, StoreStats stats) {
  private static final long MICRO = 1_000;
  private static final int KEYS = 20_000;
  private static final int READERS = 4;

  /**
   * What a client does.
   *
   * @param operations how many
   * @param micros from one to the next
   */
  record Pace(int operations, long micros) {}

  long percentile(double part) {
    return reads.stream().sorted().toList().get((int) (part * (reads.size() - 1)));
  }

  /** One client writes records of 1,000 bytes, and four read, each at its pace. */
  static DeviceRun of(VirtualWorld world, StoreOptions options, Pace writing, Pace reading) {
    List<Long> reads = new ArrayList<>();
    try (Store store = world.open(options)) {
      Tree tree = world.filled(store, KEYS);
      List<Client> clients = new ArrayList<>();
      for (int c = 0; c <= READERS; c++) {
        boolean writes = c == READERS;
        Pace pace = writes ? writing : reading;
        SplittableRandom random = new SplittableRandom(c);
        clients.add(
            world.client(
                "client-" + c,
                pace.operations(),
                pace.micros() * MICRO,
                due -> {
                  world.use(tree, random, KEYS, writes);
                  if (!writes) {
                    reads.add(world.clock.nanos() - due);
                  }
                }));
      }
      clients.forEach(Client::join);
      return new DeviceRun(reads, store.stats());
    }
  }
}
