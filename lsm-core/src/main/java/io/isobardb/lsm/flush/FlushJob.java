package io.isobardb.lsm.flush;

import io.isobardb.lsm.component.ActiveTree;
import io.isobardb.lsm.entry.EntryCursor;
import io.isobardb.lsm.entry.LeafCursor;
import io.isobardb.lsm.entry.MergingCursor;
import io.isobardb.lsm.entry.VersionFilter;
import io.isobardb.lsm.error.DiskFullException;
import io.isobardb.lsm.merge.Rewrite;
import io.isobardb.lsm.observe.FlushSpan;
import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.lsm.observe.StoreListener.FlushKind;
import io.isobardb.lsm.schedule.Job;
import io.isobardb.lsm.sstable.FileSink;
import io.isobardb.lsm.sstable.SSTable;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.sstable.SSTableWriter;
import io.isobardb.lsm.state.Catalog;
import io.isobardb.lsm.state.Range;
import io.isobardb.lsm.state.Run;
import io.isobardb.lsm.state.RunCursor;
import io.isobardb.lsm.state.Table;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.state.TreeState;
import io.isobardb.lsm.version.Place;
import io.isobardb.lsm.version.Version;
import io.isobardb.lsm.version.VersionEdit;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Flushes slices of a tree's memory: all entries of some of the oldest runs, over one range of
 * keys.
 *
 * <p>A slice is one SSTable long. When it is on disk, its range is taken out of the runs and the
 * pages that lie wholly in it go back to the pool. A <em>partial</em> flush takes its slices from
 * all runs, each going on in the key space where the last one ended, round and round: so a range
 * has gathered a whole round's writes by the time its turn comes. An <em>oldest</em> or
 * <em>full</em> flush takes the slices of the oldest run, or of all runs, from the first key to the
 * last.
 */
final class FlushJob implements Job {
  private final Flusher flusher;
  private final TreeHandle tree;
  private final FlushKind mode;
  private final boolean forMemory;

  /** The contents of the runs that an oldest or full flush set out with. */
  private final Set<Object> contents = Collections.newSetFromMap(new IdentityHashMap<>());

  /** Written, and not named in the manifest yet. */
  private final List<SSTableMeta> outputs = new ArrayList<>(1);

  private FlushSpan span = FlushSpan.start();
  private boolean begun;
  private int runs;
  private byte @Nullable [] low;
  private @Nullable Rewrite rewrite;
  private long startNanos;
  private double share = -1;

  /**
   * @param forMemory whether memory runs short: then a flush that is not full ends when that is
   *     over
   */
  FlushJob(Flusher flusher, TreeHandle tree, FlushKind mode, boolean forMemory) {
    this.flusher = flusher;
    this.tree = tree;
    this.mode = mode;
    this.forMemory = forMemory;
  }

  @Override
  public Priority priority() {
    return Priority.FLUSH;
  }

  @Override
  public String name() {
    return "flush " + tree.name();
  }

  @Override
  public boolean step() throws Exception {
    if (tree.closed()) {
      abandon();
      end();
      return false;
    }
    Rewrite current = rewrite;
    if (current == null) {
      if (!begin()) {
        end();
        return false;
      }
      return true;
    }
    Rewrite.Outcome outcome = current.step(flusher.engine().environment().scheduler().stepBytes());
    if (outcome == Rewrite.Outcome.GOING_ON) {
      return true;
    }
    boolean exhausted = outcome == Rewrite.Outcome.EXHAUSTED;
    finishSlice(current, exhausted);
    boolean more = goesOn(exhausted);
    if (!more) {
      end();
    }
    return more;
  }

  private boolean goesOn(boolean exhausted) {
    return switch (mode) {
      // For the log's sake a slice at a time: then the tree with the lowest LSN is another.
      case PARTIAL -> forMemory && flusher.goesOn(tree);
      case OLDEST -> !exhausted && (!forMemory || flusher.goesOn(tree));
      case FULL -> !exhausted;
    };
  }

  /** Opens the next slice; false if there is nothing to flush. */
  private boolean begin() throws IOException {
    span = FlushSpan.start();
    startNanos = flusher.engine().nanos();
    TreeState state = tree.states().current();
    List<Run> inputs = inputs(state);
    runs = inputs.size();
    if (runs == 0) {
      return false;
    }
    if (mode == FlushKind.PARTIAL) {
      low = tree.sweep();
    }
    MergingCursor source = cursor(inputs);
    byte[] from = low;
    boolean found = from == null ? source.first() : source.seek(from, 0, from.length, -1);
    if (!found && from != null && mode == FlushKind.PARTIAL) {
      low = null;
      found = source.first();
    }
    if (!found) {
      source.close();
      low = null;
      commit(null);
      return false;
    }
    if (share < 0 || mode != FlushKind.FULL) {
      // Of a full flush, all slices have what it began with to thank for their size.
      share = flusher.shareOfMemory(state);
    }
    tree.work().flushBegins(share);
    rewrite =
        new Rewrite(
            source,
            new VersionFilter(tree.order(), flusher.engine().liveSnapshots(tree)),
            bottommost(state),
            this::writer,
            flusher.sliceBytes(),
            -1);
    return true;
  }

  private List<Run> inputs(TreeState state) {
    List<Run> memory = state.memory();
    if (!begun) {
      begun = true;
      int frozen = state.frozenRuns(flusher.engine().log().visible());
      int count = mode == FlushKind.OLDEST ? Math.min(1, frozen) : frozen;
      if (mode != FlushKind.PARTIAL) {
        for (Run run : memory.subList(memory.size() - count, memory.size())) {
          run.tables().forEach(table -> contents.add(table.content()));
        }
      }
      return memory.subList(memory.size() - count, memory.size());
    }
    if (mode == FlushKind.PARTIAL) {
      return memory.subList(
          memory.size() - state.frozenRuns(flusher.engine().log().visible()), memory.size());
    }
    int first = memory.size();
    while (first > 0 && contents.contains(memory.get(first - 1).get(0).content())) {
      first--;
    }
    return memory.subList(first, memory.size());
  }

  private MergingCursor cursor(List<Run> inputs) {
    EntryCursor[] sources = new EntryCursor[inputs.size()];
    for (int i = 0; i < sources.length; i++) {
      sources[i] = new RunCursor(tree.order(), inputs.get(i), flusher.engine()::mergeCursor);
    }
    return new MergingCursor(tree.order(), sources);
  }

  /** Delete markers can go if there is nothing older: the tree has no SSTables on disk. */
  private Function<LeafCursor, Boolean> bottommost(TreeState state) {
    boolean oldest = state.version().tableCount() == 0;
    return cursor -> oldest;
  }

  private SSTableWriter writer() {
    Catalog catalog = flusher.engine().catalog();
    TreeHandle.Settings settings = tree.settings();
    long number = catalog.newFileNumber();
    try {
      FileSink sink = new FileSink(catalog.space(), number, tree.id(), settings.codec(), true);
      SSTableWriter writer =
          new SSTableWriter(sink, settings.order(), number, tree.id(), settings.filterBitsPerKey());
      writer.sourceHot(true);
      return writer;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void finishSlice(Rewrite current, boolean exhausted) throws IOException {
    byte[] last = current.lastKey();
    if (current.hasOutput()) {
      outputs.add(current.finishOutput());
    }
    current.close();
    rewrite = null;
    commit(exhausted ? null : last);
  }

  /** Takes the range ({@code low}, {@code high}] out of memory, now that it is on disk. */
  private void commit(byte @Nullable [] high) throws IOException {
    Range taken = new Range(low, high);
    int count = runs;
    List<SSTable> fresh = new ArrayList<>();
    for (SSTableMeta meta : outputs) {
      fresh.add(flusher.engine().open(meta, tree));
    }
    List<Runnable> cleanups = new ArrayList<>();
    List<Run> memory = tree.states().current().memory();
    for (Run run : memory.subList(memory.size() - count, memory.size())) {
      for (Table table : run.tables()) {
        ActiveTree sealed = table.tree();
        if (sealed != null) {
          cleanups.add(() -> sealed.releaseRange(taken.low(), taken.high()));
        }
      }
    }
    awaitLog();
    long before = flusher.engine().gate().usedBytes();
    flusher.engine().catalog().commit(tree, change(taken, count), fresh, cleanups);
    long written = outputs.stream().mapToLong(SSTableMeta::sizeBytes).sum();
    outputs.clear();
    if (mode == FlushKind.PARTIAL) {
      tree.setSweep(high);
    } else {
      low = high;
    }
    flusher.flushed(
        tree,
        forMemory,
        span,
        new StoreListener.Flush(
            tree.name(),
            mode,
            written,
            before - flusher.engine().gate().usedBytes(),
            flusher.engine().nanos() - startNanos));
  }

  /**
   * Waits until the log is durable up to what was flushed: else a crash could keep it and lose
   * older writes to other trees, and hand its LSNs out again.
   */
  private void awaitLog() {
    if (flusher.engine().log().isOpen()) {
      for (SSTableMeta meta : outputs) {
        flusher.engine().log().get().awaitDurable(meta.maxLsn());
      }
    }
  }

  private Catalog.Change change(Range taken, int count) {
    return new Catalog.Change() {
      @Override
      public VersionEdit edit(Version version, long flushedLsn) {
        VersionEdit.Builder edit = VersionEdit.of(tree.id()).flushedLsn(flushedLsn);
        List<Place> places = flusher.settings().l0().place(version, outputs);
        for (int i = 0; i < places.size(); i++) {
          edit.add(places.get(i), outputs.get(i));
        }
        return edit.build();
      }

      @Override
      public List<Run> memory(TreeState state) {
        List<Run> all = state.memory();
        List<Run> left = new ArrayList<>(all.subList(0, all.size() - count));
        for (Run run : all.subList(all.size() - count, all.size())) {
          Run rest = run.without(taken);
          if (rest != null) {
            left.add(rest);
          }
        }
        return left;
      }
    };
  }

  private void end() {
    flusher.ended(tree);
  }

  /** Closes what is open, and deletes the output that was begun. */
  private void abandon() {
    Rewrite current = rewrite;
    if (current != null) {
      rewrite = null;
      current.close();
    }
  }

  @Override
  public void failed(Throwable cause) {
    abandon();
    flusher.failed(cause);
    if (cause instanceof DiskFullException) {
      // After any other failure it is unknown whether the manifest names them.
      outputs.forEach(meta -> flusher.engine().delete(meta, tree));
    }
    outputs.clear();
    end();
  }
}
