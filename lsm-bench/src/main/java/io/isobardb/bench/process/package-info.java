/**
 * Child processes and what the system counts for them.
 *
 * <p>Owns how a JVM of this class path is started, fed and awaited, and the reading of processor
 * time, device bytes and resident memory. Leaves what the children do to others.
 */
@NullMarked
package io.isobardb.bench.process;

import org.jspecify.annotations.NullMarked;
