/**
 * What can go wrong, in few kinds, each telling the caller what to do about it.
 *
 * <p>Owns every exception of the engine, and how messages show keys; imports nothing of it.
 */
@NullMarked
package io.isobardb.lsm.error;

import org.jspecify.annotations.NullMarked;
