package io.isobardb.lsm.component;

import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.PagePool;
import org.jspecify.annotations.Nullable;

/** The cursor of a {@link MergedIndex}: shows entries where they lie. */
final class MergedIndexCursor extends LeafEntryCursor {
  private final MergedIndex index;
  private int at = -1;
  private @Nullable Memory memory;

  MergedIndexCursor(PagePool pool, MergedIndex index) {
    super(pool);
    this.index = index;
  }

  private boolean settle(int to) {
    if (to < 0 || to >= index.entries()) {
      at = -1;
      return false;
    }
    at = to;
    int leaf = index.leaf(to);
    memory = pool.memory(leaf);
    entry = pool.base(leaf) + index.offset(to);
    load();
    return true;
  }

  @Override
  Memory memory() {
    Memory current = memory;
    if (current == null) {
      throw new IllegalStateException("the cursor stands nowhere");
    }
    return current;
  }

  @Override
  int page() {
    return index.leaf(at);
  }

  @Override
  int offset() {
    return index.offset(at);
  }

  @Override
  public boolean valid() {
    return at >= 0;
  }

  @Override
  public boolean first() {
    return settle(0);
  }

  @Override
  public boolean last() {
    return settle((int) index.entries() - 1);
  }

  @Override
  public boolean seek(byte[] key, int offset, int length, long lsn) {
    return settle(index.lowerBound(key, offset, length, Math.min(lsn, ActiveNodes.NEWEST)));
  }

  @Override
  public boolean seekBefore(byte[] key, int offset, int length) {
    return settle(index.lowerBound(key, offset, length, ActiveNodes.NEWEST) - 1);
  }

  @Override
  public boolean next() {
    return valid() && settle(at + 1);
  }

  @Override
  public boolean previous() {
    return valid() && settle(at - 1);
  }

  @Override
  public void close() {
    at = -1;
  }
}
