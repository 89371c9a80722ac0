package io.isobardb.bench.simulate;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.isobardb.bench.simulate.StoreShape.Room;
import io.isobardb.lsm.option.Runs;
import io.isobardb.lsm.policy.TreeShape;
import io.isobardb.popularity.KeyGroups;
import io.isobardb.tuner.model.Popularity;
import io.isobardb.tuner.model.RunPolicy;
import io.isobardb.tuner.model.RunsModel;
import io.isobardb.tuner.model.WriteCost;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What {@link RunsModel} says of trees with tiers, and what the engine's policies do to them. */
@Tag("any-jdk")
class RunsModelErrorsTest {
  private static final int KEYS = 15_000;
  private static final double ROUNDS = 8;

  /** A small store: its write memory is the least, and an entry is large so that it has few. */
  private static final Room ROOM = new Room(8000, 10_500, 1_342_177, 10_737_418);

  private static Popularity popularity(double skew) {
    return skew == 0 ? KeyGroups.uniform(KEYS) : KeyGroups.zipf(KEYS, skew);
  }

  /** The model's entries written by flushes and merges, divided by the simulated ones. */
  private static double ratio(String runs, double maxSpace, double skew) {
    StoreShape shape = StoreShape.of(ROOM).with(new TreeShape(Runs.parse(runs), maxSpace));
    WriteCost seen = new StoreSimulator(shape, 1, KEYS, skew, 1).run(ROUNDS).cost();
    RunsModel model =
        new RunsModel(
            shape.modelled(1, KEYS),
            RunPolicy.parse(runs),
            new RunsModel.Reads(8, 10, true),
            maxSpace);
    return model.costs(popularity(skew)).written() / (seen.total() - seen.log());
  }

  /** The mean over both kinds of keys; single stores differ by more. */
  @ParameterizedTest
  @CsvSource({"LAZY(4), 1.25", "LAZY(8), 1.25"})
  void bytesAreNearWhatThePoliciesWrite(String runs, double maxSpace) {
    assertNear(runs, maxSpace);
  }

  @Tag("deep")
  @Test
  void theyAreWhereTheLastLevelHasRunsToo() {
    assertNear("TIERED(8)", 2);
  }

  private static void assertNear(String runs, double maxSpace) {
    assertEquals(1, (ratio(runs, maxSpace, 0) + ratio(runs, maxSpace, 0.99)) / 2, 0.1);
  }

  @Test
  void tiersThatHoldTooLittleAreNone() {
    RunsModel model =
        new RunsModel(
            StoreShape.of(ROOM).modelled(1, KEYS),
            RunPolicy.lazy(8),
            new RunsModel.Reads(8, 10, true),
            1.02);
    assertEquals(0, model.costs(popularity(0)).tiers());
  }
}
