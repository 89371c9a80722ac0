package io.isobardb.lsm.read;

import io.isobardb.lsm.entry.EntryCursor;
import io.isobardb.lsm.entry.LeafCursor;
import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.entry.MergingCursor;
import io.isobardb.lsm.entry.Moment;
import io.isobardb.lsm.entry.Probe;
import io.isobardb.lsm.entry.Stretch;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.range.RangeDeletes;
import io.isobardb.lsm.sstable.SSTable;
import io.isobardb.lsm.sstable.SSTableCursor;
import io.isobardb.lsm.state.RunCursor;
import io.isobardb.lsm.state.Table;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.state.TreeState;
import io.isobardb.memory.pool.OutOfBudgetException;
import java.util.concurrent.locks.Lock;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What a cursor reads from: a state of its tree with a cursor over each of its components, and the
 * overlay, all merged. It says what their entries mean at the cursor's moment.
 *
 * <p>A state is to be kept only while it is current, so that a long scan does not hold old memory
 * and files back: {@link #step} says when to look whether the tree {@link #isOutdated has moved
 * on}.
 *
 * <p>Thread rule: one thread at a time.
 */
final class CursorSources {
  private static final int STEPS_BEFORE_LOOK = 256;

  private final TreeHandle tree;
  private final KeyOrder order;
  private final Function<Table, EntryCursor> opener;
  private final Lock turns;
  private final @Nullable Overlay overlay;
  private final long lsn;
  private final long now;
  private final Probe probe = new Probe(0);

  /** Null while nothing is held. */
  private @Nullable TreeState state;

  private MergingCursor merged;

  /** The range deletes of the state, or null. */
  private @Nullable HiddenKeys hidden;

  /** In memory, of the state. */
  private int runs;

  /** Since it was last looked whether the state is the current one. */
  private int steps;

  private int markers;

  /** The overlay's changes when the sources were last placed or moved. */
  private long changes;

  private boolean hasTurn;

  private final Placing placing;
  private final Consumer<SSTable> onMiss;
  private final byte @Nullable [] to;

  /**
   * @param opener gives a cursor over all of a table
   * @param turns held by the cursor whose turn it is when there are not enough pages for all
   * @param overlay what goes before the tree's own entries, or null
   * @param at what to read at; registered with the snapshots until the cursor is closed
   * @param to where what is read ends; null for no end
   */
  CursorSources(
      TreeHandle tree,
      Function<Table, EntryCursor> opener,
      Lock turns,
      @Nullable Overlay overlay,
      Moment at,
      byte @Nullable [] to) {
    this.tree = tree;
    this.order = tree.order();
    this.opener = opener;
    this.turns = turns;
    this.overlay = overlay;
    this.lsn = at.lsn();
    this.now = at.millis();
    probe.at(lsn, at.clock());
    this.placing = new Placing(order);
    this.onMiss = placing::onMiss;
    this.to = to;
    // Opened by the first move, which waits for the memory it takes.
    this.merged = new MergingCursor(order, new EntryCursor[0]);
  }

  private MergingCursor open() {
    TreeState opened = tree.states().acquire();
    int first = overlay == null ? 0 : 1;
    EntryCursor[] sources = new EntryCursor[first + 1 + opened.runCount()];
    if (overlay != null) {
      sources[0] = overlay.cursor(lsn, now);
    }
    try {
      // Only this one opens anything; those over runs do so when they are moved.
      sources[first] = cursor(opened.active());
    } catch (RuntimeException | Error e) {
      tree.states().release(opened);
      throw e;
    }
    for (int run = 0; run < opened.runCount(); run++) {
      sources[first + 1 + run] = new RunCursor(order, opened.run(run), this::cursor, to);
    }
    RangeDeletes deletes = opened.ranges().list();
    hidden = deletes == null ? null : new HiddenKeys(deletes, lsn);
    probe.above(0);
    state = opened;
    steps = 0;
    runs = opened.mergeableRuns();
    tree.runsAsked().scan(opened.runCount() - opened.memoryRunCount());
    return new MergingCursor(order, sources);
  }

  private EntryCursor cursor(Table table) {
    EntryCursor opened = opener.apply(table);
    if (opened instanceof LeafCursor leaf && order.isBytes()) {
      leaf.endBefore(to);
    }
    if (opened instanceof SSTableCursor stored) {
      stored.read(to, onMiss);
    }
    return opened;
  }

  /** Places the sources at a key and LSN or behind; gives all in one. */
  MergingCursor seek(byte[] key, int offset, int length, long atLsn) {
    MergingCursor all = toPlace(key, offset, length, atLsn);
    try {
      all.seek(key, offset, length, atLsn);
    } finally {
      placing.end();
    }
    return all;
  }

  /** Places the sources before a key; gives all in one. */
  MergingCursor seekBefore(byte[] key, int offset, int length) {
    MergingCursor all = toPlace(key, offset, length, Lsn.MAX);
    try {
      all.seekBefore(key, offset, length);
    } finally {
      placing.end();
    }
    return all;
  }

  private MergingCursor toPlace(byte[] key, int offset, int length, long atLsn) {
    MergingCursor all = toPlace();
    TreeState held = state;
    if (held != null) {
      placing.begin(held, key, offset, length, atLsn);
    }
    return all;
  }

  /** To be placed somewhere: takes up a state if none is held. */
  MergingCursor toPlace() {
    if (state == null) {
      merged = open();
    }
    tree.memory().readLoss().seek(runs);
    return merged;
  }

  /** All sources in one, which are held. */
  MergingCursor merged() {
    return merged;
  }

  /** Whether a state is held. */
  boolean isHeld() {
    return state != null;
  }

  /** Gives up what is held. */
  void shut() {
    TreeState held = state;
    if (held != null) {
      state = null;
      countSteps();
      merged.close();
      tree.states().release(held);
    }
  }

  /** Whether the tree has moved on from the state that is held. */
  boolean isOutdated() {
    return state != tree.states().current();
  }

  /** Counts a step; whether it is time to look if the tree has moved on. */
  boolean step() {
    if (++steps < STEPS_BEFORE_LOOK) {
      return false;
    }
    countSteps();
    return true;
  }

  /** Counts steps that were made meanwhile. */
  void countSteps(int count) {
    steps += count;
  }

  /** Counts a deleted key that a step has passed; on the way back an expired one, too. */
  void countMarker() {
    markers++;
  }

  private void countSteps() {
    tree.memory().readLoss().steps(steps, merged.takePassed(), runs);
    tree.counts().countSteps(steps);
    steps = 0;
    if (markers > 0) {
      tree.memory().readLoss().markers(markers);
      markers = 0;
    }
  }

  /**
   * After a call that found no page, once all was given up: returns when its turn has come, which
   * lasts until {@link #endTurn}. Many cursors that want several pages each would only ever take
   * them from each other.
   */
  void awaitTurn(OutOfBudgetException cause, int attempt) {
    if (attempt == Lookup.MAX_ATTEMPTS) {
      throw cause;
    }
    if (hasTurn) {
      Thread.yield();
    } else {
      turns.lock();
      hasTurn = true;
    }
  }

  /** To be called at the end of each call that may have moved the cursor, by the same thread. */
  void endTurn() {
    if (hasTurn) {
      hasTurn = false;
      turns.unlock();
    }
  }

  /** Whether there is an overlay, which may change while the cursor stands. */
  boolean mayChange() {
    return overlay != null;
  }

  /** Whether the overlay has changed since {@link #noteChanges}. */
  boolean haveChanged() {
    return overlay != null && overlay.changes() != changes;
  }

  void noteChanges() {
    if (overlay != null) {
      changes = overlay.changes();
    }
  }

  /** What an entry says that is the newest version which the moment sees. */
  int ask(LeafCursor entry) {
    return isOwn() ? entry.answerAsOwn(probe) : entry.answer(aimedAt(entry));
  }

  /** Whether an entry that the moment sees says that there is no value, here or in older ones. */
  boolean isGone(LeafCursor entry) {
    int said = isOwn() ? entry.answerAsOwn(probe) : entry.answerAtAnyTime(aimedAt(entry));
    return said == Probe.DELETED;
  }

  /** Whether the entry that the sources stand on is the overlay's: it lives as long as that. */
  boolean isOwn() {
    return overlay != null && merged.source() == 0;
  }

  /** The probe, to which versions of an entry's key that are hidden say so. */
  private Probe aimedAt(LeafCursor entry) {
    HiddenKeys keys = hidden;
    if (overlay != null && overlay.hides(entry.key(), entry.keyLength())) {
      probe.above(Lsn.MAX);
    } else if (keys != null) {
      probe.above(keys.floor(entry));
    } else if (overlay != null) {
      probe.above(0);
    }
    return probe;
  }

  /**
   * Ends a stretch from the current entry on before what its entries may not be handed out without
   * a look at: what is not plain, the overlay, or where range deletes begin or end. The last move
   * was forward.
   *
   * @return whether there is a stretch
   */
  boolean bound(Stretch stretch) {
    if (overlay != null && (isOwn() || overlay.hidesKeys())) {
      return false;
    }
    HiddenKeys keys = hidden;
    if (keys != null) {
      keys.bound(stretch, merged.leaf());
    }
    merged.end(stretch);
    return true;
  }

  /** What the overlay has is newer than all in the tree, though it has the LSN read at. */
  long lsnOf(LeafCursor entry) {
    return isOwn() ? Lsn.MAX : entry.lsn();
  }

  /** Where range deletes hide many keys in a row: goes on behind them; whether it moved. */
  boolean passHidden() {
    HiddenKeys keys = hidden;
    return keys != null && keys.passForward(merged);
  }

  /** As {@link #passHidden}, going back. */
  void passHiddenBackward() {
    HiddenKeys keys = hidden;
    if (keys != null && merged.valid()) {
      keys.passBackward(merged);
    }
  }
}
