/**
 * The API: stores, trees, batches, snapshots, cursors, transactions and their options.
 *
 * <p>What options take is in {@code lsm.option}, what goes wrong in {@code lsm.error}, what a store
 * tells of itself in {@code lsm.observe}, what is found in one that is not open in {@code
 * lsm.inspect}. All other packages are the engine: they are not exported, and may change. Secondary
 * indexes and typed trees are in another module, {@code lsm-dataset}.
 */
@NullMarked
package io.isobardb.lsm;

import org.jspecify.annotations.NullMarked;
