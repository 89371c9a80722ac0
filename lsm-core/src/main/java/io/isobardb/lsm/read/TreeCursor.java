package io.isobardb.lsm.read;

import io.isobardb.lsm.commit.Moment;
import io.isobardb.lsm.entry.EntryCursor;
import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.entry.LeafCursor;
import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.entry.MergingCursor;
import io.isobardb.lsm.entry.Probe;
import io.isobardb.lsm.entry.RangeDeletes;
import io.isobardb.lsm.error.MergeException;
import io.isobardb.lsm.operand.OperandChain;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.option.MergeOperator;
import io.isobardb.lsm.state.RunCursor;
import io.isobardb.lsm.state.Table;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.state.TreeState;
import io.isobardb.memory.pool.OutOfBudgetException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.locks.Lock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The entries of a tree as one snapshot sees them: of each key the newest version, no delete
 * markers.
 *
 * <p>It keeps the state it was opened on only while that is current: every so many steps it looks
 * whether the tree has moved on, and if so carries on from its key in the new state, so that a long
 * scan does not hold old memory and files back. One that stands still is told to {@link #letGo}.
 *
 * <p>A move that fails leaves it on no entry, save one that comes to a key whose operands can't be
 * merged: it stands there, and the next move goes on. Thread rule: one thread at a time.
 */
public final class TreeCursor implements AutoCloseable {
  private static final int STEPS_BEFORE_LOOK = 256;

  private final TreeHandle tree;
  private final KeyOrder order;
  private final boolean bytes;
  private final @Nullable MergeOperator operator;
  private final Function<Table, EntryCursor> opener;
  private final Lock turns;
  private boolean hasTurn;
  private final @Nullable Overlay overlay;
  private final long lsn;
  private final long now;
  private final Probe probe = new Probe(0);

  private final byte @Nullable [] from;
  private final byte @Nullable [] to;

  private @Nullable TreeState state;
  private MergingCursor merged;
  private boolean valid;
  private int steps;

  /** The range deletes of the state that it is on, or null. */
  private @Nullable HiddenKeys hidden;

  /** In memory, of the state that it is on. */
  private int runs;

  private byte[] key = new byte[64];
  private int keyLength;
  private long keyHead;

  /** Whether the sources stand before all versions of the current key, after going back. */
  private boolean before;

  /** Then the current value, unless it is an overflow value. */
  private final SavedValue saved = new SavedValue();

  /** Whether {@link #saved} was made of operands; the sources stand behind them. */
  private boolean folded;

  /** Whether a step was cut off while it read the operands of the key seen last. */
  private boolean folding;

  /** Made when they are first needed: most trees have no operands. */
  private @Nullable OperandChain chain;

  private @Nullable PassedVersions passed;

  /** The overlay's changes up to the last move. */
  private long changes;

  /** The key that a step starts from. */
  private byte[] origin = new byte[64];

  /**
   * @param opener gives a cursor over all of a table
   * @param turns held by the cursor whose turn it is when there are not enough pages for all
   * @param overlay what goes before the tree's own entries, or null
   * @param at what to read at; registered with the snapshots until this is closed
   * @param bounds the keys that count
   */
  public TreeCursor(
      TreeHandle tree,
      Function<Table, EntryCursor> opener,
      Lock turns,
      @Nullable Overlay overlay,
      Moment at,
      Bounds bounds) {
    this.tree = tree;
    this.order = tree.order();
    this.bytes = order.isBytes();
    this.operator = tree.settings().operator();
    this.opener = opener;
    this.turns = turns;
    this.overlay = overlay;
    this.lsn = at.lsn();
    this.now = at.millis();
    probe.at(lsn, at.clock());
    this.from = bounds.from();
    this.to = bounds.to();
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
      sources[first] = opener.apply(opened.active());
    } catch (RuntimeException | Error e) {
      tree.states().release(opened);
      throw e;
    }
    for (int run = 0; run < opened.runCount(); run++) {
      sources[first + 1 + run] = new RunCursor(order, opened.run(run), opener);
    }
    RangeDeletes deletes = opened.ranges().list();
    hidden = deletes == null ? null : new HiddenKeys(deletes, lsn);
    probe.above(0);
    state = opened;
    steps = 0;
    runs = opened.mergeableRuns();
    return new MergingCursor(order, sources);
  }

  private void shut() {
    before = false;
    TreeState held = state;
    if (held != null) {
      state = null;
      countSteps();
      merged.close();
      tree.states().release(held);
    }
  }

  /**
   * Gives up what it holds if that is no longer the tree's current state: what it alone holds can
   * be freed. The cursor stays where it is and carries on, when it is used again, in the state of
   * then.
   *
   * @param pages also if the state is the current one, for the pages it has pinned
   */
  public void letGo(boolean pages) {
    if (pages || state != tree.states().current()) {
      shut();
    }
  }

  /**
   * After a call that found no page: gives all pages back, so that others can go on. It tries again
   * when its turn has come, which lasts until {@link #endTurn}: many who want several pages each
   * would only ever take them from each other.
   */
  private void backOff(OutOfBudgetException cause, int attempt) {
    shut();
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

  /** To be called at the end of each call that may have moved it, by the same thread. */
  public void endTurn() {
    if (hasTurn) {
      hasTurn = false;
      turns.unlock();
    }
  }

  /** Before the sources are placed somewhere: takes up a state if it was let go. */
  private void takeUpToPlace() {
    if (state == null) {
      merged = open();
    }
    tree.readLoss().seek(runs);
  }

  /** Makes the sources stand on the current entry again. */
  private void stand() {
    checkValid();
    for (int attempt = 1; state == null || before || overlayChanged(); attempt++) {
      boolean found = false;
      try {
        found = find();
        if (!found) {
          throw new IllegalStateException("the entry was deleted after the cursor came to it");
        }
      } catch (OutOfBudgetException e) {
        backOff(e, attempt);
      } finally {
        if (!found) {
          // The sources stand elsewhere: the next call has to place them anew.
          shut();
        }
      }
    }
  }

  /** Places the sources on the current key; whether the snapshot still sees it. */
  private boolean find() {
    takeUpToPlace();
    merged.seek(key, 0, keyLength, lsn);
    before = false;
    folded = false;
    noteChanges();
    if (!merged.valid() || !isKey(merged.leaf())) {
      return false;
    }
    int said = ask(merged.leaf());
    if (said != Probe.OPERAND) {
      return said != Probe.DELETED;
    }
    byte[] value = fold();
    if (value != null) {
      saveFolded(value);
    }
    return value != null;
  }

  public boolean valid() {
    return valid;
  }

  /** Moves to the first key within the bounds. */
  public boolean first() {
    return from == null ? place(true, null, 0, 0, 0) : place(true, from, 0, from.length, Lsn.MAX);
  }

  /** Moves to the last key within the bounds. */
  public boolean last() {
    return to == null ? place(false, null, 0, 0, 0) : place(false, to, 0, to.length, Lsn.MAX);
  }

  /** Moves to the first key that is not before {@code target}. */
  public boolean seek(byte[] target, int offset, int length) {
    return from != null && order.compare(target, offset, length, from, 0, from.length) < 0
        ? first()
        : place(true, target, offset, length, Lsn.MAX);
  }

  /** Moves to the last key before {@code target}. */
  public boolean seekBefore(byte[] target, int offset, int length) {
    return to != null && order.compare(target, offset, length, to, 0, to.length) > 0
        ? last()
        : place(false, target, offset, length, Lsn.MAX);
  }

  /**
   * Places all sources, and moves to the first key from there on that the snapshot sees.
   *
   * @param at where to: forward not before this key and LSN, back before this key; null for the end
   *     that a move in this direction starts from
   */
  private boolean place(boolean forward, byte @Nullable [] at, int offset, int length, long atLsn) {
    valid = false;
    for (int attempt = 1; ; attempt++) {
      try {
        takeUpToPlace();
        if (forward) {
          if (at == null) {
            merged.first();
          } else {
            merged.seek(at, offset, length, atLsn);
          }
          return settle(false);
        }
        if (at == null) {
          merged.last();
        } else {
          merged.seekBefore(at, offset, length);
        }
        return settleBackward();
      } catch (OutOfBudgetException e) {
        backOff(e, attempt);
      }
    }
  }

  /** Moves on by one key. */
  public boolean next() {
    checkValid();
    boolean elsewhere = renew() || before || overlayChanged();
    valid = false;
    folding = false;
    if (!elsewhere) {
      try {
        if (!folded) {
          merged.next();
        }
        return settle(true);
      } catch (OutOfBudgetException e) {
        // Wherever it came to: all up to the key seen last is passed over, unless it was to be
        // read.
        backOff(e, 1);
      }
    }
    int length = noteOrigin();
    return place(true, origin, 0, length, folding ? Lsn.MAX : -1);
  }

  /** Moves back by one key. */
  public boolean previous() {
    checkValid();
    renew();
    valid = false;
    int length = noteOrigin();
    if (before && !overlayChanged()) {
      try {
        return settleBackward();
      } catch (OutOfBudgetException e) {
        backOff(e, 1);
      }
    }
    return seekBefore(origin, 0, length);
  }

  /** Keeps the key to step from, which looking for the next one overwrites; gives its length. */
  private int noteOrigin() {
    if (origin.length < keyLength) {
      origin = new byte[key.length];
    }
    System.arraycopy(key, 0, origin, 0, keyLength);
    return keyLength;
  }

  private void countSteps() {
    tree.readLoss().steps(steps, runs);
    tree.counts().stepped(steps);
    steps = 0;
  }

  /** Lets its state go if it is time to; whether the sources stand nowhere. */
  private boolean renew() {
    if (++steps >= STEPS_BEFORE_LOOK) {
      countSteps();
      letGo(false);
    }
    return state == null;
  }

  /**
   * Goes forward to the next entry that the snapshot sees.
   *
   * @param skip whether entries with the current key are to be passed over
   */
  private boolean settle(boolean skip) {
    before = false;
    folded = false;
    noteChanges();
    boolean passing = skip;
    while (merged.valid()) {
      LeafCursor entry = merged.leaf();
      if (entry.lsn() <= lsn && !(passing && isKey(entry))) {
        remember(entry);
        if (to != null && !isBelow(to)) {
          return valid = false;
        }
        int said = ask(entry);
        if (said != Probe.DELETED) {
          if (said != Probe.OPERAND) {
            return valid = true;
          }
          folding = true;
          byte[] value = fold();
          folding = false;
          if (value != null) {
            saveFolded(value);
            return valid = true;
          }
          passing = true;
          continue;
        }
        passing = true;
        if (hidden != null && hidden.passForward(merged)) {
          continue;
        }
      }
      merged.next();
    }
    return valid = false;
  }

  /** What an entry says that is the newest version which the snapshot sees. */
  private int ask(LeafCursor entry) {
    return isOwn() ? entry.answerAsOwn(probe) : entry.answer(aimedAt(entry));
  }

  /** Whether an entry that the snapshot sees says that there is no value, here or in older ones. */
  private boolean isGone(LeafCursor entry) {
    int said = isOwn() ? entry.answerAsOwn(probe) : entry.answerAtAnyTime(aimedAt(entry));
    return said == Probe.DELETED;
  }

  /** Whether the entry that the sources stand on is the overlay's: it lives as long as that. */
  private boolean isOwn() {
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
   * Goes back, from the oldest version of a key or from none, to the last key that the snapshot
   * sees. Of a key older versions come first, so the entry it sees is known only when all have
   * passed: its value is kept.
   */
  private boolean settleBackward() {
    folded = false;
    noteChanges();
    while (merged.valid()) {
      remember(merged.leaf());
      byte[] start = from;
      if (start != null && order.compare(key, 0, keyLength, start, 0, start.length) < 0) {
        break;
      }
      boolean found = false;
      LeafCursor entry = merged.leaf();
      do {
        if (entry.lsn() <= lsn) {
          found = operator == null ? ask(entry) != Probe.DELETED : !isGone(entry);
          if (operator != null) {
            passed().pass(entry, lsnOf(entry), found);
          } else if (found) {
            saved.save(entry);
          }
        }
        merged.previous();
      } while (merged.valid() && isKey(entry = merged.leaf()));
      if (operator != null) {
        found = savePassed();
      }
      if (found) {
        before = true;
        return valid = true;
      }
      if (hidden != null && merged.valid()) {
        hidden.passBackward(merged);
      }
    }
    before = false;
    return valid = false;
  }

  /** Merges the operands from the current entry on; the sources stand behind them then. */
  private byte @Nullable [] fold() {
    OperandChain versions = chain();
    versions.clear();
    do {
      if (isGone(merged.leaf())) {
        versions.end();
      } else {
        versions.add(merged.leaf(), lsnOf(merged.leaf()));
      }
    } while (!versions.isComplete() && merged.next() && isKey(merged.leaf()));
    return merge();
  }

  private OperandChain chain() {
    OperandChain made = chain;
    if (made == null) {
      made = new OperandChain();
      chain = made;
    }
    return made;
  }

  private PassedVersions passed() {
    PassedVersions made = passed;
    if (made == null) {
      made = new PassedVersions();
      passed = made;
    }
    return made;
  }

  /** The chain's value. If the operator fails, a move has come to the key all the same. */
  private byte @Nullable [] merge() {
    try {
      return tree.fold(chain(), Arrays.copyOf(key, keyLength));
    } catch (MergeException e) {
      shut();
      folded = false;
      valid = true;
      throw e;
    }
  }

  /** What the overlay has is newer than all in the tree, though it has the LSN read at. */
  private long lsnOf(LeafCursor entry) {
    return isOwn() ? Lsn.MAX : entry.lsn();
  }

  /** Having gone back over all versions of the current key, keeps its value, if it has one. */
  private boolean savePassed() {
    OperandChain versions = chain();
    passed().moveTo(versions);
    boolean own = versions.newestLsn() == Lsn.MAX;
    byte[] value = versions.isEmpty() || versions.expiry() <= now && !own ? null : merge();
    if (value != null) {
      saveFolded(value);
    }
    return value != null;
  }

  private void saveFolded(byte[] value) {
    saved.save(value, chain().expiry());
    folded = true;
  }

  private boolean isBelow(byte[] bound) {
    return order.compare(key, 0, keyLength, bound, 0, bound.length) < 0;
  }

  private boolean isKey(LeafCursor entry) {
    return entry.keyLength() == keyLength
        && (!bytes || entry.head() == keyHead)
        && order.compare(key, 0, keyLength, entry.key(), 0, keyLength) == 0;
  }

  private void remember(LeafCursor entry) {
    keyHead = entry.head();
    keyLength = entry.keyLength();
    if (key.length < keyLength) {
      key = new byte[Math.max(keyLength, 2 * key.length)];
    }
    System.arraycopy(entry.key(), 0, key, 0, keyLength);
  }

  private boolean overlayChanged() {
    return overlay != null && overlay.changes() != changes;
  }

  private void noteChanges() {
    if (overlay != null) {
      changes = overlay.changes();
    }
  }

  private void checkValid() {
    if (!valid) {
      throw new IllegalStateException("the cursor does not stand on an entry");
    }
  }

  /** The array that holds the current key from index 0 on; owned by the cursor. */
  public byte[] key() {
    checkValid();
    return key;
  }

  public int keyLength() {
    checkValid();
    return keyLength;
  }

  public int valueLength() {
    if (isSaved()) {
      return saved.length();
    }
    stand();
    return folded ? saved.length() : merged.valueLength();
  }

  /** When the current entry expires, or {@link io.isobardb.lsm.entry.Expiry#NEVER}. */
  public long expiry() {
    if (isSaved()) {
      return saved.expiry();
    }
    stand();
    return folded ? saved.expiry() : merged.leaf().expiry();
  }

  /** Whether the value is at hand without looking where the sources stand. */
  private boolean isSaved() {
    checkValid();
    return (before || folded) && saved.isThere() && !overlayChanged();
  }

  /** Copies the value into {@code target} at the absolute index {@code at}. */
  public void copyValue(ByteBuffer target, int at) {
    if (isSaved()) {
      target.put(at, saved.bytes(), 0, saved.length());
      return;
    }
    for (int attempt = 1; ; attempt++) {
      stand();
      if (folded) {
        target.put(at, saved.bytes(), 0, saved.length());
        return;
      }
      try {
        merged.copyValue(0, target, at, merged.valueLength());
        return;
      } catch (OutOfBudgetException e) {
        backOff(e, attempt);
      }
    }
  }

  /** Copies the value into {@code target}, which is as long as the value. */
  public void copyValue(byte[] target) {
    if (isSaved()) {
      System.arraycopy(saved.bytes(), 0, target, 0, saved.length());
      return;
    }
    stand();
    if (folded) {
      System.arraycopy(saved.bytes(), 0, target, 0, saved.length());
    } else if (merged.kind() == Kind.PUT) {
      merged.leaf().copyValue(0, target, 0, target.length);
    } else {
      copyValue(ByteBuffer.wrap(target), 0);
    }
  }

  /** Gives up what it holds. Its position stays, for a thread that reads the key meanwhile. */
  @Override
  public void close() {
    shut();
  }
}
