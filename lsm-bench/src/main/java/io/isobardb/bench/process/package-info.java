/**
 * Child processes and what the system counts for them.
 *
 * <p>Owns how a JVM of this class path is started, told what to do, heard and awaited, and the
 * reading of processor time, device bytes and resident memory; and by what and where it was done.
 * Leaves what the children do to others.
 */
@NullMarked
package io.isobardb.bench.process;

import org.jspecify.annotations.NullMarked;
