package io.isobardb.bench.model;

import io.isobardb.bench.simulate.StoreShape;
import io.isobardb.bench.simulate.StoreShape.Room;
import io.isobardb.bench.simulate.StoreSimulator;
import io.isobardb.cli.console.ByteSize;
import io.isobardb.cli.console.Numbers;
import io.isobardb.cli.console.UsageException;
import io.isobardb.lsm.flush.FlushStrategy;
import io.isobardb.tuner.model.EngineModel;
import io.isobardb.tuner.model.KeyGroups;
import io.isobardb.tuner.model.TabulatedPopularity;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** What {@code model --design isobar} is told, and what it makes of it. */
final class EngineEstimate {
  private static final long LEAST_LOG = 16 << 20;

  @Option(
      names = "--trees",
      paramLabel = "N",
      description = {
        "isobar: trees that have equal parts of the keys and of the writes.",
        "Default: ${DEFAULT-VALUE}."
      })
  private int trees = 1;

  @Option(
      names = "--log-limit",
      paramLabel = "SIZE",
      description = "isobar: how long the log may be. Default: as a store has it.")
  private @Nullable ByteSize logLimit;

  @Option(
      names = "--memory-weight",
      paramLabel = "X",
      description = {
        "isobar: bytes that an entry takes in memory per byte of it on disk, with half-full pages",
        "and old versions. Default: ${DEFAULT-VALUE}."
      })
  private double memoryWeight = 1.6;

  @Option(names = "--flush-whole", description = "isobar: flush trees whole, not in slices.")
  private boolean flushWhole;

  /** A workload: keys of all trees, and the size of an entry. */
  record Load(double keys, double skew, long itemBytes, long seed) {}

  /**
   * Adds the model's estimate, and what a simulation gives.
   *
   * @param rounds that are simulated after the load; 0 for no simulation
   */
  void addTo(ModelReport report, Load load, long writeBytes, double rounds) {
    Numbers.checkAtLeast("--trees", trees, 1);
    if (!(memoryWeight >= 1 && memoryWeight <= 100)) {
      throw new UsageException("--memory-weight must be from 1 to 100, not " + memoryWeight);
    }
    double keys = Math.floor(load.keys / trees);
    StoreShape shape = shape(load.itemBytes, writeBytes);
    EngineModel model = new EngineModel(shape.modelled(trees, keys));
    TabulatedPopularity popularity = TabulatedPopularity.of(KeyGroups.zipf(keys, load.skew));
    report.addWithReads(
        "Isobar",
        model.cost(popularity),
        model.pagesPerRead(popularity),
        model.levelEntries(popularity));
    if (rounds > 0) {
      StoreSimulator.Result result =
          new StoreSimulator(shape, trees, (int) keys, load.skew, load.seed).run(rounds);
      report.addWithReads("simulated", result.cost(), result.pagesPerRead());
    }
  }

  private StoreShape shape(long itemBytes, long writeBytes) {
    ByteSize given = logLimit;
    long log = given == null ? Math.max(writeBytes * 5 / 2, LEAST_LOG) : given.bytes();
    Room room = new Room(itemBytes, (long) (itemBytes * memoryWeight), writeBytes, log);
    StoreShape shape = StoreShape.of(room);
    return flushWhole ? shape.with(FlushStrategy.FULL) : shape;
  }
}
