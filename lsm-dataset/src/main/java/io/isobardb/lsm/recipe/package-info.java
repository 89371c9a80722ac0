/**
 * What many programs build on trees first: a queue, time series, counters, a map whose entries
 * expire.
 *
 * <p>Each is a small class over the public API, to be used or to be read and changed. Each says
 * what a crash, a failure and a competitor do to it. They store nothing that trees would not.
 */
@NullMarked
package io.isobardb.lsm.recipe;

import org.jspecify.annotations.NullMarked;
