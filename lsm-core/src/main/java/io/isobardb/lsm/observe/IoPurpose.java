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
  /** What calls of the API read and write of SSTables, but for loads and copies. */
  QUERY,
  /** SSTables that bulk loads write. */
  LOAD,
  /** SSTables that checkpoints and backups read; what they write is elsewhere, and not counted. */
  COPY,
  /** The manifest, and other small files that describe the store. */
  MANIFEST
}
