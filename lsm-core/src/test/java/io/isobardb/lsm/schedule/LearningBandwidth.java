package io.isobardb.lsm.schedule;

import io.isobardb.lsm.schedule.BandwidthRules.Pressure;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedScheduler;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** A {@link Bandwidth} that finds out what a device does. */
final class LearningBandwidth {
  private static final long MB = 1 << 20;

  private LearningBandwidth() {}

  /**
   * One with a reserve of 10 MB/s and a minimum of 50. If it fails, so does the test.
   *
   * @param log what clients have written to the log
   * @param pressure of writers
   * @param onChange is told of new limits
   */
  static Bandwidth of(
      MeteredStorage storage,
      SimulatedClock clock,
      LongSupplier log,
      Supplier<Pressure> pressure,
      Consumer<IoLimits> onChange) {
    return new Bandwidth(
        new Environment(storage, clock, new SimulatedScheduler(clock, 1), new SplittableRandom(1)),
        storage,
        new Bandwidth.Rules(
            new BandwidthRules(BandwidthRules.AUTO, 10 * MB, 50 * MB),
            new ProcessorRules(1_000_000_000)),
        new Bandwidth.Seams(
            log,
            pressure,
            onChange,
            cause -> {
              throw new AssertionError(cause);
            }));
  }
}
