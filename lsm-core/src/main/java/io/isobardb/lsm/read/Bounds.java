package io.isobardb.lsm.read;

import org.jspecify.annotations.Nullable;

/**
 * The keys that a cursor may come to.
 *
 * @param from the first key, or null for no limit
 * @param to the key behind the last one, or null for no limit
 */
public record Bounds(byte @Nullable [] from, byte @Nullable [] to) {}
