package io.isobardb.lsm.merge;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.entry.EntryCursor;
import io.isobardb.lsm.entry.MergingCursor;
import io.isobardb.lsm.entry.VersionFilter;
import io.isobardb.lsm.observe.MergeSpan;
import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.lsm.schedule.Job;
import io.isobardb.lsm.sstable.MemorySink;
import io.isobardb.lsm.sstable.SSTable;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.sstable.SSTableWriter;
import io.isobardb.lsm.state.Catalog;
import io.isobardb.lsm.state.Run;
import io.isobardb.lsm.state.RunCursor;
import io.isobardb.lsm.state.Table;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.memory.pool.OutOfBudgetException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Merges neighbouring runs in memory into one run of packed SSTables with filters: fewer runs for
 * reads to ask, and of each key only the versions that somebody can see.
 *
 * <p>The tree's memory is marked busy while it goes on, so that its inputs stay where they are.
 */
final class MemoryMergeJob implements Job {
  private static final int ENTRIES_PER_STEP = 512;

  private final Merger merger;
  private final Engine engine;
  private final TreeHandle tree;
  private final List<Run> inputs;
  private final List<Table> outputs = new ArrayList<>();
  private final MergeSpan span = MergeSpan.start();
  private final long startNanos;
  private @Nullable Rewrite rewrite;
  private @Nullable MemorySink sink;

  /**
   * @param inputs neighbours, newest first
   */
  MemoryMergeJob(Merger merger, Engine engine, TreeHandle tree, List<Run> inputs) {
    this.merger = merger;
    this.engine = engine;
    this.tree = tree;
    this.inputs = List.copyOf(inputs);
    this.startNanos = engine.nanos();
  }

  @Override
  public Priority priority() {
    return Priority.MERGE_MEMORY;
  }

  @Override
  public String name() {
    return "memory merge " + tree.name();
  }

  @Override
  public boolean step() throws Exception {
    if (tree.closed() || engine.gate().scarce()) {
      // The pages are needed more urgently than the order.
      abandon();
      merger.memoryEnded(tree);
      return false;
    }
    Rewrite current = rewrite;
    if (current == null) {
      rewrite = begin();
      return true;
    }
    Rewrite.Outcome outcome = current.step(ENTRIES_PER_STEP);
    if (outcome == Rewrite.Outcome.GOING_ON) {
      return true;
    }
    if (current.hasOutput()) {
      finishOutput(current);
    }
    if (outcome == Rewrite.Outcome.OUTPUT_FULL) {
      return true;
    }
    current.close();
    rewrite = null;
    commit();
    merger.memoryEnded(tree);
    return false;
  }

  private Rewrite begin() {
    EntryCursor[] sources = new EntryCursor[inputs.size()];
    for (int i = 0; i < sources.length; i++) {
      sources[i] = new RunCursor(tree.order(), inputs.get(i), engine::mergeCursor);
    }
    MergingCursor source = new MergingCursor(tree.order(), sources);
    source.first();
    return new Rewrite(
        source,
        new VersionFilter(tree.order(), engine.liveSnapshots(tree)),
        cursor -> false,
        this::writer,
        merger.tableBytes(),
        -1);
  }

  private SSTableWriter writer() {
    MemorySink fresh = new MemorySink(engine.catalog().space().pool());
    sink = fresh;
    TreeHandle.Settings settings = tree.settings();
    return new SSTableWriter(
        fresh,
        settings.order(),
        engine.catalog().newFileNumber(),
        tree.id(),
        settings.filterBitsPerKey());
  }

  private void finishOutput(Rewrite current) throws IOException {
    SSTableMeta meta = current.finishOutput();
    MemorySink finished = sink;
    if (finished == null) {
      throw new IllegalStateException("an output without a sink");
    }
    sink = null;
    SSTable table =
        SSTable.inMemory(engine.catalog().space(), tree.order(), meta, finished.pages());
    outputs.add(Table.of(table));
  }

  private void commit() {
    Catalog.swapMemory(
        tree,
        memory -> {
          List<Run> changed = new ArrayList<>(memory);
          int at = changed.indexOf(inputs.get(0));
          changed.subList(at, at + inputs.size()).clear();
          if (!outputs.isEmpty()) {
            changed.add(at, new Run(tree.order(), outputs));
          }
          return changed;
        },
        List.of());
    long read =
        inputs.stream().flatMap(run -> run.tables().stream()).mapToLong(Table::sizeBytes).sum();
    long written = outputs.stream().mapToLong(Table::sizeBytes).sum();
    int count = outputs.size();
    outputs.clear();
    engine
        .observers()
        .merged(
            span,
            new StoreListener.Merge(
                tree.name(),
                true,
                inputs.size(),
                count,
                read,
                written,
                engine.nanos() - startNanos));
  }

  private void abandon() {
    Rewrite current = rewrite;
    if (current != null) {
      rewrite = null;
      current.close();
    }
    for (Table table : outputs) {
      ((SSTable) table.content()).release();
    }
    outputs.clear();
  }

  @Override
  public void failed(Throwable cause) {
    abandon();
    if (!(cause instanceof OutOfBudgetException)) {
      // Without room nothing is lost: the runs stay as they are.
      merger.failed(cause);
    }
    merger.memoryEnded(tree);
  }
}
