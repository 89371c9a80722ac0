package io.isobardb.lsm.sstable;

import io.isobardb.memory.page.Memory;

/** A value that is copied piece by piece, wherever it lies: {@code EntryCursor::copyValue}. */
@FunctionalInterface
public interface ValueSource {
  /** Copies {@code length} bytes of the value, from its byte {@code from} on. */
  void copy(int from, Memory target, int targetOffset, int length);
}
