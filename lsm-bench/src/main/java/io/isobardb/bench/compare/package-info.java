/**
 * The comparison of engines: the same operations on each, one process per engine and repeat.
 *
 * <p>Owns the phases, the measuring, the table and the page. The parent process interleaves the
 * repeats and takes medians; a child runs one engine through all phases and reports each as a line
 * of JSON. Leaves the engines' settings to {@code engine}, the operations to {@code drive}.
 */
@NullMarked
package io.isobardb.bench.compare;

import org.jspecify.annotations.NullMarked;
