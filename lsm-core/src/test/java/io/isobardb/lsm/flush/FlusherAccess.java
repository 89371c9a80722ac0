package io.isobardb.lsm.flush;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.commit.Sealer;
import io.isobardb.lsm.commit.Sealing;
import io.isobardb.lsm.commit.WriteShares;
import io.isobardb.lsm.merge.TableSizes;
import io.isobardb.lsm.policy.FlushPolicy;
import io.isobardb.lsm.policy.FlushStrategy;
import io.isobardb.lsm.policy.L0Structure;
import io.isobardb.lsm.policy.MemoryComponent;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.version.L0Limits;
import io.isobardb.lsm.version.L0Rules;

/** What a flush that is under way asks. */
public final class FlusherAccess {
  private FlusherAccess() {}

  /** Is told what flushes do, and does nothing about it. */
  private static final class Deaf implements Flusher.Listener {
    @Override
    public void onFlushed(TreeHandle tree) {}

    @Override
    public void onLeft(TreeHandle tree) {}

    @Override
    public void memoryShort() {}
  }

  /** Whether a flush of the tree for memory's sake would go on. */
  public static boolean goesOn(Engine engine, TreeHandle tree, long logLimitBytes) {
    FlushRules rules =
        new FlushRules(FlushPolicy.OPTIMAL, FlushStrategy.ROUND_ROBIN, logLimitBytes);
    Flusher.Settings settings =
        new Flusher.Settings(
            rules,
            L0Structure.GREEDY_GROUPED,
            new TableSizes(4096, 0),
            1,
            L0Rules.fixed(L0Limits.DEFAULT));
    Sealing sealing = new Sealing(MemoryComponent.PARTITIONED, 0, 4096, 0);
    Sealer sealer = new Sealer(engine, sealing, full -> {});
    return new Flusher(engine, settings, sealer, new Deaf(), WriteShares.NONE).goesOn(tree);
  }
}
