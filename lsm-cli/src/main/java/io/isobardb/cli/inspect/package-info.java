/**
 * Commands that look at a store: {@code check}, {@code dump}, {@code stats}.
 *
 * <p>Owns what they print. {@code check} and {@code dump} change nothing; {@code stats} opens the
 * store, as any program does. Leaves the reading of files to {@code lsm-core}.
 */
@NullMarked
package io.isobardb.cli.inspect;

import org.jspecify.annotations.NullMarked;
