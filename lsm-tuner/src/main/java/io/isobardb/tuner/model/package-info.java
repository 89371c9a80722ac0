/**
 * Analytic models: what a write costs in a log-structured design, under the popularity of its keys.
 *
 * <p>{@link io.isobardb.tuner.model.Popularity} has the primitives Unique, its inverse and Merge. A
 * {@link io.isobardb.tuner.model.WriteModel} builds on them and estimates the write amplification
 * of one design; {@link io.isobardb.tuner.model.LevelSizeOptimiser} looks for the level sizes that
 * lower it most. Everything here is pure: the same numbers give the same estimate on every machine.
 *
 * <p>Sizes and costs are counted in entries. All entries count as equally large, unless a weighted
 * popularity says otherwise.
 *
 * <p>The source is <i>Towards Accurate and Fast Evaluation of Multi-Stage Log-Structured
 * Designs</i> (Lim, Andersen and Kaminsky, FAST 2016), here "the paper".
 */
@NullMarked
package io.isobardb.tuner.model;

import org.jspecify.annotations.NullMarked;
