/**
 * Which disk SSTables are live, level by level, and the manifest that keeps it.
 *
 * <p>Owns the order of levels and groups and its invariants: a run is sorted and disjoint, and what
 * stands in a newer group or a higher level is newer wherever it overlaps. Opens no SSTable; open
 * handles stand in {@code lsm.state}, which maps {@link io.isobardb.lsm.version.Level}s to them.
 */
@NullMarked
package io.isobardb.lsm.version;

import org.jspecify.annotations.NullMarked;
