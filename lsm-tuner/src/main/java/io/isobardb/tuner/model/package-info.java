/**
 * What writes cost by the popularity of their keys, and the level sizes that lower it.
 *
 * <p>{@link io.isobardb.tuner.model.Popularity} has the primitives Unique, its inverse and Merge.
 * {@link io.isobardb.tuner.model.ReuseTimes} learns one from a sample of the writes. {@link
 * io.isobardb.tuner.model.LevelMerges} tells what merges write with given level sizes; {@link
 * io.isobardb.tuner.model.LevelSizeOptimiser} looks for those that lower it most. Everything here
 * is pure: the same numbers give the same estimate on every machine.
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
