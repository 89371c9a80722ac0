/**
 * Analytic models: what a write costs in a log-structured design, under the popularity of its keys.
 *
 * <p>A {@link io.isobardb.tuner.model.WriteModel} estimates the write amplification of one design
 * from a {@link io.isobardb.tuner.model.Popularity}. {@link io.isobardb.tuner.model.EngineModel} is
 * that of this engine, and shares with it what merges write. Everything here is pure: the same
 * numbers give the same estimate on every machine.
 *
 * <p>Sizes and costs are counted in entries. All entries count as equally large, unless a weighted
 * popularity says otherwise.
 *
 * <p>The source is <i>Towards Accurate and Fast Evaluation of Multi-Stage Log-Structured
 * Designs</i> (Lim, Andersen and Kaminsky, FAST 2016), here "the paper".
 */
@NullMarked
package io.isobardb.bench.analytic;

import org.jspecify.annotations.NullMarked;
