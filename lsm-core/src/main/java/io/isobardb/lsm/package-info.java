/**
 * The API: stores, trees, batches, snapshots, cursors, transactions and their options.
 *
 * <p>What options take is in {@code lsm.option}, what goes wrong in {@code lsm.error}, what a store
 * tells of itself in {@code lsm.observe}, what is found in one that is not open in {@code
 * lsm.inspect}, and secondary indexes in {@code lsm.dataset}. All other packages are the engine:
 * they are not exported, and may change.
 */
@NullMarked
package io.isobardb.lsm;

import org.jspecify.annotations.NullMarked;
