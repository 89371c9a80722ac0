package io.isobardb.lsm.flush;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.version.L0Structure;

/** What a flush that is under way asks. */
public final class FlusherAccess {
  private FlusherAccess() {}

  /** Whether a flush of the tree for memory's sake would go on, with slices of 64 KB. */
  public static boolean goesOn(Engine engine, TreeHandle tree, long logLimitBytes) {
    Flusher.Settings settings =
        new Flusher.Settings(
            FlushPolicy.OPTIMAL,
            FlushStrategy.ROUND_ROBIN,
            L0Structure.GREEDY_GROUPED,
            logLimitBytes,
            1);
    return new Flusher(engine, settings, () -> 64 << 10, flushed -> {}, null).goesOn(tree);
  }
}
