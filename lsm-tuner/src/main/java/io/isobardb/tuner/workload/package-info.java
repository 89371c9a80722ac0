/**
 * What a workload is like, and what follows for a tree's shape: bursts of writes and the pauses
 * between them, as distributions; the sizes of levels for the popularity of keys.
 *
 * <p>Pure: the same observations give the same forecast and the same decision. Collecting them,
 * doing something in the pauses, and carrying decisions out is left to others.
 */
@NullMarked
package io.isobardb.tuner.workload;

import org.jspecify.annotations.NullMarked;
