/**
 * The values that options take: key orders, ways of file I/O, and the policies to compare with.
 *
 * <p>Part of the API, as {@code StoreOptions} and {@code TreeOptions}, which take them. Imports
 * nothing of the engine, so that every part of it may know them.
 */
@NullMarked
package io.isobardb.lsm.option;

import org.jspecify.annotations.NullMarked;
