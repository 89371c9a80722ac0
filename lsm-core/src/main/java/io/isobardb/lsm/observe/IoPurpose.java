package io.isobardb.lsm.observe;

/** What a store reads and writes bytes of files for. */
public enum IoPurpose {
  /** The log: what writers add, and what recovery replays. */
  LOG,
  /** Flushes. */
  FLUSH,
  /** Merges of L0, downwards and within it. */
  MERGE_L0,
  /** Merges of deeper levels. */
  MERGE_DEEP,
  /** Whatever calls of the API read and write of SSTables: queries, copies and backups. */
  QUERY,
  /** The manifest, and other small files that describe the store. */
  MANIFEST
}
