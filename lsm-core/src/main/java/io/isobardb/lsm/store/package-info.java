/**
 * An open store, seen from what users have taken from it: operations under way, cursors, snapshots,
 * transactions, and the store itself, until they give them back or lose them.
 *
 * <p>Promises that nothing is taken away from an operation that has begun, and that what is left
 * open at the end is told of and closed. Refers to nothing that users hold, so that they can lose
 * it. What they hold is the API, in {@code lsm}.
 */
@NullMarked
package io.isobardb.lsm.store;

import org.jspecify.annotations.NullMarked;
