package io.isobardb.lsm.component;

import io.isobardb.lsm.entry.EntryCursor;
import io.isobardb.memory.stats.Purpose;
import java.nio.ByteBuffer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Entries in write memory that lie where writers put them and get no company any more: an {@link
 * ActiveTree} that was sealed, or the {@link MergedIndex} of several.
 *
 * <p>Thread rule: lookups by any thread within an epoch of the pool; the rest as is said there.
 */
public sealed interface Sealed permits ActiveTree, MergedIndex {
  /**
   * Reads the newest version of a key with an LSN of at most {@code lsn}, inside an epoch.
   *
   * @param hash {@code KeyHash} of the key
   * @param now the time to judge by; asked only of what expires
   * @param target gets the value at its position, if it has room for it; else nothing is changed
   *     that the caller may rely on. Its position does not move.
   * @return the value's length in bytes, or {@link ActiveTree#ABSENT}, {@link ActiveTree#DELETED},
   *     {@link ActiveTree#OPERAND} or {@link ActiveTree#RETRY}
   */
  int getInto(byte[] key, long hash, long lsn, LongSupplier now, ByteBuffer target);

  /** The LSN of the newest version of a key, or {@link ActiveTree#ABSENT}, inside an epoch. */
  default long newestLsn(byte[] key, long hash) {
    return seenLsn(key, hash, Long.MAX_VALUE);
  }

  /**
   * The LSN of the newest version of a key up to {@code lsn} that is there, or {@link
   * ActiveTree#ABSENT}, inside an epoch. A newer one up to {@code lsn} may have been pruned: {@link
   * #getInto}, asked afterwards, tells.
   */
  long seenLsn(byte[] key, long hash, long lsn);

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
