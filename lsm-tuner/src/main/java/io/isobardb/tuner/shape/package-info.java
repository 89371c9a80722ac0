/**
 * What a tree is used for, and the shape that suits it: phases of a workload, as windows of
 * operations tell them apart; and how many runs its levels are to have, weighed by a model.
 *
 * <p>Pure: the same windows give the same phases and the same decisions. Counting operations, and
 * carrying decisions out, is left to others.
 */
@NullMarked
package io.isobardb.tuner.shape;

import org.jspecify.annotations.NullMarked;
