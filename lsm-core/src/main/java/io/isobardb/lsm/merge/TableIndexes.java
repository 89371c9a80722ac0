package io.isobardb.lsm.merge;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.schedule.Job;
import io.isobardb.lsm.sstable.SSTable;
import io.isobardb.lsm.sstable.TableIndexing;
import io.isobardb.lsm.state.Table;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.state.TreeState;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Has indexes made over the entries of SSTables, on disk if the cache has all of one, once lookups
 * have paid for them. To take an entry in costs less than a quarter of what a lookup then saves: so
 * no more is spent than lookups have lost before.
 *
 * <p>Thread rule: for {@link IdleWatch}, which calls one method at a time.
 */
final class TableIndexes {
  private final Engine engine;
  private final double lookupsPerEntry;

  /** Whether a job is under way. */
  private final AtomicBoolean busy = new AtomicBoolean();

  /**
   * @param lookupsPerEntry how many pay for an index; with 0, all that fit are made at once, and
   *     over small entries, too
   */
  TableIndexes(Engine engine, double lookupsPerEntry) {
    this.engine = engine;
    this.lookupsPerEntry = lookupsPerEntry;
  }

  /** Begins with those of a tree that are paid for, unless others are being made. */
  void request(TreeHandle tree) {
    if (busy.get()) {
      return;
    }
    List<SSTable> wanted = new ArrayList<>();
    int slot = engine.catalog().space().pool().epochs().enter();
    try {
      TreeState state = tree.states().current();
      for (int i = 0; i < state.runCount(); i++) {
        for (Table table : state.run(i).tables()) {
          if (table instanceof Table.Stored stored && isWanted(stored.content())) {
            wanted.add(stored.content());
          }
        }
      }
    } finally {
      engine.catalog().space().pool().epochs().exit(slot);
    }
    if (!wanted.isEmpty() && busy.compareAndSet(false, true)) {
      engine.environment().scheduler().submit(new IndexJob(tree.name(), wanted));
    }
  }

  private boolean isWanted(SSTable table) {
    if (!table.isPaidFor(lookupsPerEntry)) {
      return false;
    }
    boolean worthIt = lookupsPerEntry == 0 || TableIndexing.isWorthIt(table);
    if (!worthIt) {
      table.countFoundAnew();
    }
    return worthIt;
  }

  /** Makes indexes one after the other. */
  private final class IndexJob implements Job {
    private final String tree;
    private final Queue<SSTable> wanted;

    /** What is being indexed, which is held. */
    private @Nullable SSTable table;

    private @Nullable TableIndexing indexing;

    IndexJob(String tree, List<SSTable> wanted) {
      this.tree = tree;
      this.wanted = new ArrayDeque<>(wanted);
    }

    @Override
    public Priority priority() {
      return Priority.IDLE;
    }

    @Override
    public String name() {
      return "index " + tree;
    }

    @Override
    public boolean step() {
      TableIndexing current = indexing;
      if (current != null) {
        if (!current.step(engine.environment().scheduler().stepBytes())) {
          end();
        }
        return true;
      }
      SSTable next = wanted.poll();
      if (next == null) {
        busy.set(false);
        return false;
      }
      if (next.tryRetain()) {
        table = next;
        indexing = TableIndexing.begin(next);
        if (indexing == null) {
          end();
        }
      }
      return true;
    }

    private void end() {
      TableIndexing ended = indexing;
      indexing = null;
      if (ended != null) {
        ended.close();
      }
      SSTable held = table;
      table = null;
      if (held != null) {
        held.countFoundAnew();
        held.release();
      }
    }

    @Override
    public void onFailed(Throwable cause) {
      end();
      busy.set(false);
    }
  }
}
