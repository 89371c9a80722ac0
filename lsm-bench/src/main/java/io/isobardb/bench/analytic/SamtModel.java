package io.isobardb.bench.analytic;

import io.isobardb.tuner.model.Popularity;
import io.isobardb.tuner.model.WriteCost;
import io.isobardb.tuner.model.WriteModel;

/**
 * SAMT: each stage keeps up to r tables, which are merged into one table of the next stage
 * (appendix B of the paper, from its description). The last stage holds all keys in its oldest
 * table; when it has r tables, they are merged there.
 */
public final class SamtModel implements WriteModel {
  private final StagedShape shape;

  /**
   * @param bufferEntries requests that a log file holds; more than 0
   * @param growth r of the paper, 2 or more
   */
  public SamtModel(double bufferEntries, int growth) {
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
    for (int s = 0; s < stages.length; s++) {
      stages[s] = popularity.unique(interval) / interval;
      interval *= growth;
    }
    // Besides the table of all keys, growth - 1 others come together in the last stage.
    double arrived = interval / growth * (growth - 1);
    double last = popularity.keys();
    double merge = popularity.merge(popularity.unique(arrived), last) / arrived;
    double flush = stages[0];
    System.arraycopy(stages, 1, stages, 0, stages.length - 1);
    stages[stages.length - 1] = merge;
    return new WriteCost(1, flush, stages);
  }
}
