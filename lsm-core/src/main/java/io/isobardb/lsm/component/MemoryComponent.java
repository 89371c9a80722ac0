package io.isobardb.lsm.component;

/**
 * How a tree's write memory is arranged ("Breaking Down Memory Walls in LSM-based Storage Systems",
 * 4.1.1 and 6.1). Pure functions; any thread.
 */
public enum MemoryComponent {
  /**
   * A small active SSTable and runs of sealed ones below it, merged now and then; flushed slice by
   * slice. Memory stays full, and what is flushed of a range has gathered many writes.
   */
  PARTITIONED,
  /**
   * One B+-tree as large as memory lets it become, flushed as a whole: the paper's B+-dynamic. No
   * memory is ever merged, and a read asks one tree; but memory is half empty on average.
   */
  MONOLITHIC,
  /**
   * Small active SSTables, of which the sealed ones now and then get one index in the place of
   * theirs, and which are flushed as a whole: the paper's Accordion-index. The entries stay where
   * they are, those that were overwritten too; so a merge takes little work and little room, and
   * frees nothing.
   */
  ACCORDION_INDEX,
  /**
   * Small active SSTables, of which the sealed ones are now and then merged into a single one, data
   * and all, and which are flushed as a whole: the paper's Accordion-data. What a merge leaves is
   * packed and has one version of each key, but there has to be room for it beside its inputs until
   * it is done.
   */
  ACCORDION_DATA;

  /** What the processor's cache still helps with. */
  static final int MOST_ACTIVE_BYTES = 32 << 20;

  /** So many sealed runs there are on average between two merges of {@link #FEW}. */
  private static final int RUNS_LEFT = 4;

  /** What it takes to merge what is sealed, for small entries. */
  public static final int MERGE_NANOS_PER_BYTE = 2;

  /** What puts lose in a tree that the processor's cache has no room for, for small entries. */
  private static final int GROWTH_NANOS_PER_BYTE = 3;

  /** So many active SSTables are not too many to be merged and flushed by slices. */
  private static final int FEW = 8;

  /** With more than this a tree has slices enough, whatever part of the write memory it is. */
  private static final int MOST_SMALL_BYTES = 4 * MOST_ACTIVE_BYTES;

  /** Sealed runs that are merged into one. */
  private static final int PIPELINE = 4;

  /** A tree of which nothing is known may well grow to this part of the write memory. */
  private static final int SMALLEST_PART = 16;

  /** Whether a flush takes all of a tree, whatever it is for. */
  public boolean flushesWhole() {
    return this != PARTITIONED;
  }

  /**
   * Whether a tree has so little of the write memory that slices of it are of no use: they would be
   * two or three, of which one may span most of the keys, and such SSTables tie together in L0 what
   * lies beside each other, so that a merge rewrites all of L1. As a whole it is flushed into
   * SSTables that end where the last ones ended, and the memory is put to use by other trees.
   *
   * @param treeBytes what the tree has in memory
   * @param writeBytes the write memory
   */
  public static boolean isSmall(long treeBytes, long writeBytes) {
    return treeBytes < Math.min(writeBytes / 2, MOST_SMALL_BYTES);
  }

  /** Whether sealed runs are merged in memory. */
  public boolean mergesRuns() {
    return this != MONOLITHIC;
  }

  /** Whether a merge in memory takes all sealed runs, and makes one of them. */
  public boolean mergesWhole() {
    return this == ACCORDION_INDEX || this == ACCORDION_DATA;
  }

  /** Whether a merge in memory makes a new index and leaves the entries where they are. */
  public boolean mergesIndexes() {
    return this == ACCORDION_INDEX;
  }

  /**
   * Whether all sealed runs should be merged into one, if there is room for it.
   *
   * @param sealed how many get no writes any more
   */
  public boolean mergesNow(int sealed) {
    return mergesWhole() && sealed >= PIPELINE;
  }

  /**
   * How large a small active SSTable is if nobody has said so: small enough for the processor's
   * cache, few enough for the write memory, and so many that whole merges find some to merge.
   *
   * @param writeBytes the write memory
   */
  public long smallBytes(long writeBytes) {
    return Math.min(writeBytes / (mergesWhole() ? 4 * PIPELINE : FEW), MOST_ACTIVE_BYTES);
  }

  /**
   * At which size an active SSTable is sealed if no flush seals it before, and it {@link #mayGrow}
   * no further.
   *
   * @param smallBytes one that the processor's cache has room for
   * @param writeBytes the write memory
   */
  public long activeBytes(long smallBytes, long writeBytes) {
    return this == MONOLITHIC ? writeBytes : smallBytes;
  }

  /**
   * What an active SSTable has been used for so far.
   *
   * @param heldBytes its size
   * @param treeBytes what its tree has in memory
   * @param writtenBytes of the entries put to it, also those that others have taken the place of
   * @param readNanos what reads would have lost meanwhile by one run more
   * @param fits whether nothing of the tree is on disk: all of it may find room in memory
   */
  public record Use(
      long heldBytes, long treeBytes, long writtenBytes, long readNanos, boolean fits) {
    /** Whether to go on with one that is large has cost less than to begin another would have. */
    private boolean readsPay() {
      return readNanos * RUNS_LEFT + Math.min(heldBytes, writtenBytes) * MERGE_NANOS_PER_BYTE
          >= writtenBytes * GROWTH_NANOS_PER_BYTE;
    }
  }

  /**
   * Whether an active SSTable that is full should grow on. What is overwritten in it takes no room
   * and needs no merge: so while its tree {@link #isSmall} and is flushed whole, it grows to what
   * the processor's cache still helps with. It grows beyond that while write memory is not wanted
   * and there are so many reads that more runs would cost more than that puts find a large tree out
   * of the cache (decision 0011).
   *
   * @param active what it was used for
   * @param usedBytes what all trees have in memory
   * @param writeBytes the write memory
   */
  public boolean mayGrow(Use active, long usedBytes, long writeBytes) {
    if (this != PARTITIONED) {
      return false;
    }
    boolean mayFit = active.fits() && usedBytes < writeBytes / 4 * 3;
    return active.heldBytes() < MOST_ACTIVE_BYTES
        ? mayFit || isSmall(active.treeBytes(), writeBytes)
        : (mayFit || usedBytes < writeBytes / 2) && active.readsPay();
  }

  /**
   * The size that an active SSTable's filter is made for.
   *
   * @param activeBytes at which it is sealed
   * @param lastBytes what the one before it grew to, 0 if it is the first
   */
  public long filterBytes(long activeBytes, long lastBytes) {
    // One that is flushed when all trees together have filled the memory grows like the last.
    return this == MONOLITHIC
        ? Math.min(activeBytes, Math.max(lastBytes, activeBytes / SMALLEST_PART))
        : activeBytes;
  }
}
