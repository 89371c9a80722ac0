package io.isobardb.bench.analytic;

import io.isobardb.tuner.model.Popularity;
import io.isobardb.tuner.model.WriteCost;
import io.isobardb.tuner.model.WriteModel;

/**
 * LevelDB's design under the usual worst-case analysis: no key is ever written twice, so that
 * tables of u and v entries merge into one of u + v. It has no false overlaps, and does not know
 * that tables are merged where they are dense.
 */
public final class WorstCaseModel implements WriteModel {
  private final LevelDbModel design;

  /** The worst case of a design. */
  public WorstCaseModel(LevelDbModel design) {
    this.design = design;
  }

  @Override
  public WriteCost cost(Popularity popularity) {
    double[] sizes = design.levelEntries();
    LevelSizes.checkLast(sizes, popularity.keys());
    double[] levels = new double[sizes.length];
    double moved = design.bufferEntries() * design.level0Tables();
    for (int l = 0; l < sizes.length; l++) {
      levels[l] = (moved + sizes[l]) / moved;
      moved = sizes[l];
    }
    return new WriteCost(1, 1, levels);
  }
}
