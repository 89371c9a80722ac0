package io.isobardb.kafka;

import java.util.NoSuchElementException;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.WindowStoreIterator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Ranges that end before they begin: they are empty, and Kafka's warning is logged. */
final class InvalidRange {
  private static final Logger LOG = LoggerFactory.getLogger(InvalidRange.class);

  private InvalidRange() {}

  /** Whether a range ends before it begins; says so in the log. */
  static boolean isInvalid(@Nullable Bytes from, @Nullable Bytes to) {
    if (from == null || to == null || from.compareTo(to) <= 0) {
      return false;
    }
    LOG.warn(
        "Returning empty iterator for fetch with invalid key range: from > to."
            + " This may be due to range arguments set in the wrong order,"
            + " or serdes that don't preserve ordering when lexicographically comparing the"
            + " serialized bytes."
            + " Note that the built-in numerical serdes do not follow this for negative numbers");
    return true;
  }

  /** An iterator over nothing. */
  static <K> KeyValueIterator<K, byte[]> empty() {
    return new Nothing<>();
  }

  /** An iterator over no windows. */
  static WindowStoreIterator<byte[]> noWindows() {
    return new NoWindows();
  }

  private static class Nothing<K> implements KeyValueIterator<K, byte[]> {
    @Override
    public void close() {}

    @Override
    public K peekNextKey() {
      throw new NoSuchElementException();
    }

    @Override
    public boolean hasNext() {
      return false;
    }

    @Override
    public KeyValue<K, byte[]> next() {
      throw new NoSuchElementException();
    }
  }

  private static final class NoWindows extends Nothing<Long>
      implements WindowStoreIterator<byte[]> {}
}
