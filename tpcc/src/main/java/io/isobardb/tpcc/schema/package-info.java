/**
 * The tables: their trees, keys and rows, how many rows there are, and the values rows may have.
 *
 * <p>Owns every byte that is stored. Promises that keys sort as their columns do. Leaves reading
 * and writing to others.
 */
@NullMarked
package io.isobardb.tpcc.schema;

import org.jspecify.annotations.NullMarked;
