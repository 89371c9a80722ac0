/**
 * Files, directories, sync, direct I/O and the clock: the one seam to the operating system.
 *
 * <p>Nothing outside this package opens a file or asks for the time, so that the simulated storage
 * can stand in for the real one and a seed replays a run.
 */
@NullMarked
package io.isobardb.lsm.io;

import org.jspecify.annotations.NullMarked;
