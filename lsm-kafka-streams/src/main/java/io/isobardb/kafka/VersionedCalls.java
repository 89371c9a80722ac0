package io.isobardb.kafka;

import java.util.List;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.VersionedBytesStore;

/** What versioned stores do not have of a key-value store. */
interface VersionedCalls extends VersionedBytesStore {
  private static UnsupportedOperationException unsupported(String call) {
    return new UnsupportedOperationException("versioned key-value stores do not support " + call);
  }

  @Override
  default void put(Bytes key, byte[] value) {
    throw unsupported("put without a timestamp");
  }

  @Override
  default byte[] putIfAbsent(Bytes key, byte[] value) {
    throw unsupported("putIfAbsent");
  }

  @Override
  default void putAll(List<KeyValue<Bytes, byte[]>> entries) {
    throw unsupported("putAll");
  }

  @Override
  default byte[] delete(Bytes key) {
    throw unsupported("delete without a timestamp");
  }

  @Override
  default KeyValueIterator<Bytes, byte[]> range(Bytes from, Bytes to) {
    throw unsupported("range");
  }

  @Override
  default KeyValueIterator<Bytes, byte[]> all() {
    throw unsupported("all");
  }

  @Override
  default long approximateNumEntries() {
    throw unsupported("approximateNumEntries");
  }
}
