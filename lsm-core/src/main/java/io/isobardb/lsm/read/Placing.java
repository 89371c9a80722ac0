package io.isobardb.lsm.read;

import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.sstable.MissedPages;
import io.isobardb.lsm.sstable.SSTable;
import io.isobardb.lsm.sstable.TableSpace;
import io.isobardb.lsm.state.Range;
import io.isobardb.lsm.state.Table;
import io.isobardb.lsm.state.TreeState;
import io.isobardb.memory.pool.Epochs;
import org.jspecify.annotations.Nullable;

/**
 * Where the sources of a cursor are being placed. They are placed one after the other. When the
 * first of them misses a page, the pages that all runs miss on the way there are loaded at once:
 * index pages first, data pages last. Sources that find all in memory cost nothing.
 *
 * <p>Thread rule: one thread at a time.
 */
final class Placing {
  /** To wake a helper takes about half as long as a read: for one page it gains nothing. */
  private static final int LEAST = 3;

  private final KeyOrder order;

  /** The state whose runs are being placed, if none of them has missed a page yet. */
  private @Nullable TreeState state;

  private byte[] key = {};
  private int offset;
  private int length;
  private long lsn;

  Placing(KeyOrder order) {
    this.order = order;
  }

  /** The sources are going to be placed at a key and LSN. The state is held. */
  void begin(TreeState held, byte[] at, int atOffset, int atLength, long atLsn) {
    state = held;
    key = at;
    offset = atOffset;
    length = atLength;
    lsn = atLsn;
  }

  /** They are placed, or will not be. */
  void end() {
    state = null;
  }

  /** The source in an SSTable is about to wait for a page. */
  void onMiss(SSTable first) {
    TreeState held = state;
    if (held == null) {
      return;
    }
    state = null;
    TableSpace space = first.space();
    MissedPages missed = new MissedPages();
    // Each wave brings every run one page further.
    for (int waves = collect(space, held, missed); waves > 0; waves--) {
      if (missed.count() < LEAST) {
        return;
      }
      space.loads().load(missed);
      collect(space, held, missed);
    }
  }

  /**
   * Collects the page that each run misses first.
   *
   * @return how many pages lie on the way from a root to the entries, at most
   */
  private int collect(TableSpace space, TreeState held, MissedPages missed) {
    int most = space.loads().most(space);
    int way = 0;
    missed.clear();
    Epochs epochs = space.pool().epochs();
    int slot = epochs.enter();
    try {
      for (int i = 0; i < held.runCount() && missed.count() < most; i++) {
        Table first = held.run(i).firstFrom(key, offset, length);
        if (first instanceof Table.Stored stored && stored.hasFile()) {
          SSTable table = stored.content();
          way = Math.max(way, table.meta().indexHeight() + 1);
          int page = missed(table, stored.range());
          if (page != SSTable.ABSENT) {
            missed.add(table, page);
          }
        }
      }
    } finally {
      epochs.exit(slot);
    }
    return way;
  }

  private int missed(SSTable table, Range range) {
    byte[] low = range.low();
    return low == null || range.above(order, key, offset, length)
        ? table.missedOnWay(key, offset, length, lsn)
        : table.missedOnWay(low, 0, low.length, -1);
  }
}
