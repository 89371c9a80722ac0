package io.isobardb.lsm.merge;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.commit.WriteGate;
import io.isobardb.lsm.component.MemoryRules;
import io.isobardb.lsm.entry.EntryCursor;
import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.entry.LeafCursor;
import io.isobardb.lsm.entry.MergingCursor;
import io.isobardb.lsm.event.MergeSpan;
import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.lsm.schedule.Job;
import io.isobardb.lsm.sstable.MemorySink;
import io.isobardb.lsm.sstable.SSTable;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.sstable.SSTableWriter;
import io.isobardb.lsm.state.Catalog;
import io.isobardb.lsm.state.Range;
import io.isobardb.lsm.state.Run;
import io.isobardb.lsm.state.RunCursor;
import io.isobardb.lsm.state.Table;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.version.Version;
import io.isobardb.memory.pool.OutOfBudgetException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Merges neighbouring runs in memory into one run of packed SSTables with filters: fewer runs for
 * reads to ask, and of each key only the versions that somebody can see.
 *
 * <p>It goes through the keys slice by slice (unless all are to be one). When the SSTable of a
 * slice is done, its range is taken out of the inputs, whose pages there go back to the pool, and
 * the SSTable joins the output run: so it needs room for a slice or two besides its inputs, however
 * large they are, and what is done stays done when it has to stop in the middle.
 *
 * <p>A merge of <em>all</em> that is sealed goes round the key space, from where the last one ended
 * ({@link TreeHandle#packedUpTo}): each slice takes all runs there are by then, and joins the
 * oldest one if that is packed. Stopping it costs the slice under way, and nothing is merged twice
 * before the rest had its turn. It ends early if only the packed run is left: what was sealed in
 * the midst of the last round need be merged up to there only. No SSTable has keys on both sides of
 * that place, which would have to be merged for a part of them, nor of where flushes have come to
 * ({@link TreeHandle#sweep}). The next flush would leave only its young keys, but it would keep the
 * LSN of the old ones, and hold the log for a round.
 *
 * <p>A merge of <em>one SSTable</em> of a level takes what that overlaps in the next one, and
 * leaves the others of both. One that overlaps nothing moves there as it is. If it has to stop in
 * the middle, what is left of the SSTable overlaps less, and is soon chosen again.
 *
 * <p>The tree's memory is marked busy while it goes on, so that its inputs stay where they are:
 * only younger runs may join in front of them.
 */
final class MemoryMergeJob implements Job {
  private final MemoryMerger merger;
  private final Engine engine;
  private final TreeHandle tree;
  private final MemoryMergeChoice choice;

  /** Whether the inputs are all that gets no writes any more, slice by slice. */
  private final boolean round;

  /** Where a merge of all began on its way round. */
  private final byte @Nullable [] origin;

  private final MergeSpan span = MergeSpan.start();
  private final long startNanos;
  private final long writtenAtStart;

  /** Runs of the present slice that are older than its inputs. */
  private int older;

  /** The inputs that are not exhausted yet. */
  private int inputs;

  private int outputs;
  private long bytesRead;
  private long bytesOut;
  private boolean cameRound;

  /** Whether others have the tree's memory again. */
  private boolean hasEnded;

  /** The contents whose pieces a merge of one SSTable takes; null if it takes all. */
  private @Nullable Set<Object> picked;

  private byte @Nullable [] low;
  private @Nullable Rewrite rewrite;
  private @Nullable MemorySink sink;

  MemoryMergeJob(MemoryMerger merger, Engine engine, TreeHandle tree, MemoryMergeChoice choice) {
    this.merger = merger;
    this.engine = engine;
    this.tree = tree;
    this.choice = choice;
    this.round = choice.goesRound();
    this.origin = round ? tree.memory().packedUpTo() : null;
    this.low = origin;
    this.inputs = choice.inputs();
    this.older = choice.older();
    this.startNanos = engine.nanos();
    this.writtenAtStart = tree.counts().bytesWritten();
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
    if (tree.closed() || engine.gate().overdrawn(choice.roomBytes())) {
      // The pages are needed more urgently than the order. What did not fit would not fit at once
      // again: the next merge is for the next sealed run to ask for.
      end(false);
      return false;
    }
    Rewrite current = rewrite;
    if (current == null) {
      if (picked == null && choice.table() != MemoryMergeChoice.ALL) {
        pick();
        if (moves()) {
          end(true);
          return false;
        }
      }
      rewrite = begin().folding(Folder.of(engine, tree));
      return true;
    }
    Rewrite.Outcome outcome = current.step(engine.environment().scheduler().stepBytes());
    if (outcome == Rewrite.Outcome.GOING_ON) {
      return true;
    }
    boolean done = finishSlice(current, outcome == Rewrite.Outcome.EXHAUSTED);
    if (done || flushIsDue()) {
      end(true);
      return false;
    }
    return true;
  }

  /** Whether writers wait, or soon will, for a flush that waits for this merge. */
  private boolean flushIsDue() {
    WriteGate gate = engine.gate();
    boolean wanted =
        gate.scarce()
            || gate.isLogFull()
            || (gate.pressed() && tree.counts().bytesWritten() != writtenAtStart);
    return wanted && merger.canBeFlushed(tree);
  }

  private List<Run> inputsOf(List<Run> memory) {
    int end = memory.size() - older;
    return memory.subList(end - inputs, end);
  }

  /** What of the inputs is merged. */
  private List<Run> parts() {
    List<Run> runs = inputsOf(tree.states().current().memory());
    if (picked == null) {
      return runs;
    }
    List<Run> parts = new ArrayList<>();
    for (Run run : runs) {
      Run part = run.only(this::takes);
      if (part != null) {
        parts.add(part);
      }
    }
    return parts;
  }

  private boolean takes(Table table) {
    Set<Object> some = picked;
    return some == null || some.contains(table.content());
  }

  /** Picks the SSTable that goes down, and what it overlaps in the next level. */
  private void pick() {
    List<Run> runs = inputsOf(tree.states().current().memory());
    Set<Object> some = Collections.newSetFromMap(new IdentityHashMap<>());
    some.add(runs.get(0).get(choice.table()).content());
    picked = some;
    if (runs.size() > 1) {
      overlapped(parts().get(0), runs.get(1)).forEach(below -> some.add(below.content()));
    }
  }

  /** What pieces of one table overlap in the next run. */
  private List<Table> overlapped(Run pieces, Run below) {
    if (pieces.get(0) instanceof Table.Stored first) {
      return below.overlapping(first.lowest(), pieces.get(pieces.size() - 1).range().high());
    }
    try (RunCursor cursor = new RunCursor(tree.order(), pieces, engine::mergeCursor)) {
      if (!cursor.first()) {
        return List.of();
      }
      byte[] first = Arrays.copyOf(cursor.key(), cursor.keyLength());
      cursor.last();
      return below.overlapping(first, Arrays.copyOf(cursor.key(), cursor.keyLength()));
    }
  }

  /** Moves the SSTable that goes down, if it overlaps nothing there; says whether it did. */
  private boolean moves() {
    List<Run> runs = inputsOf(tree.states().current().memory());
    List<Run> parts = parts();
    if (runs.size() < 2 || parts.size() > 1 || !(parts.get(0).get(0) instanceof Table.Stored)) {
      return false;
    }
    Run below = runs.get(1);
    for (Table table : parts.get(0).tables()) {
      below = below.with(table);
    }
    Run above = runs.get(0).only(table -> !takes(table));
    swap(2, above == null ? List.of(below) : List.of(above, below), List.of());
    return true;
  }

  private Rewrite begin() {
    if (round) {
      inputs = tree.states().current().frozenRuns(engine.log().visible());
    }
    List<Run> runs = parts();
    EntryCursor[] sources = new EntryCursor[runs.size()];
    for (int i = 0; i < sources.length; i++) {
      sources[i] = new RunCursor(tree.order(), runs.get(i), engine::mergeCursor);
    }
    MergingCursor source = new MergingCursor(tree.order(), sources);
    try {
      byte[] from = low;
      if (from == null) {
        source.first();
      } else {
        source.seek(from, 0, from.length, -1);
      }
    } catch (RuntimeException | Error e) {
      source.close();
      throw e;
    }
    return new Rewrite(
        source,
        engine.retention().filter(tree),
        bottommost(),
        this::writer,
        OutputCuts.at(tree.order(), choice.sliceBytes(), round ? border() : null),
        -1);
  }

  /** The next key that no SSTable may have keys on both sides of; null if there is none. */
  private byte @Nullable [] border() {
    byte[] swept = tree.memory().sweptUpTo();
    byte[] end = freshEnd();
    boolean comesFirst = isAhead(end) && !(isAhead(swept) && isBehind(end, swept));
    return comesFirst ? end : swept;
  }

  /** Whether a key lies behind where this slice begins. */
  private boolean isAhead(byte @Nullable [] key) {
    return key != null && !isBehind(low, key);
  }

  /** The last key that others than the packed run may have; null if that is not known. */
  private byte @Nullable [] freshEnd() {
    List<Run> runs = parts();
    byte[] last = null;
    for (Run run : runs.subList(0, runs.size() - 1)) {
      byte[] high = run.get(run.size() - 1).range().high();
      if (high == null) {
        return null;
      }
      last = isBehind(last, high) ? last : high;
    }
    return isPacked(runs.get(runs.size() - 1)) ? last : null;
  }

  private static boolean isPacked(Run run) {
    return run.get(0) instanceof Table.Stored;
  }

  /**
   * Whether a delete marker may go, if no snapshot reads below it: it is durable, so that no crash
   * takes it and leaves what it hides, and nothing on disk can have its key. Operands go by what
   * lies below them, and expired entries by a time that a flush notes: of those nothing goes here.
   */
  private Function<LeafCursor, Boolean> bottommost() {
    if (picked != null || older > 0 || tree.settings().operator() != null) {
      return entry -> false;
    }
    long settled = engine.catalog().settledLsn();
    return entry -> Kind.isDelete(entry.kind()) && entry.lsn() <= settled && !isOnDisk(entry);
  }

  private boolean isOnDisk(LeafCursor entry) {
    Version version = tree.states().current().version();
    return version.tableCount() > 0
        && version.mayHold(Arrays.copyOf(entry.key(), entry.keyLength()));
  }

  private SSTableWriter writer() {
    MemorySink fresh = new MemorySink(engine.catalog().space().pool(), this::mayIndex);
    sink = fresh;
    return Catalog.newTable(tree, fresh, engine.catalog().newFileNumber());
  }

  private boolean mayIndex(long indexBytes) {
    WriteGate gate = engine.gate();
    boolean fits = tree.states().current().version().sizeBytes() == 0;
    return MemoryRules.indexes(indexBytes, gate.usedBytes(), gate.limitBytes(), fits);
  }

  /** Returns whether that was the last slice there is to do. */
  private boolean finishSlice(Rewrite current, boolean exhausted) throws IOException {
    byte[] high = exhausted ? null : current.lastKey();
    Range taken = new Range(low, high);
    Table output = current.hasOutput() ? finishOutput(current, taken) : null;
    bytesRead += current.bytesIn();
    current.close();
    rewrite = null;
    commit(taken, output);
    low = high;
    if (!round) {
      return exhausted;
    }
    tree.memory().setPackedUpTo(high);
    boolean alone = inputs < 2 && choice.inputs() > 1;
    if (exhausted) {
      tree.memory().mergeGain().roundEnds(tree.counts().bytesWritten());
      boolean done = origin == null || cameRound;
      cameRound = true;
      return done || alone;
    }
    return alone || cameRound && isBehind(high, origin);
  }

  private boolean isBehind(byte @Nullable [] key, byte @Nullable [] other) {
    return key != null
        && other != null
        && tree.order().compare(key, 0, key.length, other, 0, other.length) >= 0;
  }

  private Table finishOutput(Rewrite current, Range taken) throws IOException {
    SSTableMeta meta = current.finishOutput();
    MemorySink finished = sink;
    if (finished == null) {
      throw new IllegalStateException("an output without a sink");
    }
    sink = null;
    return new Table.Stored(
        SSTable.inMemory(engine.catalog().space(), tree.order(), meta, finished),
        inputLsn(taken),
        tree.settings().operator() != null);
  }

  /** Nothing that the inputs hold in a range has a lower LSN, nor stands for what has. */
  private long inputLsn(Range taken) {
    long durable = engine.log().durable();
    return parts().stream()
        .mapToLong(run -> run.minLsn(durable, taken))
        .min()
        .orElse(Long.MAX_VALUE);
  }

  /** Puts the slice's SSTable in the place of what the inputs hold in its range. */
  private void commit(Range taken, @Nullable Table output) {
    List<Run> from = inputsOf(tree.states().current().memory());
    List<Run> left = new ArrayList<>(from.size() + 1);
    List<Runnable> cleanups = new ArrayList<>();
    Run oldest = null;
    for (Run run : from) {
      Run rest = run.without(taken, this::takes);
      if (rest != null) {
        left.add(rest);
      }
      count(run.goneFrom(rest));
      cleanups.addAll(run.cleanups(taken, tree.memory().mergeGain()::tookFresh));
      oldest = rest;
    }
    if (output != null) {
      join(left, output, oldest);
    }
    inputs = left.size();
    swap(from.size(), left, cleanups);
  }

  /** Puts runs in the place of the oldest ones above those that stay. */
  private void swap(int replaced, List<Run> left, List<Runnable> cleanups) {
    Catalog.swapMemory(
        tree,
        now -> {
          // Younger runs may have come, in front.
          int to = now.size() - older;
          List<Run> changed = new ArrayList<>(now.subList(0, to - replaced));
          changed.addAll(left);
          changed.addAll(now.subList(to, now.size()));
          return changed;
        },
        cleanups);
  }

  /** What goes as a whole comes free with the state before. */
  private void count(List<Table> gone) {
    for (Table table : gone) {
      if (table instanceof Table.Stored) {
        tree.memory().mergeGain().tookPacked(table.sizeBytes());
      } else {
        tree.memory().mergeGain().tookFresh(table.sizeBytes());
      }
    }
  }

  /**
   * Puts the output into the oldest input if that has packed SSTables; else it begins such a run.
   *
   * @param oldest what is left of the oldest input
   */
  private void join(List<Run> left, Table output, @Nullable Run oldest) {
    outputs++;
    bytesOut += output.sizeBytes();
    tree.memory().mergeGain().onLeft(output.sizeBytes());
    if (oldest != null && isPacked(oldest)) {
      left.set(left.size() - 1, oldest.with(output));
    } else {
      left.add(Run.of(tree.order(), output));
    }
  }

  /**
   * Gives up the slice that is begun, and lets flushes and other merges have the tree.
   *
   * @param again whether another merge may follow at once
   */
  private void end(boolean again) {
    try {
      close();
    } finally {
      if (!hasEnded) {
        hasEnded = true;
        merger.onEnded(tree, again);
      }
    }
  }

  private void close() {
    Rewrite current = rewrite;
    if (current != null) {
      rewrite = null;
      current.close();
    }
    int made = outputs;
    if (made > 0) {
      outputs = 0; // A listener that never comes back is not told again.
      long nanos = engine.nanos() - startNanos;
      StoreListener.Merge event =
          new StoreListener.Merge(
              tree.name(),
              StoreListener.MergeKind.MEMORY,
              choice.inputs(),
              made,
              bytesRead,
              bytesOut,
              nanos);
      engine.observers().onMerged(span, event);
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
      end(false);
    }
  }
}
