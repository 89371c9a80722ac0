package io.isobardb.bench.latency;

import io.isobardb.bench.engine.Session;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Answers at once and keeps nothing: what is measured then is the clients' own time, and what the
 * machine takes from them. Stateless; any thread.
 */
final class NoSession implements Session {
  private static final int RECORD_AT = 8;
  private static final byte[] EMPTY = new byte[0];

  private final int valueBytes;

  /**
   * @param valueBytes how long values are that it gives
   */
  NoSession(int valueBytes) {
    this.valueBytes = valueBytes;
  }

  @Override
  public void put(int tree, byte[] key, byte[] value) {}

  @Override
  public void putAll(int tree, byte[][] keys, byte[][] values) {}

  @Override
  public int get(int tree, byte[] key, byte[] into) {
    long record = ByteBuffer.wrap(key).getLong(RECORD_AT);
    ByteBuffer.wrap(into).order(ByteOrder.LITTLE_ENDIAN).putLong(0, record);
    return valueBytes;
  }

  @Override
  public int look(int tree, byte[] key) {
    return ABSENT;
  }

  @Override
  public void delete(int tree, byte[] key) {}

  @Override
  public int scan(int tree, byte[] from, int limit, Visitor visitor) {
    for (int i = 0; i < limit; i++) {
      visitor.entry(from, from.length, EMPTY, 0);
    }
    return limit;
  }

  @Override
  public int scanPrefix(int tree, byte[] prefix, Visitor visitor) {
    return 0;
  }

  @Override
  public List<byte @Nullable []> multiGet(int tree, List<byte[]> keys) {
    return Collections.nCopies(keys.size(), null);
  }

  @Override
  public void close() {}
}
