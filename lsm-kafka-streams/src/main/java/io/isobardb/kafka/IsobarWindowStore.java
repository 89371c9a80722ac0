package io.isobardb.kafka;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Objects;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.serialization.BytesDeserializer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.kstream.TimeWindowedDeserializer;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.query.Query;
import org.apache.kafka.streams.query.QueryResult;
import org.apache.kafka.streams.state.HeadersBytesStore;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.ReadOnlyWindowStore;
import org.apache.kafka.streams.state.TimestampedBytesStore;
import org.apache.kafka.streams.state.WindowStore;
import org.apache.kafka.streams.state.WindowStoreIterator;
import org.jspecify.annotations.Nullable;

/**
 * A window store. A key of the changelog is the user's key, the window's start (8 bytes), and a
 * number (4 bytes), which is 0 unless duplicates are kept.
 */
class IsobarWindowStore extends SegmentedStore implements WindowStore<Bytes, byte[]> {
  static final int TIMES_LENGTH = Long.BYTES + Integer.BYTES;

  /**
   * How a window store was asked for.
   *
   * @param retention how long windows are kept, in milliseconds
   * @param windowSize in milliseconds
   * @param duplicates whether a key may have many values in a window
   * @param byTime whether windows are looked for by time
   */
  record Kind(String name, long retention, long windowSize, boolean duplicates, boolean byTime) {}

  private final Kind kind;

  /** One for all iterators: each makes a logger. */
  private final TimeWindowedDeserializer<Bytes> windows;

  private final WindowView view = new WindowView(this, false);
  private final WindowView committed = new WindowView(this, true);

  /** The number of the last value that was put. */
  private int number;

  IsobarWindowStore(Kind kind) {
    super(kind.name(), kind.retention(), kind.byTime(), TIMES_LENGTH);
    this.kind = kind;
    this.windows = new TimeWindowedDeserializer<>(new BytesDeserializer(), kind.windowSize());
  }

  /** One whose values begin with a timestamp; restored values get one. */
  static final class Timestamped extends IsobarWindowStore implements TimestampedBytesStore {
    Timestamped(Kind kind) {
      super(kind);
    }
  }

  /** One whose values begin with headers and a timestamp; restored values get them. */
  static final class WithHeaders extends IsobarWindowStore
      implements TimestampedBytesStore, HeadersBytesStore {
    WithHeaders(Kind kind) {
      super(kind);
    }
  }

  /** The window of a key of the changelog. */
  Windowed<Bytes> window(byte[] key) {
    return windows.deserialize("", Arrays.copyOf(key, key.length - Integer.BYTES));
  }

  /** The key of the changelog for a window. */
  static byte[] key(byte[] key, long start, int number) {
    return ByteBuffer.allocate(key.length + TIMES_LENGTH)
        .put(key)
        .putLong(start)
        .putInt(number)
        .array();
  }

  /** The number of the value that was put last. */
  int number() {
    return number;
  }

  /**
   * {@inheritDoc}
   *
   * <p>Windows by time are shown for a millisecond more, as in Kafka's: a window is asked for its
   * final result when the stream's time has come to its end and grace, which are the retention.
   */
  @Override
  long oldestTime() {
    return isByTime() ? super.oldestTime() - 1 : super.oldestTime();
  }

  @Override
  byte[] timeFirst(byte[] key) {
    int length = key.length - TIMES_LENGTH;
    return ByteBuffer.allocate(key.length)
        .put(key, length, Long.BYTES)
        .put(key, 0, length)
        .put(key, length + Long.BYTES, Integer.BYTES)
        .array();
  }

  @Override
  byte[] timeLast(byte[] timeFirst) {
    int length = timeFirst.length - TIMES_LENGTH;
    return ByteBuffer.allocate(timeFirst.length)
        .put(timeFirst, Long.BYTES, length)
        .put(timeFirst, 0, Long.BYTES)
        .put(timeFirst, Long.BYTES + length, Integer.BYTES)
        .array();
  }

  @Override
  public void put(Bytes key, byte @Nullable [] value, long windowStartTimestamp) {
    Objects.requireNonNull(key, "key cannot be null");
    if (value == null && kind.duplicates()) {
      // There is no saying which of the values it would remove.
      tree().touch();
      return;
    }
    if (kind.duplicates()) {
      number = (number + 1) & Integer.MAX_VALUE;
    }
    write(key(key.get(), windowStartTimestamp, number), value);
  }

  @Override
  public byte @Nullable [] fetch(Bytes key, long time) {
    return view.fetch(key, time);
  }

  @Override
  public WindowStoreIterator<byte[]> fetch(Bytes key, long timeFrom, long timeTo) {
    return view.fetch(key, timeFrom, timeTo, true);
  }

  @Override
  public WindowStoreIterator<byte[]> backwardFetch(Bytes key, long timeFrom, long timeTo) {
    return view.fetch(key, timeFrom, timeTo, false);
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> fetch(
      @Nullable Bytes keyFrom, @Nullable Bytes keyTo, long timeFrom, long timeTo) {
    return view.fetch(keyFrom, keyTo, timeFrom, timeTo, true);
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> backwardFetch(
      @Nullable Bytes keyFrom, @Nullable Bytes keyTo, long timeFrom, long timeTo) {
    return view.fetch(keyFrom, keyTo, timeFrom, timeTo, false);
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> fetchAll(long timeFrom, long timeTo) {
    return view.fetchAll(timeFrom, timeTo, true);
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> backwardFetchAll(long timeFrom, long timeTo) {
    return view.fetchAll(timeFrom, timeTo, false);
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> all() {
    return view.all();
  }

  @Override
  public KeyValueIterator<Windowed<Bytes>, byte[]> backwardAll() {
    return view.backwardAll();
  }

  /** The store at a level of isolation; Kafka 4.4 asks for it. */
  public ReadOnlyWindowStore<Bytes, byte[]> readOnly(IsolationLevel level) {
    return isCommittedOnly(level) ? committed : view;
  }

  @Override
  @Nullable QueryResult<?> answer(Query<?> query, boolean committedOnly) {
    return (committedOnly ? committed : view).answer(query);
  }
}
