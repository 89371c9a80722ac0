package io.isobardb.lsm.flush;

import io.isobardb.lsm.entry.EntryCursor;
import io.isobardb.lsm.entry.LeafCursor;
import io.isobardb.lsm.entry.MergingCursor;
import io.isobardb.lsm.event.FlushSpan;
import io.isobardb.lsm.merge.Folder;
import io.isobardb.lsm.merge.OutputCuts;
import io.isobardb.lsm.merge.Rewrite;
import io.isobardb.lsm.observe.StoreListener.FlushKind;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.sstable.FileSink;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.sstable.SSTableWriter;
import io.isobardb.lsm.state.Catalog;
import io.isobardb.lsm.state.Range;
import io.isobardb.lsm.state.Run;
import io.isobardb.lsm.state.RunCursor;
import io.isobardb.lsm.state.Table;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.state.TreeState;
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
 * The part of a flush that one tree has: writes slices of its memory, all entries of the runs that
 * get no writes any more, over one range of keys.
 *
 * <p>A slice is one SSTable long. The slices of a <em>partial</em> flush go on in the key space
 * where the last one ended, round and round: so a range has gathered a whole round's writes by the
 * time its turn comes. An <em>oldest</em> flush goes on there, too, but first to where the entries
 * are that keep the log from being cut. A <em>full</em> flush takes the slices of all runs there
 * are when it begins, from the first key to the last.
 *
 * <p>The slice that was written is to be committed before the next one is begun. Thread rule: one
 * thread at a time.
 */
final class TreeFlush {
  private final Flusher flusher;
  private final TreeHandle tree;
  private final FlushKind kind;
  private final boolean forMemory;

  /** The contents of the runs that a full flush set out with. */
  private final Set<Object> contents = Collections.newSetFromMap(new IdentityHashMap<>());

  private FlushSpan span = FlushSpan.start();
  private boolean begun;
  private int runs;
  private byte @Nullable [] low;
  private @Nullable Rewrite rewrite;
  private @Nullable FileSink sink;
  private long startNanos;
  private double share = -1;

  /**
   * @param forMemory whether memory runs short: then a flush that is not full ends when that is
   *     over
   */
  TreeFlush(Flusher flusher, TreeHandle tree, FlushKind kind, boolean forMemory) {
    this.flusher = flusher;
    this.tree = tree;
    this.kind = kind;
    this.forMemory = forMemory;
  }

  TreeHandle tree() {
    return tree;
  }

  FlushKind kind() {
    return kind;
  }

  boolean forMemory() {
    return forMemory;
  }

  /** How many of the oldest runs the present slice takes. */
  int runs() {
    return runs;
  }

  /** Begun with the present slice. */
  FlushSpan span() {
    return span;
  }

  /** When the present slice was begun. */
  long startNanos() {
    return startNanos;
  }

  /** Whether a slice has been begun and not written to its end. */
  boolean inSlice() {
    return rewrite != null;
  }

  /** Whether, if other trees are flushed along with this one, a slice of it is enough. */
  boolean takesOneSlice() {
    return forMemory && kind != FlushKind.FULL;
  }

  /**
   * Whether another slice is to follow the one that was committed.
   *
   * @param exhausted whether that was the last one there was
   */
  boolean goesOn(boolean exhausted) {
    return switch (kind) {
      // For the log's sake a slice at a time: then the tree with the lowest LSN is another.
      case PARTIAL, OLDEST -> forMemory && flusher.goesOn(tree);
      case FULL -> !exhausted;
    };
  }

  /**
   * Begins the next slice.
   *
   * @return a slice that is there already, since it holds no entry; null if one has been begun, or
   *     if there is nothing to flush
   */
  @Nullable FlushSlice begin() {
    span = FlushSpan.start();
    startNanos = flusher.engine().nanos();
    TreeState state = tree.states().current();
    List<Run> inputs = inputs(state);
    runs = inputs.size();
    if (runs == 0) {
      boolean ranges =
          unsavedLsn(state) >= 0 || kind == FlushKind.FULL && flusher.findsNeedlessRanges(tree);
      return ranges ? slice(null, null, -1, true) : null;
    }
    switch (kind) {
      case PARTIAL -> low = tree.memory().sweptUpTo();
      case OLDEST ->
          low =
              oldest(
                  tree.order(),
                  inputs,
                  flusher.engine().log().durable(),
                  tree.memory().sweptUpTo());
      case FULL -> {}
    }
    MergingCursor source = cursor(inputs);
    boolean found;
    try {
      found = seek(source);
    } catch (RuntimeException | Error e) {
      source.close();
      throw e;
    }
    if (!found) {
      source.close();
      low = null;
      return slice(null, null, -1, true);
    }
    if (share < 0 || kind != FlushKind.FULL) {
      // Of a full flush, all slices have what it began with to thank for their size.
      share = flusher.shareOfMemory(state);
    }
    tree.work().flushBegins(share);
    rewrite =
        new Rewrite(
            source,
            flusher.engine().retention().filter(tree),
            bottommost(state),
            this::writer,
            OutputCuts.inL0(state.version(), flusher.sliceBytes(tree)),
            -1);
    rewrite.folding(Folder.of(flusher.engine(), tree));
    return null;
  }

  /** Moves to the first entry that is to be flushed; false if there is none. */
  private boolean seek(MergingCursor source) {
    byte[] from = low;
    boolean found = from == null ? source.first() : source.seek(from, 0, from.length, -1);
    if (!found && from != null && kind != FlushKind.FULL) {
      tree.work().onSwept(tree.counts().writes());
      low = null;
      found = source.first();
    }
    return found;
  }

  /**
   * Writes a part of the slice that has been begun.
   *
   * @return the slice if that was the last part, its file not synced
   */
  @Nullable FlushSlice step() throws IOException {
    Rewrite current = rewrite;
    if (current == null) {
      throw new IllegalStateException("no slice of " + tree + " has been begun");
    }
    Rewrite.Outcome outcome = current.step(flusher.engine().environment().scheduler().stepBytes());
    if (outcome == Rewrite.Outcome.GOING_ON) {
      return null;
    }
    boolean exhausted = outcome == Rewrite.Outcome.EXHAUSTED;
    byte[] last = current.lastKey();
    SSTableMeta output = current.hasOutput() ? current.finishOutput() : null;
    rewrite = null;
    current.close();
    return slice(exhausted ? null : last, output, current.newestLsn(), exhausted);
  }

  private FlushSlice slice(
      byte @Nullable [] high, @Nullable SSTableMeta output, long newestLsn, boolean last) {
    FileSink file = output == null ? null : sink;
    sink = null;
    Range taken = new Range(low, high);
    long lsn = Math.max(newestLsn, unsavedLsn(tree.states().current()));
    return new FlushSlice(this, taken, output, file, lsn, last);
  }

  /**
   * The highest LSN of the range deletes that go along to the manifest; -1 if there are none. Those
   * alone are worth a slice.
   */
  private long unsavedLsn(TreeState state) {
    return state.ranges().unsaved().newestLsn(flusher.engine().log().visible());
  }

  /** The slice up to this key, to the end if it is null, has been committed. */
  void onCommitted(byte @Nullable [] high) {
    if (high == null) {
      tree.work().onSwept(tree.counts().writes());
    }
    if (kind == FlushKind.FULL) {
      low = high;
    } else {
      tree.memory().setSweptUpTo(high);
    }
  }

  /**
   * Behind which key the next slice begins that has some of the entries with the lowest LSNs, from
   * {@code sweep} on, round the key space; null for the first key of all.
   *
   * @param durable the end of what the log has synced
   */
  static byte @Nullable [] oldest(
      KeyOrder order, List<Run> inputs, long durable, byte @Nullable [] sweep) {
    long lowest = Long.MAX_VALUE;
    for (Run run : inputs) {
      lowest = Math.min(lowest, run.minLsn(durable));
    }
    byte[] next = null;
    for (Run run : inputs) {
      byte[] before = null;
      for (Table table : run.tables()) {
        byte[] from = table.range().low() == null ? before : table.range().low();
        byte[] to = table.range().high();
        if (to == null && table instanceof Table.Stored stored) {
          to = stored.content().meta().maxKey();
        }
        before = to;
        if (table.minLsn(durable) > lowest || (to != null && isBehind(order, sweep, to))) {
          continue;
        }
        if (isBehind(order, sweep, from)) {
          return sweep;
        }
        next = next == null || (from != null && isBehind(order, next, from)) ? from : next;
      }
    }
    // If all of them lie before the sweep, it goes round to the first.
    return next == null && sweep != null ? oldest(order, inputs, durable, null) : next;
  }

  /** Whether a position between keys, null for the first, is at or behind another. */
  private static boolean isBehind(
      KeyOrder order, byte @Nullable [] position, byte @Nullable [] other) {
    return other == null
        || (position != null
            && order.compare(position, 0, position.length, other, 0, other.length) >= 0);
  }

  private List<Run> inputs(TreeState state) {
    List<Run> memory = state.memory();
    long visible = flusher.engine().log().visible();
    List<Run> frozen = memory.subList(memory.size() - state.frozenRuns(visible), memory.size());
    if (kind != FlushKind.FULL) {
      boolean levels = flusher.settings().rules().takesLevels();
      return levels ? ofLevels(frozen, kind, flusher.engine().log().durable()) : frozen;
    }
    if (!begun) {
      begun = true;
      for (Run run : frozen) {
        run.tables().forEach(table -> contents.add(table.content()));
      }
      return frozen;
    }
    int first = memory.size();
    while (first > 0 && contents.contains(memory.get(first - 1).get(0).content())) {
      first--;
    }
    return memory.subList(first, memory.size());
  }

  /**
   * Which of the oldest runs a slice of memory in levels takes: the last level; or, of an oldest
   * flush, the one with the lowest LSN and all below it, whose entries are older. All if nothing
   * has been merged into levels yet.
   */
  static List<Run> ofLevels(List<Run> frozen, FlushKind kind, long durable) {
    int size = frozen.size();
    int from = Math.max(0, size - 1);
    if (kind == FlushKind.OLDEST) {
      for (int i = from - 1; i >= 0; i--) {
        from = frozen.get(i).minLsn(durable) < frozen.get(from).minLsn(durable) ? i : from;
      }
    }
    boolean merged = size > 0 && frozen.get(size - 1).get(0) instanceof Table.Stored;
    return merged ? frozen.subList(from, size) : frozen;
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
    try {
      FileSink file = catalog.newFile(tree, catalog.space(), false, true);
      file.syncLater();
      sink = file;
      SSTableWriter writer = catalog.newTableOfL0(tree, file);
      writer.sourceHot(true);
      return writer;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** What is to be done when nobody can see any more what this slice takes out of memory. */
  List<Runnable> cleanups(Range taken) {
    List<Runnable> cleanups = new ArrayList<>();
    List<Run> memory = tree.states().current().memory();
    for (Run run : memory.subList(memory.size() - runs, memory.size())) {
      cleanups.addAll(run.cleanups(taken, freed -> {}));
    }
    return cleanups;
  }

  /** Closes what is open, and deletes the output that was begun. */
  void abandon() {
    Rewrite current = rewrite;
    if (current != null) {
      rewrite = null;
      sink = null;
      current.close();
    }
  }
}
