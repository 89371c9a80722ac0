package io.isobardb.lsm;

import java.nio.ByteBuffer;
import java.util.Objects;

/** Buffers that users give to be read into. */
final class Targets {
  private Targets() {}

  /** Passes if a buffer can be read into. */
  static void check(ByteBuffer target) {
    if (Objects.requireNonNull(target, "target").isReadOnly()) {
      throw new IllegalArgumentException("the target is a read-only buffer; give one to write to");
    }
  }
}
