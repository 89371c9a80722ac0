/**
 * The command {@code tpcc}.
 *
 * <p>Owns its options, its process, and how a run is shown. Leaves the load, its rules and its
 * checks to the module {@code tpcc}.
 */
@NullMarked
package io.isobardb.bench.tpcc;

import org.jspecify.annotations.NullMarked;
