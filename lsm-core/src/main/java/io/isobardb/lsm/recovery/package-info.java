/**
 * Opening a store: lock, manifest, orphans, replay; closing it again; copies and backups of it.
 *
 * <p>Promises that a store that opens holds every write that was acknowledged as durable, and that
 * one that does not open was not changed.
 */
@NullMarked
package io.isobardb.lsm.recovery;

import org.jspecify.annotations.NullMarked;
