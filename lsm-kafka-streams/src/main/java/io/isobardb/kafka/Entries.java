package io.isobardb.kafka;

import io.isobardb.lsm.Cursor;
import java.util.Arrays;
import java.util.Map;
import java.util.NavigableMap;
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
  private final @Nullable NavigableMap<byte[], byte[]> held;

  private final boolean forward;

  private byte @Nullable [] cursorKey;
  private Map.@Nullable Entry<byte[], byte[]> heldEntry;
  private boolean isHeld;

  Entries(Cursor cursor, @Nullable NavigableMap<byte[], byte[]> held, boolean forward) {
    this.cursor = cursor;
    this.held = held;
    this.forward = forward;
  }

  /** Moves to the first entry in its direction; whether there is one. */
  boolean first() {
    read(forward ? cursor.first() : cursor.last());
    if (held != null) {
      heldEntry = forward ? held.firstEntry() : held.lastEntry();
    }
    return settle();
  }

  /** Moves to the first entry not before {@code bound}, or, backward, the last before it. */
  boolean seek(byte[] bound) {
    read(forward ? cursor.seek(bound) : cursor.seekBefore(bound));
    if (held != null) {
      heldEntry = forward ? held.ceilingEntry(bound) : held.lowerEntry(bound);
    }
    return settle();
  }

  /** Moves on; whether there is one more. */
  boolean next() {
    Map.Entry<byte[], byte[]> from = heldEntry;
    if (isHeld && from != null) {
      heldEntry = after(from);
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

  private Map.@Nullable Entry<byte[], byte[]> after(Map.Entry<byte[], byte[]> entry) {
    NavigableMap<byte[], byte[]> from = Objects.requireNonNull(held);
    return forward ? from.higherEntry(entry.getKey()) : from.lowerEntry(entry.getKey());
  }

  /** Decides which of the two is next. */
  private boolean settle() {
    while (true) {
      Map.Entry<byte[], byte[]> entry = heldEntry;
      byte[] key = cursorKey;
      isHeld = false;
      if (entry == null) {
        return key != null;
      }
      int order = key == null ? -1 : Arrays.compareUnsigned(entry.getKey(), key);
      if (key != null && order == 0) {
        step();
      } else if (order != 0 && order < 0 != forward && key != null) {
        return true;
      }
      if (entry.getValue() != StateTree.DELETED) {
        isHeld = true;
        return true;
      }
      heldEntry = after(entry);
    }
  }

  /** The key it stands on. */
  byte[] key() {
    return isHeld
        ? Objects.requireNonNull(heldEntry).getKey()
        : Objects.requireNonNull(cursorKey, "no entry");
  }

  byte[] value() {
    return isHeld ? Objects.requireNonNull(heldEntry).getValue() : cursor.value();
  }

  @Override
  public void close() {
    cursor.close();
  }
}
