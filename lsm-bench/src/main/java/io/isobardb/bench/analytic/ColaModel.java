package io.isobardb.bench.analytic;

import io.isobardb.tuner.model.Popularity;
import io.isobardb.tuner.model.WriteCost;
import io.isobardb.tuner.model.WriteModel;

/**
 * COLA: each stage has at most one table, which takes r - 1 merges from the stage before; with the
 * next one it is merged into the next stage (appendix B of the paper, from its description). The
 * last stage holds all keys, and is merged with all that comes.
 */
public final class ColaModel implements WriteModel {
  private final StagedShape shape;

  /**
   * @param bufferEntries requests that a log file holds; more than 0
   * @param growth r of the paper, 2 or more
   */
  public ColaModel(double bufferEntries, int growth) {
    this.shape = new StagedShape(bufferEntries, growth);
  }

  /** Stages on disk for so many keys. */
  public int stages(double keys) {
    return shape.stages(keys);
  }

  @Override
  public WriteCost cost(Popularity popularity) {
    int growth = shape.growth();
    double[] stages = new double[stages(popularity.keys())];
    double interval = shape.bufferEntries();
    for (int s = 0; s < stages.length - 1; s++) {
      double written = 0;
      for (int merges = 1; merges < growth; merges++) {
        written += popularity.unique(merges * interval);
      }
      stages[s] = written / (growth * interval);
      interval *= growth;
    }
    double last = popularity.keys();
    stages[stages.length - 1] = popularity.merge(popularity.unique(interval), last) / interval;
    return new WriteCost(1, 0, stages);
  }
}
