/**
 * The consistency conditions of clause 3.3.2, and indexes against their tables.
 *
 * <p>Owns what must hold of the data of a store at rest. Changes nothing.
 */
@NullMarked
package io.isobardb.tpcc.check;

import org.jspecify.annotations.NullMarked;
