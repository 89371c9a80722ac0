package io.isobardb.kafka;

import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.apache.kafka.streams.query.MultiVersionedKeyQuery;
import org.apache.kafka.streams.query.Query;
import org.apache.kafka.streams.query.QueryResult;
import org.apache.kafka.streams.query.ResultOrder;
import org.apache.kafka.streams.query.VersionedKeyQuery;
import org.apache.kafka.streams.state.VersionedBytesStore;
import org.apache.kafka.streams.state.VersionedKeyValueStore;
import org.apache.kafka.streams.state.VersionedRecord;
import org.apache.kafka.streams.state.VersionedRecordIterator;
import org.jspecify.annotations.Nullable;

/**
 * A versioned store: values of a key as of times. The latest value of a key is kept for ever, older
 * ones until the stream's time has passed their end by the retention.
 *
 * <pre>
 * 0 | segment of the end (8) | length of the key (4) | key | begin (8)   end (8) | deleted (1) | value
 * 1 | key                                                                begin (8) | value
 * </pre>
 *
 * The second kind is the latest value. If a key was deleted last there is none; that it was deleted
 * is the end of the version before, or else an entry of its own that ends where it begins.
 */
final class IsobarVersionedStore extends AbstractStore implements VersionedCalls {
  private static final byte OLD = 0;
  private static final byte LATEST = 1;
  private static final int HEAD = 1 + Long.BYTES;

  private final long retention;
  private final long interval;

  private Runnable dropped = () -> {};

  /** All segments before this one were removed, or will be at the next commit. */
  private volatile long expired;

  IsobarVersionedStore(String name, long retention, long interval) {
    super(name);
    this.retention = retention;
    this.interval = interval;
  }

  /** Kafka's choice of the span of a segment, in milliseconds, for a retention. */
  static long segmentInterval(long retention) {
    if (retention <= 60_000) {
      return Math.max(retention / 3, 2_000);
    }
    if (retention <= 300_000) {
      return Math.max(retention / 5, 20_000);
    }
    return retention <= 3_600_000
        ? Math.max(retention / 12, 60_000)
        : Math.max(retention / 24, 300_000);
  }

  /** A version that another one has followed; if it ends where it begins, the deletion there. */
  private record Old(long begin, long end, byte @Nullable [] value) {
    boolean isValid(long time) {
      return begin <= time && time < end;
    }
  }

  @Override
  String layout() {
    return "versions in segments of " + interval + " ms";
  }

  @Override
  boolean needsTimestamps() {
    return true;
  }

  @Override
  void onOpen(StateTree opened, StateStoreContext context, @Nullable StateStore root) {
    expired = segment(opened.streamTime() - retention);
    dropped = KafkaInternals.dropped(context);
  }

  // ---- keys and values

  private long segment(long time) {
    return Math.floorDiv(time, interval);
  }

  private static byte[] latestKey(byte[] key) {
    return ByteBuffer.allocate(1 + key.length).put(LATEST).put(key).array();
  }

  private static byte[] inSegment(long segment, byte[] key) {
    return ByteBuffer.allocate(HEAD + Integer.BYTES + key.length)
        .put(OLD)
        .putLong(segment ^ Long.MIN_VALUE)
        .putInt(key.length)
        .put(key)
        .array();
  }

  private static byte[] segmentBegin(long segment) {
    return ByteBuffer.allocate(HEAD).put(OLD).putLong(segment ^ Long.MIN_VALUE).array();
  }

  private byte[] oldKey(byte[] key, Old version) {
    byte[] begin = inSegment(segment(version.end()), key);
    return ByteBuffer.allocate(begin.length + Long.BYTES)
        .put(begin)
        .putLong(version.begin())
        .array();
  }

  private static byte[] encode(Old version) {
    byte[] value = version.value();
    ByteBuffer encoded =
        ByteBuffer.allocate(Long.BYTES + 1 + (value == null ? 0 : value.length))
            .putLong(version.end())
            .put((byte) (value == null ? 1 : 0));
    return (value == null ? encoded : encoded.put(value)).array();
  }

  private static Old decode(byte[] key, byte[] encoded) {
    long begin = ByteBuffer.wrap(key).getLong(key.length - Long.BYTES);
    ByteBuffer buffer = ByteBuffer.wrap(encoded);
    long end = buffer.getLong();
    boolean deleted = buffer.get() != 0;
    return new Old(
        begin,
        end,
        deleted ? null : Arrays.copyOfRange(encoded, buffer.position(), encoded.length));
  }

  private static byte[] stamped(long time, byte[] value) {
    return ByteBuffer.allocate(Long.BYTES + value.length).putLong(time).put(value).array();
  }

  private static long time(byte[] stamped) {
    return ByteBuffer.wrap(stamped).getLong();
  }

  private static byte[] value(byte[] stamped) {
    return Arrays.copyOfRange(stamped, Long.BYTES, stamped.length);
  }

  // ---- reads

  /** The versions of a key that end at a time or later, the last first. */
  private List<Old> versions(StateTree tree, byte[] key, long from, boolean committed) {
    long segment = Math.max(segment(from), expired);
    List<Old> versions = new ArrayList<>();
    try (Entries entries =
        tree.entries(segmentBegin(segment), new byte[] {LATEST}, true, committed)) {
      boolean found = entries.seek(inSegment(segment, key));
      while (found) {
        byte[] at = entries.key();
        long of = ByteBuffer.wrap(at).getLong(1) ^ Long.MIN_VALUE;
        byte[] begin = inSegment(of, key);
        int length = Math.min(at.length, begin.length);
        int order = Arrays.compareUnsigned(at, 0, length, begin, 0, begin.length);
        if (order < 0) {
          found = entries.seek(begin);
        } else if (order > 0) {
          found = entries.seek(inSegment(of + 1, key));
        } else {
          versions.add(decode(at, entries.value()));
          found = entries.next();
        }
      }
    } catch (RuntimeException e) {
      throw tree.failure(e);
    }
    versions.sort(Comparator.comparingLong(Old::begin).reversed());
    return versions;
  }

  private @Nullable VersionedRecord<byte[]> latest(Bytes key, boolean committed) {
    Objects.requireNonNull(key, "key cannot be null");
    byte[] stamped = tree().get(latestKey(key.get()), committed);
    return stamped == null ? null : new VersionedRecord<>(value(stamped), time(stamped));
  }

  private @Nullable VersionedRecord<byte[]> asOf(Bytes key, long time, boolean committed) {
    VersionedRecord<byte[]> latest = latest(key, committed);
    if (latest != null && latest.timestamp() <= time) {
      return latest;
    }
    StateTree tree = tree();
    if (time < tree.streamTime() - retention) {
      return null;
    }
    for (Old version : versions(tree, key.get(), time, committed)) {
      if (version.isValid(time)) {
        return version.value() == null
            ? null
            : new VersionedRecord<>(version.value(), version.begin(), version.end());
      }
    }
    return null;
  }

  private static byte @Nullable [] stamped(@Nullable VersionedRecord<byte[]> version) {
    return version == null ? null : stamped(version.timestamp(), version.value());
  }

  @Override
  public byte @Nullable [] get(Bytes key) {
    return stamped(latest(key, false));
  }

  @Override
  public byte @Nullable [] get(Bytes key, long asOfTimestamp) {
    return stamped(asOf(key, asOfTimestamp, false));
  }

  // ---- writes

  @Override
  public long put(Bytes key, byte @Nullable [] value, long timestamp) {
    Objects.requireNonNull(key, "key cannot be null");
    StateTree tree = tree();
    tree.checkOpen();
    synchronized (tree.position()) {
      tree.touch();
      advancePosition(tree);
      if (timestamp < tree.streamTime() - retention) {
        dropped.run();
        return VersionedKeyValueStore.PUT_RETURN_CODE_NOT_PUT;
      }
      List<StateTree.Change> changes = new ArrayList<>(3);
      long end = put(tree, changes, key.get(), value, timestamp);
      tree.write(changes);
      return end;
    }
  }

  @Override
  public byte @Nullable [] delete(Bytes key, long timestamp) {
    Objects.requireNonNull(key, "key cannot be null");
    StateTree tree = tree();
    boolean late = timestamp < tree.streamTime() - retention;
    byte[] old = late ? null : get(key, timestamp);
    put(key, null, timestamp);
    return old;
  }

  @Override
  void restoreAll(List<Restored> records) {
    StateTree tree = tree();
    for (Restored record : records) {
      List<StateTree.Change> changes = new ArrayList<>(3);
      if (record.timestamp() >= tree.streamTime() - retention) {
        put(tree, changes, record.key(), record.value(), record.timestamp());
      }
      tree.restore(changes);
    }
  }

  /** Adds what a put changes; when the version ends that it makes, or that this is not known. */
  private long put(
      StateTree tree,
      List<StateTree.Change> changes,
      byte[] key,
      byte @Nullable [] value,
      long time) {
    tree.advanceStreamTime(time);
    long oldest = segment(tree.streamTime() - retention);
    if (oldest > expired) {
      tree.deleteBefore(segmentBegin(oldest));
      expired = oldest;
    }
    byte[] latestKey = latestKey(key);
    byte[] latest = tree.get(latestKey, false);
    if (latest != null && time >= time(latest)) {
      if (time > time(latest)) {
        addOld(changes, key, new Old(time(latest), time, value(latest)));
      }
      changes.add(new StateTree.Change(latestKey, value == null ? null : stamped(time, value)));
      return VersionedKeyValueStore.PUT_RETURN_CODE_VALID_TO_UNDEFINED;
    }
    long next = latest == null ? Long.MAX_VALUE : time(latest);
    boolean hasNext = latest != null;
    boolean isDeletedHere = false;
    for (Old version : versions(tree, key, time, false)) {
      if (version.isValid(time)) {
        return split(changes, key, version, new Old(time, version.end(), value));
      }
      if (version.begin() > time) {
        next = version.begin();
        hasNext = true;
      }
      isDeletedHere |= version.end() == time;
    }
    if (hasNext) {
      addOld(changes, key, new Old(time, next, value));
      return next;
    }
    if (value != null) {
      changes.add(new StateTree.Change(latestKey, stamped(time, value)));
    } else if (!isDeletedHere) {
      addOld(changes, key, new Old(time, time, null));
    }
    return VersionedKeyValueStore.PUT_RETURN_CODE_VALID_TO_UNDEFINED;
  }

  /** Ends a version where a new one begins, which ends where the old one did. */
  private long split(List<StateTree.Change> changes, byte[] key, Old old, Old added) {
    if (old.begin() < added.begin()) {
      changes.add(new StateTree.Change(oldKey(key, old), null));
      addOld(changes, key, new Old(old.begin(), added.begin(), old.value()));
    }
    addOld(changes, key, added);
    return added.end();
  }

  private void addOld(List<StateTree.Change> changes, byte[] key, Old version) {
    if (segment(version.end()) >= expired) {
      changes.add(new StateTree.Change(oldKey(key, version), encode(version)));
    }
  }

  // ---- queries

  @Override
  @Nullable QueryResult<?> answer(Query<?> query, boolean committed) {
    if (query instanceof VersionedKeyQuery<?, ?> of) {
      Bytes key = (Bytes) of.key();
      return QueryResult.forResult(
          of.asOfTimestamp().isPresent()
              ? asOf(key, of.asOfTimestamp().get().toEpochMilli(), committed)
              : latest(key, committed));
    }
    if (query instanceof MultiVersionedKeyQuery<?, ?> of) {
      long from = of.fromTime().map(Instant::toEpochMilli).orElse(Long.MIN_VALUE);
      long to = of.toTime().map(Instant::toEpochMilli).orElse(Long.MAX_VALUE);
      return QueryResult.forResult(span((Bytes) of.key(), from, to, of.resultOrder(), committed));
    }
    return null;
  }

  /** The versions of a key that are valid at some time of a span. */
  private VersionedRecordIterator<byte[]> span(
      Bytes key, long from, long to, ResultOrder order, boolean committed) {
    List<VersionedRecord<byte[]>> found = new ArrayList<>();
    VersionedRecord<byte[]> latest = latest(key, committed);
    if (latest != null && latest.timestamp() <= to) {
      found.add(latest);
    }
    StateTree tree = tree();
    if (to >= tree.streamTime() - retention) {
      for (Old version : versions(tree, key.get(), Math.max(from, 0), committed)) {
        if (version.value() != null && version.begin() <= to && version.end() > from) {
          found.add(new VersionedRecord<>(version.value(), version.begin(), version.end()));
        }
      }
    }
    if (order == ResultOrder.ASCENDING) {
      found.sort(Comparator.comparingLong(VersionedRecord::timestamp));
    }
    return new Found(found.iterator());
  }

  private record Found(Iterator<VersionedRecord<byte[]>> versions)
      implements VersionedRecordIterator<byte[]> {
    @Override
    public boolean hasNext() {
      return versions.hasNext();
    }

    @Override
    public VersionedRecord<byte[]> next() {
      return versions.next();
    }

    @Override
    public void close() {}
  }

  /** The store at a level of isolation; Kafka 4.4 asks for it. */
  public VersionedBytesStore readOnly(IsolationLevel level) {
    return isCommittedOnly(level) ? new Committed() : this;
  }

  /** Reads what Kafka has committed. */
  private final class Committed implements VersionedCalls {
    @Override
    public byte @Nullable [] get(Bytes key) {
      return stamped(latest(key, true));
    }

    @Override
    public byte @Nullable [] get(Bytes key, long asOfTimestamp) {
      return stamped(asOf(key, asOfTimestamp, true));
    }

    @Override
    public long put(Bytes key, byte @Nullable [] value, long timestamp) {
      throw readOnly();
    }

    @Override
    public byte @Nullable [] delete(Bytes key, long timestamp) {
      throw readOnly();
    }

    @Override
    public void init(StateStoreContext stateStoreContext, StateStore root) {
      throw readOnly();
    }

    private UnsupportedOperationException readOnly() {
      return new UnsupportedOperationException("this view of store " + name() + " is for reads");
    }

    @Override
    public String name() {
      return IsobarVersionedStore.this.name();
    }

    @Override
    public boolean persistent() {
      return true;
    }

    @Override
    public boolean isOpen() {
      return IsobarVersionedStore.this.isOpen();
    }

    @Override
    public void close() {}
  }
}
