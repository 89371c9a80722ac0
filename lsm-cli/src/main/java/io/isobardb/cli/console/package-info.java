/**
 * What people type and see: sizes, tables, a progress line.
 *
 * <p>Owns parsing and printing. Promises that progress never gets into standard output. Leaves what
 * is printed to the commands.
 */
@NullMarked
package io.isobardb.cli.console;

import org.jspecify.annotations.NullMarked;
