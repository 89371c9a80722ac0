/**
 * What to merge next, on disk and in memory, and the merging.
 *
 * <p>Owns the merge policies, pure functions from a {@link io.isobardb.lsm.merge.MergeView} to a
 * {@link io.isobardb.lsm.merge.MergeChoice}, and their counterpart for memory, {@link
 * io.isobardb.lsm.merge.MemoryMerging}. Promises that no choice, executed, lets an older entry hide
 * a newer one, and that choices that run at once do not meet. When a merge runs it leaves to {@code
 * lsm.schedule}.
 */
@NullMarked
package io.isobardb.lsm.merge;

import org.jspecify.annotations.NullMarked;
