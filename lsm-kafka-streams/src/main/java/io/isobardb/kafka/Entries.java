package io.isobardb.kafka;

import io.isobardb.lsm.Cursor;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A position among the entries of a state store, in one direction, as of one moment: those of its
 * tree, and before them those that a transaction holds back.
 *
 * <p>Thread rule: one thread at a time, save {@link #close}, which any may call.
 */
final class Entries implements AutoCloseable {
  private final Cursor cursor;

  /** What is held back, with {@link StateTree#DELETED} for what is gone; null if nothing is. */
  private final @Nullable HeldWrites held;

  private final byte @Nullable [] from;
  private final byte @Nullable [] to;
  private final boolean forward;

  private byte @Nullable [] cursorKey;
  private HeldWrites.@Nullable Entry heldEntry;
  private boolean isHeld;

  /**
   * A position in a range.
   *
   * @param cursor over the range in the tree
   * @param held writes of any keys
   * @param from the first key of the range, null for no bound
   * @param to the key behind its last one, null for no bound
   */
  Entries(
      Cursor cursor,
      @Nullable HeldWrites held,
      byte @Nullable [] from,
      byte @Nullable [] to,
      boolean forward) {
    this.cursor = cursor;
    this.held = held;
    this.from = from;
    this.to = to;
    this.forward = forward;
  }

  /** Moves to the first entry in its direction; whether there is one. */
  boolean first() {
    read(forward ? cursor.first() : cursor.last());
    if (held != null) {
      heldEntry = forward ? heldFrom(held, from) : heldBefore(held, to);
    }
    return settle();
  }

  /** Moves to the first entry not before {@code bound}, or, backward, the last before it. */
  boolean seek(byte[] bound) {
    read(forward ? cursor.seek(bound) : cursor.seekBefore(bound));
    if (held != null) {
      heldEntry =
          forward
              ? heldFrom(held, from != null && compare(bound, from) < 0 ? from : bound)
              : heldBefore(held, to != null && compare(bound, to) > 0 ? to : bound);
    }
    return settle();
  }

  /** Moves on; whether there is one more. */
  boolean next() {
    HeldWrites.Entry at = heldEntry;
    if (isHeld && at != null) {
      heldEntry = afterHeld(at);
    } else {
      step();
    }
    return settle();
  }

  private void step() {
    read(forward ? cursor.next() : cursor.previous());
  }

  private void read(boolean valid) {
    cursorKey = valid ? cursor.key() : null;
  }

  private static int compare(byte[] one, byte[] other) {
    return Arrays.compareUnsigned(one, other);
  }

  private HeldWrites.@Nullable Entry afterHeld(HeldWrites.Entry at) {
    HeldWrites writes = Objects.requireNonNull(held);
    return inRange(forward ? writes.after(at.key(), false) : writes.before(at.key()));
  }

  private HeldWrites.@Nullable Entry heldFrom(HeldWrites writes, byte @Nullable [] bound) {
    return inRange(bound == null ? writes.first() : writes.after(bound, true));
  }

  private HeldWrites.@Nullable Entry heldBefore(HeldWrites writes, byte @Nullable [] bound) {
    return inRange(bound == null ? writes.last() : writes.before(bound));
  }

  private HeldWrites.@Nullable Entry inRange(HeldWrites.@Nullable Entry found) {
    if (found == null
        || from != null && compare(found.key(), from) < 0
        || to != null && compare(found.key(), to) >= 0) {
      return null;
    }
    return found;
  }

  /** Decides which of the two is next. */
  private boolean settle() {
    while (true) {
      HeldWrites.Entry entry = heldEntry;
      byte[] key = cursorKey;
      isHeld = false;
      if (entry == null) {
        return key != null;
      }
      int order = key == null ? -1 : compare(entry.key(), key);
      if (key != null && order == 0) {
        step();
      } else if (order != 0 && order < 0 != forward && key != null) {
        return true;
      }
      if (entry.value() != StateTree.DELETED) {
        isHeld = true;
        return true;
      }
      heldEntry = afterHeld(entry);
    }
  }

  /** The key it stands on. */
  byte[] key() {
    return isHeld
        ? Objects.requireNonNull(heldEntry).key()
        : Objects.requireNonNull(cursorKey, "no entry");
  }

  byte[] value() {
    return isHeld ? Objects.requireNonNull(heldEntry).value() : cursor.value();
  }

  @Override
  public void close() {
    cursor.close();
  }
}
