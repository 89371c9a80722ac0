package io.isobardb.bench.model;

import io.isobardb.bench.simulate.StoreShape;
import io.isobardb.bench.simulate.StoreShape.Room;
import io.isobardb.bench.simulate.StoreSimulator;
import io.isobardb.cli.console.ByteSize;
import io.isobardb.cli.console.Numbers;
import io.isobardb.cli.console.UsageException;
import io.isobardb.lsm.policy.FlushStrategy;
import io.isobardb.tuner.model.EngineModel;
import io.isobardb.tuner.model.EngineShape;
import io.isobardb.tuner.model.Popularity;
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

  @Option(
      names = "--memory-used",
      paramLabel = "PERCENT",
      description = {
        "isobar: how much of the write memory is in use on average, above 0 to 100.",
        "Default: it is as full as it gets."
      })
  private @Nullable Double memoryUsed;

  @Option(names = "--flush-whole", description = "isobar: flush trees whole, not in slices.")
  private boolean flushWhole;

  /** What is simulated: keys of each tree. */
  record Load(int keys, double skew, long seed) {}

  int trees() {
    Numbers.checkAtLeast("--trees", trees, 1);
    return trees;
  }

  /** Adds the model's estimate for trees of such keys each. */
  void addModel(ModelReport report, StoreShape shape, Popularity ofTree) {
    EngineModel model = model(shape, trees, ofTree.keys());
    report.addWithReads(
        "Isobar", model.cost(ofTree), model.pagesPerRead(ofTree), model.levelEntries(ofTree));
  }

  /** The model of so many trees with so many keys each, and with as much memory in use. */
  EngineModel model(StoreShape shape, int count, double keys) {
    return new EngineModel(modelled(shape, count, keys));
  }

  /** What the model of so many trees with so many keys each is to know. */
  EngineShape modelled(StoreShape shape, int count, double keys) {
    EngineShape full = shape.modelled(count, keys);
    Double used = memoryUsed;
    return used == null ? full : full.holding(shape.room().entries(used / 100));
  }

  /** Adds what a simulation gives of so many rounds after the load. */
  void addSimulation(ModelReport report, StoreShape shape, Load load, double rounds) {
    StoreSimulator.Result result =
        new StoreSimulator(shape, trees, load.keys, load.skew, load.seed).run(rounds);
    report.addWithReads("simulated", result.cost(), result.pagesPerRead());
  }

  /** The store that the options describe. */
  StoreShape shape(long itemBytes, long writeBytes) {
    if (!(memoryWeight >= 1 && memoryWeight <= 100)) {
      throw new UsageException("--memory-weight must be from 1 to 100, not " + memoryWeight);
    }
    Double used = memoryUsed;
    if (used != null && !(used > 0 && used <= 100)) {
      throw new UsageException("--memory-used must be above 0 and at most 100, not " + used);
    }
    ByteSize given = logLimit;
    long log = given == null ? Math.max(writeBytes * 5 / 2, LEAST_LOG) : given.bytes();
    Room room = new Room(itemBytes, (long) (itemBytes * memoryWeight), writeBytes, log);
    StoreShape shape = StoreShape.of(room);
    return flushWhole ? shape.with(FlushStrategy.FULL) : shape;
  }
}
