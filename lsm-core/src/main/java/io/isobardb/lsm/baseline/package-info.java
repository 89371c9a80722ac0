/**
 * Designs of others and of papers, to compare with: even shares of the write memory, and an index
 * over what was written instead of a merge of it.
 *
 * <p>A store comes here only if an option of {@code ExperimentalOptions} asks for it. Others know
 * of it what makes it, and else {@link io.isobardb.lsm.commit.WriteShares} and the kinds of {@link
 * io.isobardb.lsm.state.Table}. The index itself ({@code MergedIndex}) reads the layout of active
 * SSTables, so it is beside them.
 */
@NullMarked
package io.isobardb.lsm.baseline;

import org.jspecify.annotations.NullMarked;
