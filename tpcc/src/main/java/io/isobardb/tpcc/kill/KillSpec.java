package io.isobardb.tpcc.kill;

import io.isobardb.tpcc.store.EngineKind;
import io.isobardb.tpcc.store.Isolation;
import io.isobardb.tpcc.store.Locking;
import io.isobardb.tpcc.store.Loss;
import io.isobardb.tpcc.store.StoreSpec;
import java.nio.file.Path;
import java.util.List;

/**
 * What is run and killed.
 *
 * @param store which engine, where; its commits survive the end of the process
 * @param isolation of its transactions
 * @param threads that work for terminals
 * @param cycles how often it is killed
 * @param longestMillis between the first order of a process and its end
 * @param seed of all choices
 */
public record KillSpec(
    StoreSpec store, Isolation isolation, int threads, int cycles, int longestMillis, long seed) {

  /** Checks the limits. */
  public KillSpec {
    if (store.survival().processEnd() != Loss.NOTHING) {
      throw new IllegalArgumentException(
          "a kill test needs commits that survive the process, and "
              + store.engine().label()
              + " "
              + store.survival().processEnd().words()
              + ": use synced commits");
    }
    if (cycles < 1 || longestMillis < 1) {
      throw new IllegalArgumentException(
          "cycles and the longest time are to be positive: " + cycles + ", " + longestMillis);
    }
  }

  /** The arguments of the process of a cycle. */
  List<String> arguments(int cycle) {
    return List.of(
        store.engine().name(),
        store.dir().toAbsolutePath().toString(),
        String.valueOf(store.memoryBytes()),
        String.valueOf(store.syncCommits()),
        store.locking().name(),
        String.valueOf(store.directIo()),
        isolation.name(),
        String.valueOf(threads),
        String.valueOf(seed + cycle));
  }

  /** Reads {@link #arguments}. */
  static KillSpec parse(String[] arguments) {
    StoreSpec store =
        new StoreSpec(
            EngineKind.valueOf(arguments[0]),
            Path.of(arguments[1]),
            Long.parseLong(arguments[2]),
            Boolean.parseBoolean(arguments[3]),
            Locking.valueOf(arguments[4]),
            Boolean.parseBoolean(arguments[5]));
    return new KillSpec(
        store,
        Isolation.valueOf(arguments[6]),
        Integer.parseInt(arguments[7]),
        1,
        1,
        Long.parseLong(arguments[8]));
  }
}
