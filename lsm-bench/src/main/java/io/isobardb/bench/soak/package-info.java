/**
 * {@code soak}: a store under mixed load for hours, everything verified as it goes.
 *
 * <p>Owns the load, its model, the disk that is slow at times, and what is reported; knows Isobar
 * alone.
 */
@NullMarked
package io.isobardb.bench.soak;

import org.jspecify.annotations.NullMarked;
