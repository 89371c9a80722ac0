package io.isobardb.kafka;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.apache.kafka.streams.KeyValue;
import org.jspecify.annotations.Nullable;

/**
 * An iterator over entries of one range of keys in each of several segments. It goes from one
 * segment to the next that has entries, and skips what lies between the ranges. If the range has a
 * {@link Lookup}, it finds the keys there and puts them in order, unless they are too many.
 *
 * @param <K> its keys
 */
abstract class SegmentScan<K> extends StateIterator<K> {
  /** So many keys are looked up and put in order; they take some megabytes of heap. */
  static final int MOST_LOOKED_UP = 1 << 16;

  /**
   * What a scan covers.
   *
   * @param first the first segment
   * @param last the last segment; nothing is found if that is before the first one
   * @param lower where the range begins in each segment, behind its number
   * @param upper the key behind the range in each segment; null for the end of the segment
   * @param forward whether it goes to larger keys
   * @param accepts whether a key behind the segment's number counts
   * @param lookup where the same entries are found by fewer steps; null for nowhere
   */
  record Range(
      long first,
      long last,
      byte[] lower,
      byte @Nullable [] upper,
      boolean forward,
      Predicate<byte[]> accepts,
      @Nullable Lookup lookup) {
    byte[] begin(long segment) {
      return SegmentedStore.inSegment(segment, lower);
    }

    byte[] end(long segment) {
      return upper == null
          ? SegmentedStore.inSegment(segment + 1, SegmentedStore.NOTHING)
          : SegmentedStore.inSegment(segment, upper);
    }
  }

  /**
   * Another range of the same segments that has the same entries in another order.
   *
   * @param range behind the other one in each segment
   * @param key the key in the other range of what has a key in this one, both behind the segment's
   *     number
   */
  record Lookup(Range range, UnaryOperator<byte[]> key) {}

  private final Range range;

  /** The segment it is in, and where the range begins and ends there. */
  private long segment;

  private byte[] begin = SegmentedStore.NOTHING;
  private byte[] end = SegmentedStore.NOTHING;

  /** The keys that were looked up, with their segments; null if all keys are gone through. */
  private @Nullable Iterator<byte[]> lookedUp;

  SegmentScan(StateTree tree, Range range, boolean committed) {
    super(
        tree,
        // As Kafka's, which open each segment when they come to it.
        () ->
            tree.entries(
                range.begin(range.first()),
                lastOf(range).end(Math.max(range.first(), range.last())),
                range.forward(),
                committed));
    this.range = range;
  }

  /** The range that lies behind in each segment. */
  private static Range lastOf(Range range) {
    Lookup lookup = range.lookup();
    return lookup == null ? range : lookup.range();
  }

  /** Kafka's windows and sessions are over then. */
  @Override
  final boolean hasNextIfClosed() {
    return false;
  }

  /** The entry for a key, which stands behind the segment's number; null if it does not count. */
  abstract @Nullable KeyValue<K, byte[]> entry(byte[] key, Entries at);

  @Override
  final @Nullable KeyValue<K, byte[]> advance(Entries entries, boolean first) {
    Lookup lookup = range.lookup();
    if (first && lookup != null) {
      lookedUp = lookUp(entries, lookup);
    }
    Iterator<byte[]> keys = lookedUp;
    return keys == null ? next(entries, first) : next(entries, keys);
  }

  /** The next of all. */
  private @Nullable KeyValue<K, byte[]> next(Entries entries, boolean first) {
    byte[] key = nextKey(entries, range, first);
    while (key != null) {
      KeyValue<K, byte[]> entry = entry(key, entries);
      if (entry != null) {
        return entry;
      }
      key = nextKey(entries, range, false);
    }
    return null;
  }

  /** The next of those that were looked up. */
  private @Nullable KeyValue<K, byte[]> next(Entries entries, Iterator<byte[]> keys) {
    while (keys.hasNext()) {
      byte[] key = keys.next();
      boolean found = entries.seek(range.forward() ? key : Arrays.copyOf(key, key.length + 1));
      KeyValue<K, byte[]> entry =
          found && Arrays.equals(entries.key(), key) ? entry(behindSegment(key), entries) : null;
      if (entry != null) {
        return entry;
      }
    }
    return null;
  }

  /** The keys of all that counts, in the order of the scan; null if they are too many. */
  private @Nullable Iterator<byte[]> lookUp(Entries entries, Lookup lookup) {
    List<byte[]> keys = new ArrayList<>();
    byte[] found = nextKey(entries, lookup.range(), true);
    while (found != null) {
      if (keys.size() == MOST_LOOKED_UP) {
        return null;
      }
      keys.add(SegmentedStore.inSegment(segment, lookup.key().apply(found)));
      found = nextKey(entries, lookup.range(), false);
    }
    Comparator<byte[]> order = Arrays::compareUnsigned;
    keys.sort(range.forward() ? order : order.reversed());
    return keys.iterator();
  }

  /** Moves on to the next key that counts, and gives what of it is behind the segment's number. */
  private byte @Nullable [] nextKey(Entries entries, Range in, boolean first) {
    if (in.first() > in.last()) {
      return null;
    }
    if (first) {
      enter(in, in.forward() ? in.first() : in.last());
    }
    boolean found = first ? seek(entries, in) : entries.next();
    while (found) {
      byte[] key = entries.key();
      long at = SegmentedStore.segment(key);
      boolean entered = at != segment;
      if (entered) {
        enter(in, at);
      }
      boolean beforeRange = Arrays.compareUnsigned(key, begin) < 0;
      boolean behindRange = Arrays.compareUnsigned(key, end) >= 0;
      if (beforeRange || behindRange) {
        // In the direction of the scan, the range of this segment is ahead or has been passed.
        if (beforeRange != in.forward()) {
          enter(in, at + (in.forward() ? 1 : -1));
        } else if (!entered) {
          throw new IllegalStateException("a scan stands before its range in segment " + at);
        }
        found = segment >= in.first() && segment <= in.last() && seek(entries, in);
        continue;
      }
      byte[] inSegment = behindSegment(key);
      if (in.accepts().test(inSegment)) {
        return inSegment;
      }
      found = entries.next();
    }
    return null;
  }

  private void enter(Range in, long number) {
    segment = number;
    begin = in.begin(number);
    end = in.end(number);
  }

  private static byte[] behindSegment(byte[] key) {
    return Arrays.copyOfRange(key, Long.BYTES, key.length);
  }

  private boolean seek(Entries entries, Range in) {
    return entries.seek(in.forward() ? begin : end);
  }
}
