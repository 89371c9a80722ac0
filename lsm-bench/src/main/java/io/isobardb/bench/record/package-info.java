/**
 * Recordings of stores: reading their files, what they tell, and doing the same again. How they are
 * run is known in {@code bench.latency}.
 */
@NullMarked
package io.isobardb.bench.record;

import org.jspecify.annotations.NullMarked;
