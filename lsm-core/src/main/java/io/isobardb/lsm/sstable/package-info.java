/**
 * The one format of SSTables, in memory and on disk: page layouts, filters, indexes, writer,
 * reader.
 *
 * <p>Promises that a page read back is what was written, or an error that names file and offset.
 * Which SSTables exist and which is newer it leaves to {@code lsm.version}.
 */
@NullMarked
package io.isobardb.lsm.sstable;

import org.jspecify.annotations.NullMarked;
