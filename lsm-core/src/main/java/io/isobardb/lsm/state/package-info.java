/**
 * A tree's state: one immutable value that says where its entries are, and its life.
 *
 * <p>Owns the tables and runs of a tree, newest first, and the swap from one state to the next. It
 * promises that nothing is freed which a state still in use can reach. What moves where is decided
 * by {@code lsm.flush} and {@code lsm.merge}.
 */
@NullMarked
package io.isobardb.lsm.state;

import org.jspecify.annotations.NullMarked;
