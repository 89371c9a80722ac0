package io.isobardb.lsm.typed;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The records that threads have decoded last, so that all extractors of a write get the same. Each
 * thread has two: of a write the old record and the new one.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
final class DecodedRecords<V> {
  private static final int KEPT = 2;

  /** Larger ones are decoded each time, rather than kept. */
  private static final int MOST_BYTES = 64 << 10;

  private record Decoded<V>(byte[] bytes, V value) {}

  private static final class Last<V> {
    final @Nullable Decoded<V>[] records;
    int next;

    @SuppressWarnings({"unchecked", "rawtypes"})
    Last() {
      records = new Decoded[KEPT];
    }
  }

  private final Codec<V> codec;
  private final ThreadLocal<Last<V>> last = ThreadLocal.withInitial(Last::new);

  DecodedRecords(Codec<V> codec) {
    this.codec = codec;
  }

  V decode(byte[] bytes) {
    Last<V> mine = last.get();
    for (Decoded<V> record : mine.records) {
      // By what they hold: their owner may use an array again.
      if (record != null && Arrays.equals(record.bytes(), bytes)) {
        return record.value();
      }
    }
    byte[] kept = bytes.clone();
    V value = codec.decode(ByteBuffer.wrap(kept).asReadOnlyBuffer());
    if (kept.length <= MOST_BYTES) {
      mine.records[mine.next] = new Decoded<>(kept, value);
      mine.next = (mine.next + 1) % KEPT;
    }
    return value;
  }
}
