package io.isobardb.lsm.read;

import io.isobardb.lsm.EntryReader;
import io.isobardb.lsm.entry.EntryCursor;
import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.entry.LeafCursor;
import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.entry.MergingCursor;
import io.isobardb.lsm.entry.Moment;
import io.isobardb.lsm.entry.Probe;
import io.isobardb.lsm.entry.Stretch;
import io.isobardb.lsm.error.MergeException;
import io.isobardb.lsm.expiry.Expiry;
import io.isobardb.lsm.operand.OperandChain;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.option.MergeOperator;
import io.isobardb.lsm.state.Table;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.memory.page.Words;
import io.isobardb.memory.pool.OutOfBudgetException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.concurrent.locks.Lock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The entries of a tree as one snapshot sees them: of each key the newest version, no delete
 * markers.
 *
 * <p>When its {@link CursorSources} were given up, since the tree has moved on, it carries on from
 * its key in the new state. A cursor that stands still is told to {@link #letGo}.
 *
 * <p>A move that fails leaves it on no entry, save one that comes to a key whose operands can't be
 * merged: it stands there, and the next move goes on. Thread rule: one thread at a time.
 */
public final class TreeCursor implements AutoCloseable {
  /** Where the sources stand, if they are held. */
  private enum Stand {
    /** On the current entry. */
    ON,
    /** Before all versions of the current key, after going back. */
    BEFORE,
    /** Behind the versions that the current value was made of. */
    BEHIND
  }

  /** All versions of the key seen last are passed. */
  private static final long PASSED = -1;

  /** Entries that are handed out before it looks whether the tree has moved on. */
  private static final int MOST_AT_ONCE = 256;

  private static final byte[] NO_KEY = {};
  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);
  private static final ByteBuffer NOTHING_VIEWED = NOTHING.asReadOnlyBuffer();

  private final TreeHandle tree;
  private final KeyOrder order;
  private final boolean bytes;
  private final @Nullable MergeOperator operator;
  private final CursorSources sources;
  private final long lsn;
  private final long now;
  private final byte @Nullable [] from;
  private final byte @Nullable [] to;

  private boolean valid;
  private Stand stand = Stand.ON;

  /** How far all sources may go on from the current entry, if {@link #inStretch} is set. */
  private final Stretch stretch;

  /** The head of {@link #to}. */
  private final long toHead;

  /** Whether a stretch has been begun, and the sources have moved within it since. */
  private boolean inStretch;

  /**
   * The current key: {@link #ownKey}, or the array of the leaf that the sources stand on. Nobody
   * changes that once the sources are given up.
   */
  private byte[] key;

  private byte[] ownKey = new byte[64];
  private int keyLength;
  private long keyHead;

  /** The current value, if the sources do not stand on it, and it is no overflow value. */
  private final SavedValue saved = new SavedValue();

  /** The LSN of the key seen last from which a step that was cut off goes on. */
  private long cutOffAt = PASSED;

  /** Made when they are first needed: most trees have no operands. */
  private @Nullable OperandChain chain;

  private @Nullable PassedVersions passed;

  /** The key that a step starts from; made when it is first needed. */
  private byte[] origin = NO_KEY;

  /** For values that {@link #forEach} can't show where they lie. */
  private ByteBuffer scratch = NOTHING;

  private ByteBuffer scratchView = NOTHING_VIEWED;

  /** For keys of its own. */
  private byte @Nullable [] keyViewed;

  private ByteBuffer keyView = NOTHING;

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
    this.sources = new CursorSources(tree, opener, turns, overlay, at, bounds.to());
    this.lsn = at.lsn();
    this.now = at.millis();
    this.from = bounds.from();
    this.to = bounds.to();
    this.toHead = to == null ? 0 : Words.head(to, 0, to.length);
    this.stretch = new Stretch(order, at);
    this.key = ownKey;
  }

  private void shut() {
    inStretch = false;
    if (stand == Stand.BEFORE) {
      stand = Stand.ON;
    }
    sources.shut();
  }

  /**
   * Gives up what it holds if that is no longer the tree's current state: what it alone holds can
   * be freed. The cursor stays where it is and carries on, when it is used again, in the state of
   * then.
   *
   * @param pages also if the state is the current one, for the pages it has pinned
   */
  public void letGo(boolean pages) {
    if (pages || sources.isOutdated()) {
      shut();
    }
  }

  /** After a call that found no page: gives all pages back, so that others can go on. */
  private void backOff(OutOfBudgetException cause, int attempt) {
    shut();
    sources.awaitTurn(cause, attempt);
  }

  /** To be called at the end of each call that may have moved it, by the same thread. */
  public void endTurn() {
    sources.endTurn();
  }

  /** Makes the sources stand on the current entry again. */
  private void stand() {
    checkValid();
    for (int attempt = 1; !standsOnIt(); attempt++) {
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

  private boolean standsOnIt() {
    return sources.isHeld() && stand != Stand.BEFORE && !sources.haveChanged();
  }

  /** Places the sources on the current key; whether the snapshot still sees it. */
  private boolean find() {
    keepKey();
    inStretch = false;
    MergingCursor merged = sources.seek(key, 0, keyLength, lsn);
    stand = Stand.ON;
    sources.noteChanges();
    if (!merged.valid() || !isKey(merged.leaf())) {
      return false;
    }
    int said = sources.ask(merged.leaf());
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

  /** Whether it shows a transaction's own writes, too. */
  public boolean isOfTransaction() {
    return sources.mayChange();
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
        if (forward) {
          if (at == null) {
            sources.toPlace().first();
          } else {
            sources.seek(at, offset, length, atLsn);
          }
          return settle(false);
        }
        if (at == null) {
          sources.toPlace().last();
        } else {
          sources.seekBefore(at, offset, length);
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
    renew();
    return standsOnIt() && stepWithin() || step();
  }

  /** Moves on by one key, whatever the leaf in front has. */
  private boolean step() {
    boolean elsewhere = !standsOnIt();
    keepKey();
    valid = false;
    cutOffAt = PASSED;
    if (!elsewhere) {
      try {
        if (stand != Stand.BEHIND) {
          sources.merged().nextKey();
        }
        return settle(true);
      } catch (OutOfBudgetException e) {
        // Wherever it came to: all up to the key seen last is passed over, unless it was to be
        // read.
        backOff(e, 1);
      }
    }
    int length = noteOrigin();
    return place(true, origin, 0, length, cutOffAt);
  }

  /** Moves to the next key if that is within a stretch; whether it moved. */
  private boolean stepWithin() {
    if (!hasStretch() || !sources.merged().nextWithin(stretch)) {
      return false;
    }
    show(sources.merged().leaf());
    return true;
  }

  /** Whether there is a stretch; begins one if need be. The sources stand on the current entry. */
  private boolean hasStretch() {
    if (!inStretch && stand == Stand.ON) {
      inStretch = begin();
    }
    return inStretch;
  }

  /** Begins a stretch from the current entry on; whether leaves know where it ends. */
  private boolean begin() {
    stretch.begin();
    if (to != null) {
      stretch.endBefore(to, to.length, toHead);
    }
    return sources.bound(stretch) && stretch.isKnown();
  }

  /** Moves back by one key. */
  public boolean previous() {
    checkValid();
    renew();
    keepKey();
    valid = false;
    int length = noteOrigin();
    if (stand == Stand.BEFORE && !sources.haveChanged()) {
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

  /** Gives the sources up if it is time to. */
  private void renew() {
    if (sources.step()) {
      letGo(false);
    }
  }

  /**
   * Goes forward to the next entry that the snapshot sees.
   *
   * @param skip whether entries with the current key are to be passed over
   */
  private boolean settle(boolean skip) {
    inStretch = false;
    stand = Stand.ON;
    sources.noteChanges();
    MergingCursor merged = sources.merged();
    boolean passing = skip;
    while (merged.valid()) {
      LeafCursor entry = merged.leaf();
      if (entry.lsn() > lsn) {
        merged.next();
        continue;
      }
      if (!(passing && isKey(entry))) {
        if (!isInBounds(entry)) {
          return valid = false;
        }
        int said = sources.ask(entry);
        if (said != Probe.DELETED && said != Probe.OPERAND) {
          show(entry);
          return valid = true;
        }
        remember(entry);
        if (said != Probe.DELETED) {
          cutOffAt = Lsn.MAX;
          byte[] value = fold();
          cutOffAt = PASSED;
          if (value != null) {
            saveFolded(value);
            return valid = true;
          }
          passing = true;
          continue;
        }
        passing = true;
        if (sources.passHidden()) {
          continue;
        }
        if (Kind.isDelete(entry.kind())) {
          sources.countMarker();
        }
      }
      merged.nextKey();
    }
    return valid = false;
  }

  /**
   * Goes back, from the oldest version of a key or from none, to the last key that the snapshot
   * sees. Of a key older versions come first, so the entry it sees is known only when all have
   * passed: its value is kept.
   */
  private boolean settleBackward() {
    inStretch = false;
    sources.noteChanges();
    MergingCursor merged = sources.merged();
    while (merged.valid()) {
      remember(merged.leaf());
      byte[] start = from;
      if (start != null && order.compare(key, 0, keyLength, start, 0, start.length) < 0) {
        break;
      }
      if (passVersions(merged)) {
        stand = Stand.BEFORE;
        return valid = true;
      }
      sources.countMarker();
      sources.passHiddenBackward();
    }
    stand = Stand.ON;
    return valid = false;
  }

  /** Goes back over all versions of the current key; whether there is a value, which is kept. */
  private boolean passVersions(MergingCursor merged) {
    boolean found = false;
    LeafCursor entry = merged.leaf();
    if (operator != null) {
      passed().begin();
    }
    do {
      if (entry.lsn() <= lsn) {
        found = operator == null ? sources.ask(entry) != Probe.DELETED : !sources.isGone(entry);
        if (operator != null) {
          passed().pass(entry, sources.lsnOf(entry), found);
        } else if (found) {
          saved.save(entry);
        }
      }
      merged.previous();
    } while (merged.valid() && isKey(entry = merged.leaf()));
    return operator == null ? found : savePassed();
  }

  /** Merges the operands from the current entry on; the sources stand behind them then. */
  private byte @Nullable [] fold() {
    OperandChain versions = chain();
    MergingCursor merged = sources.merged();
    versions.clear();
    do {
      if (sources.isGone(merged.leaf())) {
        versions.end();
      } else {
        versions.add(merged.leaf(), sources.lsnOf(merged.leaf()));
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
      stand = Stand.ON;
      valid = true;
      throw e;
    }
  }

  /** Having gone back over all versions of the current key, keeps its value, if it has one. */
  private boolean savePassed() {
    OperandChain versions = chain();
    passed().moveTo(versions);
    boolean own = versions.newestLsn() == Lsn.MAX;
    boolean over = Expiry.isOver(versions.expiry(), now) && !own;
    byte[] value = versions.isEmpty() || over ? null : merge();
    if (value != null) {
      saveFolded(value);
    }
    return value != null;
  }

  private void saveFolded(byte[] value) {
    saved.save(value, chain().expiry());
    stand = Stand.BEHIND;
  }

  private boolean isInBounds(LeafCursor entry) {
    byte[] bound = to;
    if (bound == null) {
      return true;
    }
    if (bytes && entry.head() != toHead) {
      return Long.compareUnsigned(entry.head(), toHead) < 0;
    }
    return order.compare(entry.key(), 0, entry.keyLength(), bound, 0, bound.length) < 0;
  }

  private boolean isKey(LeafCursor entry) {
    return entry.keyLength() == keyLength
        && (!bytes || entry.head() == keyHead)
        && order.compare(key, 0, keyLength, entry.key(), 0, keyLength) == 0;
  }

  /** Makes an entry's key the current one, where it is. */
  private void show(LeafCursor entry) {
    keyHead = entry.head();
    keyLength = entry.keyLength();
    key = entry.key();
  }

  /** Makes an entry's key the current one, whatever becomes of the entry. */
  private void remember(LeafCursor entry) {
    show(entry);
    keepKey();
  }

  /** To be called before the sources move, if the current key counts afterwards. */
  private void keepKey() {
    if (key != ownKey) {
      if (ownKey.length < keyLength) {
        ownKey = new byte[Math.max(keyLength, 2 * ownKey.length)];
      }
      System.arraycopy(key, 0, ownKey, 0, keyLength);
      key = ownKey;
    }
  }

  private void checkValid() {
    if (!valid) {
      throw new IllegalStateException("the cursor does not stand on an entry");
    }
  }

  /**
   * Hands out the current entry and those that follow; then it stands on the first one that was not
   * handed out, or on the one at which the reader stopped or threw.
   *
   * @return how many
   */
  public long forEach(long limit, EntryReader reader) {
    long done = 0;
    while (valid && done < limit) {
      done++;
      if (!readCurrent(reader)) {
        break;
      }
      int most = (int) Math.min(limit - done, MOST_AT_ONCE);
      int read = readWithin(most, reader);
      done += read < 0 ? ~read : read;
      if (read < 0) {
        break;
      }
      renew();
      step();
    }
    return done;
  }

  /** Hands out the current entry; whether to go on. */
  private boolean readCurrent(EntryReader reader) {
    ByteBuffer value = valueView();
    ByteBuffer shown = keyView();
    sources.endTurn();
    try {
      return reader.read(shown, value);
    } finally {
      shown.limit(0);
      value.limit(0);
    }
  }

  /** Hands out what follows within a stretch; as {@link MergingCursor#readWithin} says. */
  private int readWithin(int most, EntryReader reader) {
    // While an overlay changes, so may what is behind the next entry.
    if (most == 0 || !standsOnIt() || sources.mayChange() || !hasStretch()) {
      return 0;
    }
    MergingCursor merged = sources.merged();
    try {
      int read = merged.readWithin(stretch, most, reader);
      sources.countSteps(read < 0 ? ~read : read);
      return read;
    } finally {
      show(merged.leaf());
    }
  }

  /** The current value, until the cursor moves. */
  private ByteBuffer valueView() {
    if (stand == Stand.ON && sources.isHeld() && !sources.haveChanged() && !sources.isOwn()) {
      LeafCursor leaf = sources.merged().leaf();
      if (Kind.isPut(leaf.kind())) {
        return leaf.valueView();
      }
    }
    int length = valueLength();
    if (scratch.capacity() < length) {
      scratch = ByteBuffer.allocate(Math.max(length, 2 * scratch.capacity()));
      scratchView = scratch.asReadOnlyBuffer();
    }
    copyValue(scratch, 0);
    return scratchView.limit(length).position(0).order(ByteOrder.BIG_ENDIAN);
  }

  /** The current key, until the cursor moves. */
  private ByteBuffer keyView() {
    if (stand == Stand.ON && sources.isHeld()) {
      LeafCursor leaf = sources.merged().leaf();
      if (leaf.key() == key) {
        return leaf.keyView();
      }
    }
    if (keyViewed != key) {
      keyViewed = key;
      keyView = ByteBuffer.wrap(key).asReadOnlyBuffer();
    }
    return keyView.limit(keyLength).position(0).order(ByteOrder.BIG_ENDIAN);
  }

  /** The array that holds the current key from index 0 on; not to be changed. */
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
    return stand == Stand.BEHIND ? saved.length() : sources.merged().valueLength();
  }

  /** When the current entry expires, or {@link io.isobardb.lsm.expiry.Expiry#NEVER}. */
  public long expiry() {
    if (isSaved()) {
      return saved.expiry();
    }
    stand();
    return stand == Stand.BEHIND ? saved.expiry() : sources.merged().leaf().expiry();
  }

  /** Whether the value is at hand without looking where the sources stand. */
  private boolean isSaved() {
    checkValid();
    return stand != Stand.ON && saved.isThere() && !sources.haveChanged();
  }

  /** Copies the value into {@code target} at the absolute index {@code at}. */
  public void copyValue(ByteBuffer target, int at) {
    if (isSaved()) {
      target.put(at, saved.bytes(), 0, saved.length());
      return;
    }
    for (int attempt = 1; ; attempt++) {
      stand();
      if (stand == Stand.BEHIND) {
        target.put(at, saved.bytes(), 0, saved.length());
        return;
      }
      MergingCursor merged = sources.merged();
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
    MergingCursor merged = sources.merged();
    if (stand == Stand.BEHIND) {
      System.arraycopy(saved.bytes(), 0, target, 0, saved.length());
    } else if (Kind.isPut(merged.kind())) {
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
