package io.isobardb.kafka;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Predicate;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A state store whose entries have times, and go once the stream's time has passed them by the
 * retention. An entry lies in a segment by its time; a segment goes as a whole, by one range
 * delete.
 *
 * <pre>
 * segment (8) | key, as in the changelog       the entry
 * or, if entries are looked for by time, too:
 * segment (8) | 0 | key, as in the changelog   the entry
 * segment (8) | 1 | key with its times first   empty
 * </pre>
 *
 * Keys of the changelog end with their times, of which the first is the one that counts here.
 */
abstract class SegmentedStore extends AbstractStore {
  static final byte[] NOTHING = new byte[0];

  private static final Logger LOG = LoggerFactory.getLogger(SegmentedStore.class);
  private static final long SHORTEST_SEGMENT_MILLIS = 60_000;
  private static final byte BY_KEY = 0;
  private static final byte BY_TIME = 1;

  private final long retention;
  private final long interval;
  private final boolean byTime;
  private final int timesLength;

  /**
   * Whether what is looked for by time is found in the order of time. Kafka's cache merges what it
   * has with what is found here, and that in the order of keys.
   */
  private boolean searchesByTime;

  private Runnable dropped = () -> {};

  /** All segments before this one were removed, or will be at the next commit. */
  private volatile long expired;

  /**
   * Makes a store.
   *
   * @param retention how long entries are kept, in milliseconds
   * @param byTime whether entries are looked for by time
   * @param timesLength bytes of the times at the end of a key
   */
  SegmentedStore(String name, long retention, boolean byTime, int timesLength) {
    super(name);
    this.retention = retention;
    this.interval = segmentInterval(retention);
    this.byTime = byTime;
    this.timesLength = timesLength;
  }

  static long segmentInterval(long retention) {
    return Math.max(retention / 2, SHORTEST_SEGMENT_MILLIS);
  }

  /** Whether entries are looked for by time. */
  final boolean isByTime() {
    return byTime;
  }

  // ---- keys

  /** A key in a segment. Segments are in the order of their numbers, negative ones first. */
  static byte[] inSegment(long segment, byte[] key) {
    return ByteBuffer.allocate(Long.BYTES + key.length)
        .putLong(segment ^ Long.MIN_VALUE)
        .put(key)
        .array();
  }

  static long segment(byte[] keyOfTree) {
    return ByteBuffer.wrap(keyOfTree).getLong() ^ Long.MIN_VALUE;
  }

  /** A key of the changelog with its times first. */
  abstract byte[] timeFirst(byte[] key);

  /** A key of the changelog from one with its times first. */
  abstract byte[] timeLast(byte[] timeFirst);

  /** The time in milliseconds that says which segment a key is in, and whether it has expired. */
  final long time(byte[] key) {
    return ByteBuffer.wrap(key).getLong(key.length - timesLength);
  }

  /** What a key of the changelog has before its times, compared with a user's key. */
  final int compareKey(byte[] key, byte[] with) {
    return Arrays.compareUnsigned(key, 0, key.length - timesLength, with, 0, with.length);
  }

  private byte[] ofTree(byte[] key) {
    long segment = time(key) / interval;
    return inSegment(segment, byTime ? tagged(BY_KEY, key) : key);
  }

  private static byte[] tagged(byte tag, byte[] key) {
    return ByteBuffer.allocate(1 + key.length).put(tag).put(key).array();
  }

  private static byte[] untagged(byte[] key) {
    return Arrays.copyOfRange(key, 1, key.length);
  }

  @Override
  final String layout() {
    String times = timesLength + " bytes of times in segments of " + interval + " ms";
    return byTime ? times + ", by time too" : times;
  }

  // ---- opening

  @Override
  void onOpen(StateTree opened, StateStoreContext context, @Nullable StateStore root) {
    expired = oldestSegment(opened.streamTime());
    searchesByTime = byTime && !isCached(root);
    try {
      dropped = KafkaInternals.dropped(context);
    } catch (LinkageError e) {
      LOG.debug("this Kafka does not let state stores count what they drop", e);
    }
  }

  private static boolean isCached(@Nullable StateStore root) {
    try {
      return KafkaInternals.isCached(root);
    } catch (LinkageError e) {
      LOG.debug("this Kafka does not tell whether a state store is cached", e);
      return true;
    }
  }

  // ---- writes

  private long oldestSegment(long streamTime) {
    return (streamTime - retention) / interval;
  }

  /** Sets or removes a key; one that comes too late is dropped, and counted. */
  final void write(byte[] key, byte @Nullable [] value) {
    if (!writeIfLive(key, value)) {
      dropped.run();
      LOG.warn("Skipping record for expired segment.");
    }
  }

  /** Sets or removes a key; whether its segment is still there. */
  private boolean writeIfLive(byte[] key, byte @Nullable [] value) {
    StateTree tree = tree();
    tree.checkOpen();
    synchronized (tree.position()) {
      tree.touch();
      tree.advanceStreamTime(time(key));
      long oldest = oldestSegment(tree.streamTime());
      if (time(key) / interval < oldest) {
        return false;
      }
      expire(tree, oldest);
      set(tree, key, value);
      return true;
    }
  }

  /** Removes a key, if its segment is still there. As in Kafka's, no segment expires by that. */
  final void removeIfLive(byte[] key) {
    StateTree tree = tree();
    tree.checkOpen();
    synchronized (tree.position()) {
      tree.touch();
      tree.advanceStreamTime(time(key));
      if (time(key) / interval >= oldestSegment(tree.streamTime())) {
        set(tree, key, null);
      }
    }
  }

  private void set(StateTree tree, byte[] key, byte @Nullable [] value) {
    if (byTime) {
      List<StateTree.Change> changes = new ArrayList<>(2);
      addChanges(changes, key, value);
      tree.write(changes);
    } else {
      tree.put(ofTree(key), value);
    }
    advancePosition(tree);
  }

  private void addChanges(List<StateTree.Change> changes, byte[] key, byte @Nullable [] value) {
    changes.add(new StateTree.Change(ofTree(key), value));
    if (byTime) {
      changes.add(
          new StateTree.Change(
              inSegment(time(key) / interval, tagged(BY_TIME, timeFirst(key))),
              value == null ? null : NOTHING));
    }
  }

  private void expire(StateTree tree, long oldest) {
    if (oldest > expired) {
      tree.deleteBefore(inSegment(oldest, NOTHING));
      expired = oldest;
    }
  }

  @Override
  final void restoreAll(List<Restored> records) {
    StateTree tree = tree();
    for (Restored record : records) {
      tree.advanceStreamTime(time(record.key()));
    }
    long oldest = oldestSegment(tree.streamTime());
    List<StateTree.Change> changes = new ArrayList<>(records.size());
    for (Restored record : records) {
      if (time(record.key()) / interval >= oldest) {
        addChanges(changes, record.key(), record.value());
      }
    }
    expire(tree, oldest);
    tree.restore(changes);
  }

  // ---- reads

  /** The time before which entries are not shown. */
  long oldestTime() {
    return tree().streamTime() - retention + 1;
  }

  final byte @Nullable [] read(byte[] key, boolean committed) {
    StateTree tree = tree();
    return time(key) < oldestTime() ? null : tree.get(ofTree(key), committed);
  }

  /**
   * What a search looks at.
   *
   * @param from the first time; decides with {@code to} which segments are searched
   * @param to the last time
   * @param lower where keys begin, null for no bound
   * @param upper the key behind the last one, null for no bound
   * @param forward whether it goes to larger keys
   * @param committed whether to leave out what Kafka has not committed
   */
  record Search(
      long from,
      long to,
      byte @Nullable [] lower,
      byte @Nullable [] upper,
      boolean forward,
      boolean committed) {}

  /** What of a search counts: keys of the changelog. */
  interface Filter {
    boolean accepts(byte[] key);
  }

  /** The range of a scan by key. */
  final SegmentScan.Range byKey(Search search, Filter filter) {
    return byKey(search, filter, null);
  }

  private SegmentScan.Range byKey(
      Search search, Filter filter, SegmentScan.@Nullable Lookup lookup) {
    byte[] lower = search.lower() == null ? NOTHING : search.lower();
    byte[] upper = search.upper();
    if (!byTime) {
      return range(search, lower, upper, filter::accepts, null);
    }
    return range(
        search,
        tagged(BY_KEY, lower),
        upper == null ? new byte[] {BY_TIME} : tagged(BY_KEY, upper),
        key -> filter.accepts(untagged(key)),
        lookup);
  }

  /**
   * The range of a scan by time. If what is found has to be in the order of keys within a segment,
   * it is looked up by time all the same.
   *
   * @param filter accepts all keys whose times are those of the search
   */
  final SegmentScan.Range byTime(Search search, Filter filter) {
    if (!byTime) {
      return byKey(search, filter);
    }
    byte[] lower = timeBegin(search.from());
    byte[] upper =
        search.to() == Long.MAX_VALUE ? new byte[] {BY_TIME + 1} : timeBegin(search.to() + 1);
    SegmentScan.Range range = range(search, lower, upper, key -> true, null);
    return searchesByTime
        ? range
        : byKey(
            search,
            filter,
            new SegmentScan.Lookup(range, key -> tagged(BY_KEY, timeLast(untagged(key)))));
  }

  /** Where keys with their times first begin whose time is not before one. No time is negative. */
  private static byte[] timeBegin(long time) {
    return ByteBuffer.allocate(1 + Long.BYTES).put(BY_TIME).putLong(Math.max(0, time)).array();
  }

  private SegmentScan.Range range(
      Search search,
      byte[] lower,
      byte @Nullable [] upper,
      Predicate<byte[]> accepts,
      SegmentScan.@Nullable Lookup lookup) {
    long first = Math.max(0, search.from()) / interval;
    return new SegmentScan.Range(
        search.committed() ? first : Math.max(first, expired),
        Math.max(0, search.to()) / interval,
        lower,
        upper,
        search.forward(),
        accepts,
        lookup);
  }

  /** An entry of a scan, whose key stands behind the segment's number. */
  final <K> @Nullable KeyValue<K, byte[]> entry(
      byte[] inSegment, Entries at, boolean committed, Function<byte[], K> shown) {
    if (!byTime) {
      return KeyValue.pair(shown.apply(inSegment), at.value());
    }
    byte[] key = untagged(inSegment);
    if (inSegment[0] == BY_KEY) {
      return KeyValue.pair(shown.apply(key), at.value());
    }
    byte[] last = timeLast(key);
    // It may have been removed since.
    byte[] value = tree().get(ofTree(last), committed);
    return value == null ? null : KeyValue.pair(shown.apply(last), value);
  }

  /**
   * The key behind all that a range of users' keys has, whatever their times.
   *
   * @param to the last user's key, null for no bound
   * @param firstByte the largest first byte of a time
   */
  static byte @Nullable [] behind(@Nullable Bytes to, int firstByte) {
    if (to == null) {
      return null;
    }
    byte[] key = Objects.requireNonNull(to.get());
    int length = 0;
    // A shorter key goes on with a time, which may be behind what the longer one goes on with.
    while (length < key.length && (key[length] & 0xFF) > firstByte) {
      length++;
    }
    byte[] behind = Arrays.copyOf(key, length + 1);
    behind[length] = (byte) (firstByte + 1);
    return behind;
  }
}
