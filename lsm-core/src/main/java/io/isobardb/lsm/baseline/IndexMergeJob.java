package io.isobardb.lsm.baseline;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.component.IndexMerge;
import io.isobardb.lsm.component.MergedIndex;
import io.isobardb.lsm.component.WrittenEntries;
import io.isobardb.lsm.entry.EntryCursor;
import io.isobardb.lsm.entry.MergingCursor;
import io.isobardb.lsm.event.MergeSpan;
import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.lsm.schedule.Job;
import io.isobardb.lsm.state.Catalog;
import io.isobardb.lsm.state.Run;
import io.isobardb.lsm.state.RunCursor;
import io.isobardb.lsm.state.Table;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.memory.pool.OutOfBudgetException;
import io.isobardb.memory.pool.PagePool;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Puts the oldest runs in memory below one index, so that reads ask that alone. The entries stay
 * where they are.
 *
 * <p>The tree's memory is marked busy while it goes on, so that its inputs stay where they are:
 * only younger runs may join in front of them.
 */
public final class IndexMergeJob implements Job {
  private final Engine engine;
  private final TreeHandle tree;
  private final int inputs;
  private final Runnable ended;
  private final MergeSpan span = MergeSpan.start();
  private final long startNanos;
  private long bytesRead;
  private @Nullable IndexMerge merge;

  /**
   * @param inputs how many of the oldest runs: active SSTables that were sealed, and what such
   *     merges made of them
   * @param ended called once the job is done with the tree's memory, whatever came of it
   */
  public IndexMergeJob(Engine engine, TreeHandle tree, int inputs, Runnable ended) {
    this.engine = engine;
    this.tree = tree;
    this.inputs = inputs;
    this.ended = ended;
    this.startNanos = engine.nanos();
  }

  /** Bytes that an index over the last of these runs takes besides them. */
  public static long bytesFor(Engine engine, List<Run> memory, int inputs) {
    List<Run> runs = memory.subList(memory.size() - inputs, memory.size());
    long entries = contents(runs).stream().mapToLong(WrittenEntries::entries).sum();
    return MergedIndex.bytesFor(engine.catalog().space().pool(), entries);
  }

  private static Set<WrittenEntries> contents(List<Run> runs) {
    Set<WrittenEntries> contents = new LinkedHashSet<>();
    for (Run run : runs) {
      for (Table table : run.tables()) {
        if (!(table instanceof Table.Written written)) {
          throw new IllegalStateException("an SSTable below an index: " + table);
        }
        contents.add(written.content());
      }
    }
    return contents;
  }

  @Override
  public Priority priority() {
    return Priority.MERGE_MEMORY;
  }

  @Override
  public String name() {
    return "index merge " + tree.name();
  }

  @Override
  public boolean step() {
    if (tree.closed() || engine.gate().scarce()) {
      // The pages are needed more urgently than the order.
      end();
      return false;
    }
    IndexMerge current = merge;
    if (current == null) {
      merge = begin();
      return true;
    }
    if (current.step(engine.environment().scheduler().stepBytes())) {
      return true;
    }
    commit(current);
    end();
    return false;
  }

  private IndexMerge begin() {
    List<Run> memory = tree.states().current().memory();
    List<Run> runs = memory.subList(memory.size() - inputs, memory.size());
    EntryCursor[] sources = new EntryCursor[inputs];
    for (int i = 0; i < inputs; i++) {
      bytesRead += runs.get(i).sizeBytes();
      sources[i] = new RunCursor(tree.order(), runs.get(i), engine::mergeCursor);
    }
    MergingCursor source = new MergingCursor(tree.order(), sources);
    PagePool pool = engine.catalog().space().pool();
    try {
      return new IndexMerge(pool, tree.order(), List.copyOf(contents(runs)), source);
    } catch (RuntimeException | Error e) {
      source.close();
      throw e;
    }
  }

  private void commit(IndexMerge current) {
    MergedIndex index = current.finish();
    Run run = Run.of(tree.order(), new Table.Indexed(index));
    Catalog.swapMemory(
        tree,
        now -> {
          List<Run> changed = new ArrayList<>(now.subList(0, now.size() - inputs));
          changed.add(run);
          return changed;
        },
        List.of());
    StoreListener.Merge event =
        new StoreListener.Merge(
            tree.name(),
            StoreListener.MergeKind.MEMORY,
            inputs,
            1,
            bytesRead,
            index.indexBytes(),
            engine.nanos() - startNanos);
    engine.observers().onMerged(span, event);
  }

  private void end() {
    IndexMerge current = merge;
    try {
      if (current != null) {
        merge = null;
        current.close();
      }
    } finally {
      ended.run();
    }
  }

  @Override
  public void onFailed(Throwable cause) {
    // Those that wait for the tree go on, whatever fails here.
    try {
      if (!(cause instanceof OutOfBudgetException)) {
        // Without room nothing is lost: the runs stay as they are.
        engine.space().onJobFailed(cause);
      }
    } finally {
      end();
    }
  }
}
