/**
 * The buffer cache: frames of the disk pages of all trees, the ghost cache, the entry cache, and
 * extras that lie beside them while there is room.
 *
 * <p>Owns which disk page lies in which pool page, what has pinned it, and which page goes when
 * another is to come. It promises that a page found within an epoch stays what it is until the
 * reader leaves, that a load never fails for want of memory, and that the cache comes to its target
 * size while in use. Reading files and checking what was read it leaves to the loaders.
 */
@NullMarked
package io.isobardb.memory.cache;

import org.jspecify.annotations.NullMarked;
