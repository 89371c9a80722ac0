package io.isobardb.lsm.component;

import io.isobardb.lsm.entry.EntryCursor;
import io.isobardb.lsm.entry.Probe;
import io.isobardb.memory.stats.Purpose;
import org.jspecify.annotations.Nullable;

/**
 * Entries in write memory that lie where writers put them: an {@link ActiveTree}, sealed or not, or
 * the {@link MergedIndex} of several that were sealed.
 *
 * <p>Thread rule: lookups by any thread within an epoch of the pool; the rest as is said there.
 */
public sealed interface WrittenEntries permits ActiveTree, MergedIndex {
  /**
   * Reads the newest version of a key that a probe may see, inside an epoch.
   *
   * @param probe its target gets the value, if it has room for it; else nothing is changed there
   *     that the caller may rely on
   * @return the value's length in bytes, or {@link Probe#ABSENT}, {@link Probe#DELETED}, {@link
   *     Probe#OPERAND} or {@link Probe#RETRY}
   */
  int find(byte[] key, Probe probe);

  /**
   * The LSN of the newest version of a key, or {@link Probe#ABSENT}, inside an epoch. Writes of the
   * key that are under way may be missed.
   */
  long newestLsn(byte[] key, long hash);

  /**
   * A cursor over all versions. The caller keeps what it goes over from being freed.
   *
   * @param purpose what it takes is charged to
   * @param low the cursor is not moved to keys up to this one; null for no bound
   * @param high the cursor is not moved to keys above this one
   * @param visible all writes with LSNs up to this one have been applied: what got its last by then
   *     is read where it is
   */
  EntryCursor cursor(Purpose purpose, byte @Nullable [] low, byte @Nullable [] high, long visible);

  /** The number of entries, versions each. */
  long entries();

  /** Bytes of the pages held. */
  long bytesUsed();

  /** Whether all entries, those that may still come too, have lower LSNs, for certain. */
  boolean isOlder(long lsn);

  /** No entry had a lower LSN. */
  long minLsn();

  /**
   * Leaves the pages that entries lie in to a new index over them: from now on {@link #free} gives
   * up the rest only. No writer is left. Called once.
   *
   * @return the leaves; each has its overflow chains
   */
  int[] handOver();

  /**
   * Gives all pages up that were not handed over, when no new reader can find this. Readers in an
   * epoch may still read. A second call does nothing.
   */
  void free();
}
