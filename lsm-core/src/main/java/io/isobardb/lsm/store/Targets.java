package io.isobardb.lsm.store;

import io.isobardb.lsm.Tree;
import java.nio.ByteBuffer;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Buffers that users give to be read into. */
final class Targets {
  private Targets() {}

  /** Passes if a buffer can be read into. */
  static void check(ByteBuffer target) {
    if (Objects.requireNonNull(target, "target").isReadOnly()) {
      throw new IllegalArgumentException("the target is a read-only buffer; give one to write to");
    }
  }

  /** Puts a value into a buffer if it fits; its length, or {@link Tree#NOT_FOUND} for null. */
  static int put(byte @Nullable [] value, ByteBuffer target) {
    if (value == null) {
      return Tree.NOT_FOUND;
    }
    if (value.length <= target.remaining()) {
      target.put(value);
    }
    return value.length;
  }
}
