package io.isobardb.lsm.component;

import io.isobardb.lsm.entry.Stretch;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.PagePool;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/** The cursor of a {@link MergedIndex}: shows entries where they lie. */
final class MergedIndexCursor extends LeafEntryCursor {
  private final MergedIndex index;
  private int at = -1;

  /** The entry at which the next ones are to be fetched. */
  private int aheadTo;

  /** Keeps the compiler from leaving the fetches out. */
  private int fetched;

  private @Nullable Memory memory;

  /** For {@link #valueView}. */
  private ByteBuffer copy = ByteBuffer.allocate(0);

  private ByteBuffer copyView = copy.asReadOnlyBuffer();

  MergedIndexCursor(PagePool pool, MergedIndex index) {
    super(pool);
    this.index = index;
  }

  /** Has entries fetched together, which would else be waited for one after another. */
  private void fetchAhead(int from) {
    int end = (int) Math.min(from + toFetch(), index.entries());
    int sum = 0;
    for (int i = from; i < end; i++) {
      int leaf = index.leaf(i);
      sum += fetch(pool.memory(leaf), pool.base(leaf) + index.offset(i));
    }
    fetched = sum;
    aheadTo = end;
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
    aheadTo = 0;
    beginFetching();
    return settle(index.lowerBound(key, offset, length, Math.min(lsn, ActiveNodes.NEWEST)));
  }

  @Override
  public boolean seekBefore(byte[] key, int offset, int length) {
    return settle(index.lowerBound(key, offset, length, ActiveNodes.NEWEST) - 1);
  }

  @Override
  public boolean next() {
    if (at + 1 >= aheadTo) {
      fetchAhead(at + 1);
    }
    return valid() && settle(at + 1);
  }

  /** A copy: each entry may lie in another region, and a view of each would be made anew. */
  @Override
  public ByteBuffer valueView() {
    int length = valueLength();
    if (copy.capacity() < length) {
      copy = ByteBuffer.allocate(2 * length);
      copyView = copy.asReadOnlyBuffer();
    }
    memory().get(valueOffset(), copy, 0, length);
    return copyView.limit(length).position(0).order(ByteOrder.BIG_ENDIAN);
  }

  @Override
  public void endViews() {
    super.endViews();
    copyView.limit(0);
  }

  @Override
  public boolean nextWithin(Stretch stretch) {
    long count = index.entries();
    for (int to = at + 1; to < count; to++) {
      if (to >= aheadTo) {
        fetchAhead(to);
      }
      int leaf = index.leaf(to);
      Memory leafMemory = pool.memory(leaf);
      int taken = take(leafMemory, pool.base(leaf) + index.offset(to), stretch);
      if (taken == TAKEN) {
        memory = leafMemory;
        at = to;
        return true;
      }
      if (taken == BEYOND) {
        return false;
      }
    }
    return false;
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
