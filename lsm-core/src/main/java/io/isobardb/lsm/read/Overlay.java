package io.isobardb.lsm.read;

import io.isobardb.lsm.entry.LeafCursor;

/**
 * Entries that go before all others of their keys for one reader, and may change while it reads.
 */
public interface Overlay {
  /**
   * A cursor over the entries.
   *
   * @param lsn what they all are to have as theirs
   * @param now when they all count as written
   */
  LeafCursor cursor(long lsn, long now);

  /** Whether there are keys of which it hides what others wrote. */
  boolean hidesKeys();

  /** Whether it hides what others wrote of a key. */
  boolean hides(byte[] key, int length);

  /** Counts the changes. */
  long changes();
}
