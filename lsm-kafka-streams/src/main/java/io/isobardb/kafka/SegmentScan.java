package io.isobardb.kafka;

import java.util.Arrays;
import java.util.function.Predicate;
import org.apache.kafka.streams.KeyValue;
import org.jspecify.annotations.Nullable;

/**
 * An iterator over entries of one range of keys in each of several segments. It goes from one
 * segment to the next that has entries, and skips what lies between the ranges.
 *
 * @param <K> its keys
 */
abstract class SegmentScan<K> extends StateIterator<K> {
  /**
   * What a scan covers.
   *
   * @param first the first segment
   * @param last the last segment; nothing is found if that is before the first one
   * @param lower where the range begins in each segment, behind its number
   * @param upper the key behind the range in each segment; null for the end of the segment
   * @param forward whether it goes to larger keys
   * @param accepts whether a key behind the segment's number counts
   */
  record Range(
      long first,
      long last,
      byte[] lower,
      byte @Nullable [] upper,
      boolean forward,
      Predicate<byte[]> accepts) {
    byte[] begin(long segment) {
      return SegmentedStore.inSegment(segment, lower);
    }

    byte[] end(long segment) {
      return upper == null
          ? SegmentedStore.inSegment(segment + 1, SegmentedStore.NOTHING)
          : SegmentedStore.inSegment(segment, upper);
    }
  }

  private final Range range;
  private long segment;

  SegmentScan(StateTree tree, Range range, boolean committed) {
    super(
        tree,
        // As Kafka's, which open each segment when they come to it.
        () ->
            tree.entries(
                range.begin(range.first()),
                range.end(Math.max(range.first(), range.last())),
                range.forward(),
                committed));
    this.range = range;
    this.segment = range.forward() ? range.first() : range.last();
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
    if (range.first() > range.last()) {
      return null;
    }
    boolean found = first ? seek(entries) : entries.next();
    while (found) {
      byte[] key = entries.key();
      long at = SegmentedStore.segment(key);
      boolean entered = at != segment;
      segment = at;
      boolean beforeRange = Arrays.compareUnsigned(key, range.begin(at)) < 0;
      boolean behindRange = Arrays.compareUnsigned(key, range.end(at)) >= 0;
      if (beforeRange || behindRange) {
        // In the direction of the scan, the range of this segment is ahead or has been passed.
        if (beforeRange != range.forward()) {
          segment += range.forward() ? 1 : -1;
        } else if (!entered) {
          throw new IllegalStateException("a scan stands before its range in segment " + at);
        }
        found = segment >= range.first() && segment <= range.last() && seek(entries);
        continue;
      }
      byte[] inSegment = Arrays.copyOfRange(key, Long.BYTES, key.length);
      if (range.accepts().test(inSegment)) {
        KeyValue<K, byte[]> entry = entry(inSegment, entries);
        if (entry != null) {
          return entry;
        }
      }
      found = entries.next();
    }
    return null;
  }

  private boolean seek(Entries entries) {
    return entries.seek(range.forward() ? range.begin(segment) : range.end(segment));
  }
}
