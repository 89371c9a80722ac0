package io.isobardb.lsm.component;

import static io.isobardb.lsm.component.ActiveNodes.ENTRY_KEY;

import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.entry.LeafCursor;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.PagePool;
import java.nio.ByteBuffer;

/** A cursor over entries as the leaves of an {@link ActiveTree} hold them. */
abstract class LeafEntryCursor extends LeafCursor {
  final PagePool pool;

  /** Where in {@link #memory} the current entry starts. */
  int entry;

  LeafEntryCursor(PagePool pool) {
    this.pool = pool;
  }

  /** Where the current entry is read, be it a copy. */
  abstract Memory memory();

  /** The leaf that the current entry lies in. */
  abstract int page();

  /** Where in the leaf it starts. */
  abstract int offset();

  /** Takes up the entry at {@link #entry}. */
  final void load() {
    Memory memory = memory();
    int keyLength = ActiveNodes.keyLength(memory, entry);
    key = key.length >= keyLength ? key : new byte[2 * keyLength];
    memory.get(entry + ENTRY_KEY, key, 0, keyLength);
    entry(keyLength, ActiveNodes.lsn(memory, entry), ActiveNodes.kind(memory, entry));
  }

  @Override
  public final int valueLength() {
    if (Kind.isOverflow(kind())) {
      return memory().getInt(valueOffset() + 4);
    }
    return valueLength(ActiveNodes.valueLength(memory(), entry));
  }

  @Override
  protected final long storedExpiry() {
    int end = valueOffset() + ActiveNodes.valueLength(memory(), entry);
    return expiryBefore(memory(), end);
  }

  @Override
  public final Memory valueMemory() {
    return memory();
  }

  @Override
  public final int valueOffset() {
    return entry + ENTRY_KEY + keyLength();
  }

  @Override
  public final void copyValue(int from, Memory target, int targetOffset, int length) {
    if (Kind.isOverflow(kind())) {
      int first = memory().getInt(valueOffset());
      OverflowChain.copy(pool, first, from, target, targetOffset, length);
    } else {
      target.copyFrom(targetOffset, memory(), valueOffset() + from, length);
    }
  }

  @Override
  public final void copyValue(int from, ByteBuffer target, int targetOffset, int length) {
    if (Kind.isOverflow(kind())) {
      int first = memory().getInt(valueOffset());
      OverflowChain.copy(pool, first, from, target, targetOffset, length);
    } else {
      memory().get(valueOffset() + from, target, targetOffset, length);
    }
  }

  @Override
  public final void copyValue(int from, byte[] target, int targetOffset, int length) {
    if (Kind.isOverflow(kind())) {
      copyValue(from, ByteBuffer.wrap(target), targetOffset, length);
    } else {
      memory().get(valueOffset() + from, target, targetOffset, length);
    }
  }
}
