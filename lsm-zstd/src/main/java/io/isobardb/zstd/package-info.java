/**
 * Zstandard for the pages of trees, with dictionaries.
 *
 * <p>Owns what calls the native library. What is compressed, and where dictionaries lie, is the
 * engine's.
 */
@NullMarked
package io.isobardb.zstd;

import org.jspecify.annotations.NullMarked;
