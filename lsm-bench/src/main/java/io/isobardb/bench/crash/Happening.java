package io.isobardb.bench.crash;

/** What a store may do while it is crashed; a harness that never sees it does not test it. */
public enum Happening {
  LOG_ROTATED("the log went on to a new segment"),
  LOG_RECYCLED("a segment of the log became a spare one"),
  LOG_CUT("a torn tail of the log was cut"),
  PARTIAL_FLUSH("a slice was flushed for want of write memory"),
  OLDEST_FLUSH("a slice was flushed from where the oldest entries are"),
  FULL_FLUSH("a slice of all runs was flushed"),
  MEMORY_MERGE("runs in memory were merged"),
  WITHIN_L0_MERGE("small groups of L0 became one"),
  TIERS_MERGED("tiers became one"),
  L0_MERGE("groups of L0 were merged into a level"),
  LEVEL_MERGE("a level was merged into the next one"),
  TABLE_MOVED("an SSTable went to another level as it is"),
  L1_ADDED("a level came on top"),
  L1_DROPPED("the level on top went"),
  TABLE_DELETED("an SSTable was deleted"),
  MANIFEST_ROLLED("a new manifest took the place of the old one"),
  RANGE_DELETED("a range of keys was deleted"),
  TABLES_DROPPED("SSTables of which nobody needs anything were dropped unread"),
  ENTRY_EXPIRED("an entry expired"),
  CLOCK_LEAPT("the machine's clock leapt ahead, or was set right"),
  LIFETIME_CHANGED("a tree's time to live was changed"),
  SHAPE_CHANGED("a tree was to have other runs"),
  TREE_CREATED("a tree was created"),
  TREE_DROPPED("a tree was dropped"),
  BULK_LOADED("entries were loaded in bulk"),
  CHECKPOINT("unlogged trees were saved"),
  BUDGET_CHANGED("the memory budget was changed"),
  WRITER_STALLED("a writer waited"),
  WRITE_REFUSED("a write was refused since it would have waited"),
  CLOSED("a store was closed"),
  RECOVERED("a store was opened after a crash"),
  RECOVERY_CRASHED("a crash came during the recovery from another one");

  private final String text;

  Happening(String text) {
    this.text = text;
  }

  /** In words. */
  @Override
  public String toString() {
    return text;
  }
}
