package io.isobardb.lsm.version;

import io.isobardb.lsm.sstable.SSTableMeta;
import java.util.ArrayList;
import java.util.List;

/** How L0 is kept: where a flushed SSTable goes, and which one leaves first. */
public enum L0Structure {
  /** Every SSTable is a group of its own: a list by age, as without range partitioning. */
  ORIGINAL,
  /** Groups of disjoint SSTables; the leftmost SSTable of the oldest group leaves first. */
  GROUPED,
  /** Groups; the smallest leaves first, by the SSTable with the least to rewrite in L1. */
  GREEDY_GROUPED;

  /**
   * Where flushed SSTables go: into the oldest group such that neither it nor any newer one
   * overlaps, or else into a new group. So an SSTable is newer than all it overlaps in older
   * groups.
   *
   * <p>SSTables that overlap must be placed in the order they were written, and against the version
   * that the edit is applied to.
   *
   * @param flushed SSTables that are disjoint
   * @return a place for each of them, in the same order
   */
  public List<Place> place(Version version, List<SSTableMeta> flushed) {
    List<Group> groups = version.groups();
    long next = groups.isEmpty() ? 1 : groups.get(0).number() + 1;
    List<Place> places = new ArrayList<>(flushed.size());
    for (SSTableMeta table : flushed) {
      if (this == ORIGINAL) {
        places.add(Place.group(next++));
        continue;
      }
      Place place = Place.group(next);
      for (Group group : groups) {
        if (group.run().overlaps(table.minKey(), table.maxKey())) {
          break;
        }
        place = group.place();
      }
      places.add(place);
    }
    return places;
  }
}
