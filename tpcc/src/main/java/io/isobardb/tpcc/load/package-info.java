/**
 * The initial population.
 *
 * <p>Owns which rows there are at first and what they hold. Promises the same rows for the same
 * seed, however many threads write them.
 */
@NullMarked
package io.isobardb.tpcc.load;

import org.jspecify.annotations.NullMarked;
