package io.isobardb.lsm.read;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.entry.Probe;
import io.isobardb.lsm.sstable.KeyHash;
import io.isobardb.lsm.sstable.PageLayout;
import io.isobardb.lsm.sstable.PageReader;
import io.isobardb.lsm.sstable.SSTable;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.state.TreeState;
import io.isobardb.memory.cache.Access;
import io.isobardb.memory.cache.BufferCache;
import io.isobardb.memory.cache.NoFrameException;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.Epochs;
import io.isobardb.memory.pool.PagePool;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Shows values where they lie. While somebody looks, the SSTable is held and, if the page is one of
 * the cache, the page is pinned.
 *
 * <p>Copied for the look are values in active SSTables, whose pages writers change, sealed or not,
 * and those in several overflow pages, which are not in one piece. So are those in the cache while
 * too many pages of it are being looked at: a user that looks at one may read on, and that needs
 * frames.
 *
 * <p>Holding something writes to a counter that all readers of the tree share. For small values a
 * copy ({@link PointReader}) is cheaper.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class InPlaceReader {
  /** One in so many of the cache's pages may be pinned for looks at a time. */
  private static final int SHARE = 4;

  private final Engine engine;
  private final PagePool pool;
  private final Epochs epochs;
  private final BufferCache cache;
  private final PointReader copies;
  private final AtomicInteger looks = new AtomicInteger();

  /**
   * @param copies for values that can't be looked at where they are
   */
  public InPlaceReader(Engine engine, PointReader copies) {
    this.engine = engine;
    this.pool = engine.catalog().space().pool();
    this.cache = engine.catalog().space().cache();
    this.epochs = pool.epochs();
    this.copies = copies;
  }

  /**
   * A look that may have taken place. It comes to an SSTable that has the key, and pins the page.
   */
  private static final class Look<T> extends Lookup {
    private final Function<ByteBuffer, T> user;
    private final Probe probe;
    private boolean done;
    private @Nullable T result;

    /** Retained, and with the entry's page pinned; null if the value is not in an SSTable. */
    private @Nullable SSTable table;

    private long location;

    Look(Epochs epochs, Function<ByteBuffer, T> user, Probe probe) {
      super(epochs);
      this.user = user;
      this.probe = probe;
    }

    @Override
    int ask(SSTable asked, byte[] key, Probe sought, boolean last) {
      int maybe = asked.mayContain(sought.hash(), true);
      boolean passes = SSTable.isMiss(maybe) && last && sought.trustsLastRun();
      return maybe == SSTable.MAYBE || passes ? Probe.ELSEWHERE : maybe;
    }

    @Override
    int load(SSTable asked, byte[] key, Probe sought, int said) {
      try {
        boolean filtered = asked.missesFilter(said);
        location = asked.locatePinned(key, sought.hash(), sought.lsn(), filtered);
      } catch (NoFrameException e) {
        return Probe.ELSEWHERE;
      }
      if (location == SSTable.ABSENT) {
        return Probe.ABSENT;
      }
      if (!asked.tryRetain()) {
        throw new IllegalStateException(asked + " has gone, though its state is held");
      }
      table = asked;
      return Probe.ELSEWHERE;
    }

    void show(ByteBuffer view) {
      done = true;
      try {
        result = user.apply(view);
      } finally {
        view.limit(0);
      }
    }
  }

  /**
   * Shows the newest value of a key that is visible now. Not counted: its caller has tried to get a
   * copy first.
   *
   * @param user called once at most, outside of epochs and locks, with a read-only, big-endian
   *     buffer, which is empty afterwards
   * @return what {@code user} gave; null if there is no such key
   */
  public <T> @Nullable T read(TreeHandle tree, byte[] key, Function<ByteBuffer, T> user) {
    Probe probe = copies.probes().take().of(KeyHash.hash(key, 0, key.length));
    Look<T> look = new Look<>(epochs, user, probe);
    int operation = engine.operations().enter();
    try {
      tree.checkOpen();
      TreeState state = copies.acquireAimed(tree, key, copies.latest(), probe);
      try {
        look.findAndLoad(state, key, probe);
        tree.memory().readLoss().gets(1, state.mergeableRuns());
      } finally {
        tree.states().release(state);
      }
      SSTable table = look.table;
      if (table != null) {
        show(table, look);
      }
      if (!look.done) {
        showCopy(tree, key, look);
      }
      return look.result;
    } finally {
      engine.operations().exit(operation);
      probe.give();
    }
  }

  private void show(SSTable table, Look<?> look) {
    try {
      show(table, SSTable.pageOf(look.location), SSTable.entryOf(look.location), look);
    } finally {
      table.release();
      if (table.isInMemory()) {
        // A writer may wait for its pages.
        engine.gate().wake();
      }
    }
  }

  /** Shows the value of an entry if it is in one piece; unpins the entry's page. */
  private void show(SSTable table, int pageNo, int entry, Look<?> look) {
    int length;
    int overflow;
    int start;
    try {
      int page = pageOf(table, pageNo);
      Memory memory = pool.memory(page);
      int base = pool.base(page);
      int found = PageReader.answer(memory, base, entry, look.probe);
      if (found >= 0) {
        int from = base + PageReader.valueOffset(memory, base, entry);
        show(table, memory.view(from, found), look);
      }
      if (found != Probe.ELSEWHERE) {
        return;
      }
      length = PageReader.overflowLength(memory, base, entry);
      overflow = PageReader.overflowPage(memory, base, entry);
      start = PageReader.overflowStart(memory, base, entry);
    } finally {
      table.unpin(pageNo);
    }
    if (start + length <= PageLayout.overflowBytes(pool.pageSize())) {
      showOverflow(table, overflow, start, length, look);
    }
  }

  /** Shows a value that lies in one overflow page, behind {@code start} bytes of others. */
  private void showOverflow(SSTable table, int pageNo, int start, int length, Look<?> look) {
    int page;
    try {
      page = table.loadPage(pageNo, Access.QUERY);
    } catch (NoFrameException e) {
      return;
    }
    try {
      int from = pool.base(page) + PageLayout.HEADER_BYTES + start;
      show(table, pool.memory(page).view(from, length), look);
    } finally {
      table.unpin(pageNo);
    }
  }

  private void show(SSTable table, ByteBuffer view, Look<?> look) {
    if (table.isInMemory()) {
      look.show(view);
    } else {
      showCached(view, look);
    }
  }

  private void showCached(ByteBuffer view, Look<?> look) {
    try {
      if (looks.incrementAndGet() <= mostLooks()) {
        look.show(view);
      }
    } finally {
      looks.decrementAndGet();
    }
  }

  private int pageOf(SSTable table, int pageNo) {
    int slot = epochs.enter();
    try {
      return table.page(pageNo);
    } finally {
      epochs.exit(slot);
    }
  }

  private int mostLooks() {
    return (int) (cache.targetBytes() / pool.pageSize() / SHARE);
  }

  private void showCopy(TreeHandle tree, byte[] key, Look<?> look) {
    byte[] copy = copies.getArrayAgain(tree, key, copies.latest());
    if (copy != null) {
      look.show(ByteBuffer.wrap(copy).asReadOnlyBuffer());
    }
  }
}
