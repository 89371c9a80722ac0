package io.isobardb.lsm.store;

import io.isobardb.lsm.Tree;
import io.isobardb.lsm.ValueReader;
import io.isobardb.lsm.entry.Moment;
import io.isobardb.lsm.entry.Probe;
import io.isobardb.lsm.read.BatchReader;
import io.isobardb.lsm.read.InPlaceReader;
import io.isobardb.lsm.read.PointReader;
import io.isobardb.lsm.state.TreeHandle;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The lookups of one tree that take more than a value.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
final class TreeReads {
  /** Up to this size a copy is cheaper than holding the value where it is. */
  private static final int SMALL_BYTES = 1024;

  private final TreeHandle handle;
  private final PointReader reader;
  private final InPlaceReader inPlace;
  private final BatchReader batches;
  private final RecorderSlot recorders;
  private final Operations operations;

  TreeReads(OpenStore open, TreeHandle handle) {
    this.handle = handle;
    this.reader = open.parts().reader();
    this.inPlace = open.parts().inPlaceReader();
    this.batches = open.parts().batchReader();
    this.recorders = open.recorders();
    this.operations = open.operations();
  }

  /** The values of many keys, in their order. */
  List<byte @Nullable []> multiGet(List<byte[]> keys, Moment at) {
    List<byte @Nullable []> values = Arrays.asList(batches.get(handle, keys, at));
    for (int i = 0; i < values.size() && recorders.current() != null; i++) {
      recorders.onGet(handle, keys.get(i), values.get(i));
    }
    return values;
  }

  /** Shows a value to {@code look}; null if there is no such key. */
  <T> @Nullable T read(byte[] key, ValueReader<T> look) {
    Probe probe = reader.probes().take();
    try {
      ByteBuffer target = probe.scratch();
      target.limit(Math.min(target.capacity(), SMALL_BYTES));
      int length = reader.get(handle, key, reader.latest(), probe);
      byte[] folded = probe.folded();
      recorders.onGet(handle, key, length);
      if (length == Tree.NOT_FOUND) {
        return null;
      }
      if (folded != null || length <= target.remaining()) {
        ByteBuffer value = folded == null ? target.slice(0, length) : ByteBuffer.wrap(folded);
        return show(value.asReadOnlyBuffer(), look);
      }
    } finally {
      probe.give();
    }
    operations.beginLook();
    try {
      return inPlace.read(handle, key, look::read);
    } finally {
      operations.endLook();
    }
  }

  private static <T> T show(ByteBuffer view, ValueReader<T> look) {
    try {
      return look.read(view);
    } finally {
      view.limit(0);
    }
  }
}
