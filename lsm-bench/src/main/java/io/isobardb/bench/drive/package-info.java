/**
 * The load that comparisons and experiments put on an engine.
 *
 * <p>Owns keys and values that can be checked, what is drawn in which shares, and the threads that
 * do it. Leaves to others what is measured meanwhile.
 */
@NullMarked
package io.isobardb.bench.drive;

import org.jspecify.annotations.NullMarked;
