/**
 * The engines behind one narrow face: transactions over the tables.
 *
 * <p>Owns how each engine is opened for an equal memory, isolation and durability, and which of its
 * failures mean that a transaction may be tried again. Promises that the same call does the same
 * work in each. Leaves what is read and written to others.
 */
@NullMarked
package io.isobardb.tpcc.store;

import org.jspecify.annotations.NullMarked;
