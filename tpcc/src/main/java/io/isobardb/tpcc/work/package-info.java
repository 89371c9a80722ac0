/**
 * The five transactions and what they are asked to do.
 *
 * <p>Owns the ratios of inputs (remote, by name, rolled back) and the work of each transaction.
 * Promises that a transaction that is tried again is asked the same. Leaves clocks, threads and
 * counting to others.
 */
@NullMarked
package io.isobardb.tpcc.work;

import org.jspecify.annotations.NullMarked;
