/**
 * What the memory of a store is held for, and what its cache has done: plain values.
 *
 * <p>The part of this module that users of a store meet. Knows no other package.
 */
@NullMarked
package io.isobardb.memory.stats;

import org.jspecify.annotations.NullMarked;
