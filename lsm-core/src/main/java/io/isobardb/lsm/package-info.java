/**
 * The public API: stores, trees, batches, snapshots, cursors and their options.
 *
 * <p>Everything a user calls is here, in {@code lsm.dataset}, {@code lsm.error} and {@code
 * lsm.entry}. Of the other packages, which are the engine and may change, the types that appear in
 * signatures here are for users, too: the values of options ({@code MemoryComponent}, {@code
 * FlushPolicy} and the like, by their names), listeners ({@code lsm.observe}), and what statistics
 * and inspections give. Wires the engine together.
 */
@NullMarked
package io.isobardb.lsm;

import org.jspecify.annotations.NullMarked;
