/**
 * Range deletes: how they are stored, which one covers a key, what they hide from all who read,
 * what becomes of those that the manifest has, and what they take on the heap.
 *
 * <p>Knows keys and LSNs, no entries. Which range deletes hide nothing any more is told by merges,
 * which know the SSTables.
 */
@NullMarked
package io.isobardb.lsm.range;

import org.jspecify.annotations.NullMarked;
