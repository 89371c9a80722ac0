/**
 * The commands of the program {@code isobar} that measure, compare and try an engine.
 *
 * <p>Owns the list of these commands. Leaves exit codes, the form of error messages and the
 * commands about a store to {@code lsm-cli}, and the work to the packages below it.
 */
@NullMarked
package io.isobardb.bench;

import org.jspecify.annotations.NullMarked;
