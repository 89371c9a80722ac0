/**
 * The log: one stream of records for all trees, cut into segment files; group commit and replay.
 *
 * <p>Owns the order of writes (a record's position is its LSN), the ring that writers encode into,
 * what is visible, what is durable, and the segment files. Promises that after a crash what is left
 * is a prefix that holds every record that was reported durable, and that a damaged record is never
 * taken for a good one. What a record's payload means, and when the log may be cut, it leaves to
 * {@code lsm.commit}, {@code lsm.recovery} and {@code lsm.version}.
 */
@NullMarked
package io.isobardb.lsm.wal;

import org.jspecify.annotations.NullMarked;
