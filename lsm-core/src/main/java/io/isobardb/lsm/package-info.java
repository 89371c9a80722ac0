/**
 * The API: stores, trees, batches, snapshots, cursors, transactions and their options.
 *
 * <p>What options take is in {@code lsm.option}, what goes wrong in {@code lsm.error}, and what a
 * store tells of itself in {@code lsm.observe}. All other packages are the engine: they are not
 * exported, and may change. Secondary indexes and typed trees are in the module {@code
 * lsm-dataset}, and {@code lsm-repair} looks at a store that is not open.
 */
@NullMarked
package io.isobardb.lsm;

import org.jspecify.annotations.NullMarked;
