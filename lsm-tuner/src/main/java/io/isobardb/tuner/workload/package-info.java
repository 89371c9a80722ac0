/**
 * What a workload is like: bursts of writes and the pauses between them, as distributions.
 *
 * <p>Pure: the same observations give the same forecast. Collecting them, and doing something in
 * the pauses, is left to others.
 */
@NullMarked
package io.isobardb.tuner.workload;

import org.jspecify.annotations.NullMarked;
