/**
 * What to flush next, and the flusher.
 *
 * <p>{@link io.isobardb.lsm.flush.FlushRules} decides why a flush is due, which trees it takes, and
 * how much of each: a pure function. The flusher collects what it looks at and carries the choice
 * out. When an active SSTable is sealed is decided in {@code lsm.commit}.
 */
@NullMarked
package io.isobardb.lsm.flush;

import org.jspecify.annotations.NullMarked;
