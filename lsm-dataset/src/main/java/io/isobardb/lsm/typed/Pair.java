package io.isobardb.lsm.typed;

import org.jspecify.annotations.Nullable;

/** A key of two parts; see {@link KeyCodec#pair}. */
public record Pair<A extends @Nullable Object, B extends @Nullable Object>(A first, B second) {}
