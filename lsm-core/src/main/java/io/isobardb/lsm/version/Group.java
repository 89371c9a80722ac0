package io.isobardb.lsm.version;

import io.isobardb.lsm.sstable.SSTableMeta;

/**
 * A group of L0: disjoint SSTables of about the same age.
 *
 * @param number grows with every new group; higher is newer
 * @param run its SSTables, at least one
 */
public record Group(long number, Level<SSTableMeta> run) {
  /** How an edit names this group. */
  public Place place() {
    return Place.group(number);
  }
}
