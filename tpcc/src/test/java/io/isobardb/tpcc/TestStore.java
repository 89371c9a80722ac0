package io.isobardb.tpcc;

import io.isobardb.tpcc.load.Loader;
import io.isobardb.tpcc.schema.LoadMark;
import io.isobardb.tpcc.schema.Scale;
import io.isobardb.tpcc.store.EngineKind;
import io.isobardb.tpcc.store.Locking;
import io.isobardb.tpcc.store.StoreSpec;
import io.isobardb.tpcc.store.TpccStore;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.params.provider.Arguments;

/** Small stores for tests, and the seed of all of them. */
public final class TestStore {
  /** 30 customers per district, 400 items. */
  public static final Scale TINY = new Scale(2, 400, 30, 9);

  /** When everything happens. */
  public static final long NOW_MILLIS = 1_700_000_000_000L;

  private TestStore() {}

  /** The seed, settable by -Dtpcc.seed, printed. */
  public static long seed() {
    long seed = Long.getLong("tpcc.seed", 42);
    System.out.println("tpcc.seed=" + seed);
    return seed;
  }

  /** An engine each; their other settings make no difference to transactions. */
  public static final List<EngineKind> ENGINES = List.of(EngineKind.ISOBAR, EngineKind.ROCKSDB);

  /** What a test opens. */
  public static StoreSpec spec(EngineKind engine, Locking locking, Path dir) {
    return new StoreSpec(engine, dir, 16 << 20, false, locking, false);
  }

  /** Loads a {@link #TINY} population. */
  public static LoadMark load(TpccStore store) throws InterruptedException {
    return new Loader(store, TINY, seed(), NOW_MILLIS, rows -> {}).load(2);
  }

  /** Every engine with every way of locking. */
  public static java.util.stream.Stream<Arguments> enginesAndLocking() {
    return ENGINES.stream()
        .flatMap(
            engine ->
                java.util.Arrays.stream(Locking.values())
                    .map(locking -> Arguments.of(engine, locking)));
  }
}
