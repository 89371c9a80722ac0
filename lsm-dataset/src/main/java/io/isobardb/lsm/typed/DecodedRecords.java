package io.isobardb.lsm.typed;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The records that threads have decoded last, so that all extractors of a write get the same. Each
 * thread has two: of a write the old record and the new one. No thread gets what another one has
 * decoded. Threads whose numbers are alike may push each other's records out.
 *
 * <p>There is no {@link ThreadLocal}: a pooled thread would keep the class loaders of records.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
final class DecodedRecords<V> {
  /** For how many threads there is room; a power of two. */
  private static final int THREADS = 32;

  private static final int KEPT = 2;

  /** Larger ones are decoded each time, rather than kept. */
  private static final int MOST_BYTES = 64 << 10;

  private record Decoded<V>(long thread, byte[] bytes, V value) {}

  private final Codec<V> codec;

  /** For each thread its newest record, then the one before. */
  private final AtomicReferenceArray<@Nullable Decoded<V>> last =
      new AtomicReferenceArray<>(THREADS * KEPT);

  DecodedRecords(Codec<V> codec) {
    this.codec = codec;
  }

  V decode(byte[] bytes) {
    long thread = Thread.currentThread().getId();
    int first = (int) (thread & THREADS - 1) * KEPT;
    for (int i = first; i < first + KEPT; i++) {
      Decoded<V> record = last.get(i);
      // By what they hold: their owner may use an array again.
      if (record != null && record.thread() == thread && Arrays.equals(record.bytes(), bytes)) {
        return record.value();
      }
    }
    byte[] kept = bytes.clone();
    V value = codec.decode(ByteBuffer.wrap(kept).asReadOnlyBuffer());
    if (kept.length <= MOST_BYTES) {
      last.set(first + 1, last.get(first));
      last.set(first, new Decoded<>(thread, kept, value));
    }
    return value;
  }
}
