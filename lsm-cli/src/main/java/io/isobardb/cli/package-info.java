/**
 * The command line of those who run a store.
 *
 * <p>Owns the program's entry, how a command line is read, exit codes, and the form of error
 * messages. Promises to need nothing but {@code lsm-core}, picocli and a JSON writer. Leaves the
 * work to the commands.
 */
@NullMarked
package io.isobardb.cli;

import org.jspecify.annotations.NullMarked;
