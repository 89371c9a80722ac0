/**
 * Which tree to flush next, and the flusher.
 *
 * <p>Owns the flush policies over trees, pure functions. When a flush is due, and which SSTables of
 * the tree it takes, it does not decide.
 */
@NullMarked
package io.isobardb.lsm.flush;

import org.jspecify.annotations.NullMarked;
