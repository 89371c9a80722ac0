/**
 * {@code isobar experiment}: the experiments of "Breaking Down Memory Walls in LSM-based Storage
 * Systems", and some of our own, on this engine.
 *
 * <p>An {@link io.isobardb.bench.experiment.Experiment} says what is claimed, lists its points,
 * measures one, and holds the claim against all of them. Everything else is here once: scaling,
 * fresh stores, operations, meters, the child process that measures, the reports. Points of an
 * experiment are measured one after the other, with what is compared next to each other.
 */
@NullMarked
package io.isobardb.bench.experiment;

import org.jspecify.annotations.NullMarked;
