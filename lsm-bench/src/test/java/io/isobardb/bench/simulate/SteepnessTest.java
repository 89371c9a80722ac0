package io.isobardb.bench.simulate;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.bench.simulate.StoreShape.Room;
import io.isobardb.popularity.KeyGroups;
import io.isobardb.tuner.model.EngineModel;
import io.isobardb.tuner.model.EngineShape;
import io.isobardb.tuner.model.Popularity;
import io.isobardb.tuner.model.WriteCost;
import io.isobardb.tuner.workload.LevelShares;
import io.isobardb.tuner.workload.LevelTuner;
import io.isobardb.tuner.workload.LevelView;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * How steeply merges fall with write memory: by equation 5 of the memory tuner, by the engine's
 * model, and in the simulator. Each is a percentage of merges per percent of memory, between two
 * sizes of which one is twice the other. {@code -Disobar.model.grid=full} has more stores.
 */
@Tag("any-jdk")
class SteepnessTest {
  private static final boolean FULL = "full".equals(System.getProperty("isobar.model.grid"));
  private static final long SEED = Long.getLong("isobar.model.seed", 1);
  private static final long ENTRY = 1000;
  private static final int KEYS = FULL ? 250_000 : 100_000;
  private static final double LOG = 20;
  private static final double ROUNDS = 15;

  private record Found(
      double share, double simulated, double model, double tuned, double equation) {}

  private static StoreShape shape(double writeBytes) {
    return StoreShape.of(
        new Room(ENTRY, ENTRY, (long) writeBytes, (long) (LOG * (long) writeBytes)));
  }

  private static double merges(WriteCost cost) {
    return cost.total() - cost.log() - cost.flush();
  }

  private static double steepness(double atLess, double atMore) {
    return Math.log(atLess / atMore) / Math.log(2);
  }

  private static Found found(double skew, double share) {
    double middle = share * KEYS * ENTRY;
    double[] simulated = new double[2];
    double[] modelled = new double[2];
    for (int i = 0; i < 2; i++) {
      StoreShape shape = shape(middle * Math.sqrt(i == 0 ? 0.5 : 2));
      simulated[i] = merges(new StoreSimulator(shape, 1, KEYS, skew, SEED).run(ROUNDS).cost());
      EngineModel model = new EngineModel(shape.modelled(1, KEYS));
      modelled[i] = merges(model.cost(KeyGroups.zipf(KEYS, skew)));
    }
    // As Pressure.elasticity: the last level holds all keys, the tree has all of the memory.
    double equation = 1 / Math.max(1, Math.log(1 / share));
    return new Found(
        share,
        steepness(simulated[0], simulated[1]),
        steepness(modelled[0], modelled[1]),
        tuned(shape(middle), KeyGroups.zipf(KEYS, skew)),
        equation);
  }

  /** What the tuner is told where the popularity is known: levels stay as they are. */
  private static double tuned(StoreShape shape, Popularity popularity) {
    EngineShape engine = shape.modelled(1, KEYS);
    EngineModel model = new EngineModel(engine);
    double[] entries = model.levelEntries(popularity);
    List<Double> shares = new ArrayList<>();
    for (int i = entries.length - 1; i >= 0; i--) {
      shares.add(entries[i] / KEYS);
    }
    LevelShares levels = new LevelShares(shares);
    EngineShape.Disk disk = engine.disk();
    LevelView.Sizes sizes =
        new LevelView.Sizes(
            KEYS,
            disk.tableEntries(),
            disk.sliceEntries(),
            model.roundRequests(popularity),
            disk.l0Groups());
    LevelView.Work none = new LevelView.Work(0, List.of(), 0);
    return LevelTuner.steepness(new LevelView(1, 1, sizes, levels, levels, popularity, 1.25, none));
  }

  @Test
  void theModelTellsTheSteepnessBetterThanEquation5() {
    System.out.println("isobar.model.seed=" + SEED);
    double model = 0;
    double tuned = 0;
    double equation = 0;
    double learnt = 0;
    int count = 0;
    for (double skew : FULL ? new double[] {0, 0.5, 0.99} : new double[] {0, 0.99}) {
      List<Found> all = new ArrayList<>();
      for (double share :
          FULL ? new double[] {0.01, 0.02, 0.04, 0.08, 0.16} : new double[] {0.04, 0.1}) {
        all.add(found(skew, share));
      }
      // What the tuner learns by and by: one factor for a workload.
      double factor =
          all.stream().mapToDouble(Found::simulated).sum()
              / all.stream().mapToDouble(Found::equation).sum();
      for (Found each : all) {
        System.out.printf(
            Locale.ROOT,
            "skew %.2f, memory %.3f: simulated %.2f, model %.2f, with levels as they are %.2f, equation 5 %.2f, times %.2f %.2f%n",
            skew,
            each.share,
            each.simulated,
            each.model,
            each.tuned,
            each.equation,
            factor,
            factor * each.equation);
        model += Math.abs(each.model - each.simulated);
        tuned += Math.abs(each.tuned - each.simulated);
        equation += Math.abs(each.equation - each.simulated);
        learnt += Math.abs(factor * each.equation - each.simulated);
        count++;
      }
    }
    System.out.printf(
        Locale.ROOT,
        "%d stores, off in the mean: model %.3f, with levels as they are %.3f, equation 5 %.3f, with a learnt factor %.3f%n",
        count,
        model / count,
        tuned / count,
        equation / count,
        learnt / count);
    assertTrue(tuned < equation, tuned / count + " and " + equation / count);
    assertTrue(model < equation, model / count + " and " + equation / count);
  }
}
