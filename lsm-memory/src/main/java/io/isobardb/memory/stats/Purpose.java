package io.isobardb.memory.stats;

/** What memory is held for; the columns of the {@link Ledger}. */
public enum Purpose {
  /**
   * Active SSTables and memory SSTables with their indexes and filters, and first entries of trees
   * on the Java heap.
   */
  WRITE,
  /** Frames of the buffer cache. */
  CACHE,
  /** Pages of the entry cache. */
  ENTRIES,
  /** Indexes over the entries of SSTables, in memory that the cache has to spare. */
  INDEXES,
  /** The log's buffer. */
  LOG,
  /** Input and output pages of merges and flushes in progress. */
  MERGE,
  /** Pages copied by cursors. */
  CURSOR,
  /** The page table, buffers of the manifest and of the tuner's file. */
  METADATA,
  /** The ghost cache. */
  GHOST,
  /** Range deletes, on the Java heap. */
  RANGE_DELETES,
  /** Pages given up, which a reader may still look at; free when the last such reader has left. */
  LIMBO,
  /** Pages that nobody holds, ready to be handed out. */
  FREE,
  /** What slabs cost besides their pages: alignment, or page tables. */
  ALIGNMENT
}
