/**
 * JMH benchmarks of the hot paths, and the command that runs them.
 *
 * <p>Owns micro-benchmarks of single operations, with their garbage ({@code -prof gc}). Leaves
 * throughput of whole workloads to {@code compare}.
 */
@NullMarked
package io.isobardb.bench.jmh;

import org.jspecify.annotations.NullMarked;
