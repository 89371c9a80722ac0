package io.isobardb.lsm.entry;

/**
 * Positions in the store's one log, which are also the sequence numbers of entries.
 *
 * <p>An LSN is the byte position of a log record's start in the stream of all records ever written.
 * Records are aligned to {@link #ALIGNMENT} bytes. All entries of a batch carry their record's LSN;
 * a write to an unlogged tree takes the LSN of a marker record. A reader at LSN {@code s} sees the
 * entries with LSN {@code <= s}. The first record of a store has {@link #FIRST}; an entry merged
 * into the last level, where nobody can tell any more, may have {@link #ZERO}.
 */
public final class Lsn {
  /** Older than everything: what entries carry whose LSN no longer matters. */
  public static final long ZERO = 0;

  /** The LSN of a store's first record. */
  public static final long FIRST = 4096;

  /** Newer than everything: a reader of the newest version, whatever it is. */
  public static final long MAX = Long.MAX_VALUE;

  /** Log records start at multiples of this many bytes. */
  public static final int ALIGNMENT = 8;

  private Lsn() {}

  /** {@code bytes} rounded up to a multiple of {@link #ALIGNMENT}. */
  public static long align(long bytes) {
    return (bytes + ALIGNMENT - 1) & -ALIGNMENT;
  }
}
