/**
 * Readers of files that may be damaged: what is wrong with an SSTable, and what can still be read
 * of SSTables, logs and manifests.
 *
 * <p>They know the formats by the layouts and page readers of the engine, and believe nothing that
 * a checksum doesn't cover. What becomes of what they find is for {@code check} and {@code
 * salvage}.
 */
@NullMarked
package io.isobardb.repair.format;

import org.jspecify.annotations.NullMarked;
