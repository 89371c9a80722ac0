/**
 * The values that options take: key orders, merge operators, ways of file I/O, levels, and when
 * merges run.
 *
 * <p>Part of the API, as {@code StoreOptions} and {@code TreeOptions}, which take them. Imports
 * nothing of the engine, so that every part of it may know them.
 */
@NullMarked
package io.isobardb.lsm.option;

import org.jspecify.annotations.NullMarked;
