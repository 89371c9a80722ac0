/**
 * Trees and datasets of typed keys and values: codecs that keep the order of keys, maps, streams.
 *
 * <p>Owns how keys and values become bytes. Built on the public API alone, so it promises what
 * trees and datasets do, and stores nothing that they would not.
 */
@NullMarked
package io.isobardb.lsm.typed;

import org.jspecify.annotations.NullMarked;
