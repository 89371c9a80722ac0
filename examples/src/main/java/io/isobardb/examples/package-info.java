/**
 * Small programs on Isobar's public API. Each has a {@code main} that takes the directory of its
 * store.
 *
 * <p>The build runs all of them, so what they show works.
 */
@NullMarked
package io.isobardb.examples;

import org.jspecify.annotations.NullMarked;
