package io.isobardb.lsm.store;

import io.isobardb.lsm.ValueReader;
import io.isobardb.lsm.commit.Moment;
import io.isobardb.lsm.read.BatchReader;
import io.isobardb.lsm.read.InPlaceReader;
import io.isobardb.lsm.read.PointReader;
import io.isobardb.lsm.state.TreeHandle;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The lookups of one tree, with buffers that each thread uses again.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
final class TreeReads {
  private static final int SCRATCH_BYTES = 4096;

  /** Up to this size a copy is cheaper than holding the value where it is. */
  private static final int SMALL_BYTES = 1024;

  private static final ThreadLocal<ByteBuffer> SCRATCH =
      ThreadLocal.withInitial(() -> ByteBuffer.allocate(SCRATCH_BYTES));

  private static final ByteBuffer NO_SCRATCH = ByteBuffer.allocate(0);

  private final TreeHandle handle;
  private final PointReader reader;
  private final InPlaceReader inPlace;
  private final BatchReader batches;

  TreeReads(OpenStore open, TreeHandle handle) {
    this.handle = handle;
    this.reader = open.parts().reader();
    this.inPlace = open.parts().inPlaceReader();
    this.batches = open.parts().batchReader();
  }

  /** To read what is visible now. */
  Moment latest() {
    return reader.latest();
  }

  /** The value of a key, or null if there is none. */
  byte @Nullable [] get(byte[] key, Moment at) {
    ByteBuffer target = SCRATCH.get();
    target.clear();
    return reader.getArray(handle, key, at, target);
  }

  /** Copies a value into {@code target} at its position, which does not move, if it fits. */
  int get(byte[] key, Moment at, ByteBuffer target) {
    return reader.get(handle, key, at, target);
  }

  /** The values of many keys, in their order. */
  List<byte @Nullable []> multiGet(List<byte[]> keys, Moment at) {
    ByteBuffer scratch = SCRATCH.get();
    scratch.clear();
    return Arrays.asList(batches.get(handle, keys, at, scratch));
  }

  /** Shows a value to {@code look}; null if there is no such key. */
  <T> @Nullable T read(byte[] key, ValueReader<T> look) {
    ByteBuffer target = SCRATCH.get();
    target.clear().limit(Math.min(target.capacity(), SMALL_BYTES));
    PointReader.Folded folded = PointReader.Folded.of(handle);
    int length = reader.get(handle, key, latest(), target, folded);
    if (length == PointReader.NOT_FOUND) {
      return null;
    }
    byte[] value = folded == null ? null : folded.value();
    if (value == null && length > target.remaining()) {
      return inPlace.read(handle, key, look::read);
    }
    ByteBuffer view =
        (value == null ? target.slice(0, length) : ByteBuffer.wrap(value)).asReadOnlyBuffer();
    // Whoever looks may read other keys meanwhile: they must not get the same buffer.
    SCRATCH.set(NO_SCRATCH);
    try {
      return look.read(view);
    } finally {
      SCRATCH.set(target);
      view.limit(0);
    }
  }
}
