/**
 * Simulators of log-structured designs, entry by entry: what the models of {@code bench.analytic}
 * are held against.
 *
 * <p>Keys are the integers from 0 on, and all entries are equally large. A table or level is a set
 * of keys, one bit each, so that a merge of tables is an OR over their key range. Nothing is
 * stored, no time passes, and merges run as soon as they are due.
 */
@NullMarked
package io.isobardb.bench.simulate;

import org.jspecify.annotations.NullMarked;
