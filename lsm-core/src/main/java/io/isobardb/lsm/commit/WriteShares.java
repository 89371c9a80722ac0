package io.isobardb.lsm.commit;

import io.isobardb.lsm.schedule.WaitLimit;
import io.isobardb.lsm.state.TreeHandle;

/**
 * The shares of the write memory that trees have to themselves. There are {@link #NONE} unless
 * somebody wants to compare.
 *
 * <p>A class and no interface: while no other one is loaded, the compiler calls {@link #NONE}
 * directly, and nothing is left of it on the path of a write.
 *
 * <p>Thread rule: all methods may be called by any thread. {@code admit} may wait; the caller holds
 * nothing.
 */
public abstract class WriteShares {
  /** Each tree may hold all of the write memory. */
  public static final WriteShares NONE =
      new WriteShares() {
        @Override
        public void admit(TreeHandle tree, WaitLimit limit) {}

        @Override
        public void admit(BatchFormat.Builder batch, WaitLimit limit) {}

        @Override
        public boolean isDue(TreeHandle tree) {
          return false;
        }
      };

  /** Lets a write to a tree pass. */
  public abstract void admit(TreeHandle tree, WaitLimit limit);

  /** Lets a batch pass to all trees that it is for. */
  public abstract void admit(BatchFormat.Builder batch, WaitLimit limit);

  /** Whether so much of a tree's share is filled that it should be flushed. */
  public abstract boolean isDue(TreeHandle tree);
}
