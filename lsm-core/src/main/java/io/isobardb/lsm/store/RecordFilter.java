package io.isobardb.lsm.store;

import io.isobardb.lsm.MergeFilter;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.error.UserCode;
import io.isobardb.lsm.event.SystemLog;
import io.isobardb.lsm.read.MemoryReader;
import io.isobardb.lsm.state.EntryFilter;
import io.isobardb.lsm.state.TreeHandle;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;

/**
 * What merges of a tree ask a user's {@link MergeFilter}: it looks at records of another tree, as
 * far as memory knows them.
 */
final class RecordFilter implements EntryFilter {
  private static final int SCRATCH_BYTES = 4096;

  private static final ThreadLocal<ByteBuffer> SCRATCH =
      ThreadLocal.withInitial(() -> ByteBuffer.allocate(SCRATCH_BYTES));

  private final TreeHandle entries;
  private final TreeHandle records;
  private final MergeFilter filter;
  private final MemoryReader memory;

  RecordFilter(TreeHandle entries, TreeHandle records, MergeFilter filter, MemoryReader memory) {
    this.entries = entries;
    this.records = records;
    this.filter = filter;
    this.memory = memory;
  }

  /** Whether a tree can have a filter, and be looked at by one. */
  static boolean fits(TreeHandle tree) {
    return tree.settings().logged() && tree.settings().operator() == null;
  }

  @Override
  public boolean drops(byte[] key, long lsn) {
    try {
      return tells(key, lsn);
    } catch (Throwable e) {
      // Entries that stay do no harm.
      entries.setFilter(null);
      log(UserCode.failure(e));
      return false;
    }
  }

  private void log(Throwable failure) {
    SystemLog.tell(
        Level.WARNING,
        Tree.class,
        () -> "merges of tree '" + entries.name() + "' don't ask its filter any more, which failed",
        failure);
  }

  private boolean tells(byte[] key, long lsn) {
    byte[] recordKey = filter.recordKey(key);
    ByteBuffer target = SCRATCH.get();
    target.clear();
    int length = memory.get(records, recordKey, lsn, target);
    if (length > target.remaining()) {
      target = ByteBuffer.allocate(length);
      length = memory.get(records, recordKey, lsn, target);
    }
    if (length == Tree.NOT_FOUND) {
      return !filter.counts(key, null);
    }
    if (length < 0 || length > target.remaining()) {
      return false;
    }
    byte[] record = new byte[length];
    target.get(0, record);
    return !filter.counts(key, record);
  }
}
