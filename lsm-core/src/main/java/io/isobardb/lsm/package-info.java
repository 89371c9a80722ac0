/**
 * The public API: stores, trees, batches, snapshots, cursors and their options.
 *
 * <p>Everything a user needs is here, in {@code lsm.error} and {@code lsm.entry}; the other
 * packages are the engine and may change. Wires the engine together.
 */
@NullMarked
package io.isobardb.lsm;

import org.jspecify.annotations.NullMarked;
