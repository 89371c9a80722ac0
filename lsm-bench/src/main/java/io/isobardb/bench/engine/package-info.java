/**
 * The engines that are compared, behind one narrow face.
 *
 * <p>Owns how each engine is opened at its best settings for an equal total memory, and how its
 * memory, space and background work are asked for. Promises that the same call does the same work
 * in each. Leaves workloads, clocks and reports to others.
 */
@NullMarked
package io.isobardb.bench.engine;

import org.jspecify.annotations.NullMarked;
