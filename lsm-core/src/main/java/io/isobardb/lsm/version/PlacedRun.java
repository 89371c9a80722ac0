package io.isobardb.lsm.version;

import io.isobardb.lsm.sstable.SSTableMeta;

/**
 * A group of L0, a tier or a level: disjoint SSTables, of about the same age if it is no level.
 *
 * @param place where it stands
 * @param run its SSTables, in the order of keys
 */
public record PlacedRun(Place place, Level<SSTableMeta> run) {
  /** The number of a group or a tier, which grows with every new one. */
  public long number() {
    return place.number();
  }
}
