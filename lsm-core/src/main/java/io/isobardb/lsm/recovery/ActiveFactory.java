package io.isobardb.lsm.recovery;

import io.isobardb.lsm.commit.StaticShares;
import io.isobardb.lsm.component.ActiveTree;
import io.isobardb.lsm.component.MemoryComponent;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.memory.pool.PagePool;
import java.util.function.LongSupplier;

/**
 * Makes active SSTables of the size that the memory component and the write memory ask for now.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
final class ActiveFactory {
  private final PagePool pool;
  private final OpenOptions options;
  private final MemoryComponent component;
  private final LongSupplier writeBytes;

  /**
   * @param writeBytes the write memory now
   */
  ActiveFactory(PagePool pool, OpenOptions options, LongSupplier writeBytes) {
    this.pool = pool;
    this.options = options;
    this.component = options.memoryComponent();
    this.writeBytes = writeBytes;
  }

  /** The size of an active SSTable that is sealed before it outgrows the processor's cache. */
  long smallBytes() {
    return options.activeBytes(writeBytes.getAsLong());
  }

  /** A tree's first. */
  ActiveTree first(KeyOrder order) {
    return create(order, 0);
  }

  /** The one after another, which gets no more writes. */
  ActiveTree next(KeyOrder order, ActiveTree last) {
    return create(order, last.bytesUsed());
  }

  private ActiveTree create(KeyOrder order, long lastBytes) {
    long limit = writeBytes.getAsLong();
    StaticShares shares = options.shares();
    long wanted = component.activeBytes(smallBytes(), limit);
    long bytes = shares == null ? wanted : shares.activeBytes(wanted, limit);
    return new ActiveTree(pool, order, bytes, component.filterBytes(bytes, lastBytes));
  }
}
