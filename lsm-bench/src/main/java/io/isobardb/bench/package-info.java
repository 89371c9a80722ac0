/**
 * The command line.
 *
 * <p>Owns the list of commands, exit codes (0 done, 1 failed, 2 wrong usage) and the form of error
 * messages. Leaves the work to the packages below it.
 */
@NullMarked
package io.isobardb.bench;

import org.jspecify.annotations.NullMarked;
