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

  /** An active SSTable of this size the processor's cache still helps with. */
  public static final int MOST_ACTIVE_BYTES = 32 << 20;

  /** What it takes to merge what is sealed, for small entries. */
  public static final int MERGE_NANOS_PER_BYTE = 2;

  /** With more than this a tree has slices enough, whatever part of the write memory it is. */
  private static final int MOST_SMALL_BYTES = 4 * MOST_ACTIVE_BYTES;

  /** Sealed runs that {@link #mergesWhole} makes one. */
  public static final int PIPELINE = 4;

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

  /** Whether a merge in memory takes all sealed runs, and makes one of them. */
  public boolean mergesWhole() {
    return this == ACCORDION_INDEX || this == ACCORDION_DATA;
  }

  /** Whether a merge in memory makes a new index and leaves the entries where they are. */
  public boolean mergesIndexes() {
    return this == ACCORDION_INDEX;
  }
}
