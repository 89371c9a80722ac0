package io.isobardb.lsm.recipe;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.typed.Codec;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import java.util.Spliterator;
import java.util.Spliterators.AbstractSpliterator;
import java.util.function.Consumer;

/** The points of a series: goes from bucket to bucket, with a search in each. */
final class SeriesPoints<V> extends AbstractSpliterator<Map.Entry<Instant, V>> {
  /**
   * Which points, and in which order.
   *
   * @param from the first time
   * @param to the time behind the last one
   */
  record Span(String series, Instant from, Instant to, boolean newestFirst) {
    Span {
      Objects.requireNonNull(series, "series");
      Objects.requireNonNull(from, "from");
      Objects.requireNonNull(to, "to");
    }
  }

  private final Cursor cursor;
  private final SeriesKeys keys;
  private final Span span;
  private final Codec<V> values;
  private boolean ended;

  /**
   * @param cursor over points alone; is closed at the end
   */
  SeriesPoints(Cursor cursor, SeriesKeys keys, Span span, Codec<V> values) {
    super(Long.MAX_VALUE, Spliterator.ORDERED | Spliterator.DISTINCT | Spliterator.NONNULL);
    this.cursor = cursor;
    this.keys = keys;
    this.span = span;
    this.values = values;
  }

  @Override
  public boolean tryAdvance(Consumer<? super Map.Entry<Instant, V>> action) {
    boolean more = !ended && (cursor.isValid() ? step() : begin());
    while (more) {
      SeriesKeys.Point at = SeriesKeys.point(cursor.key());
      int order = at.series().compareTo(span.series());
      if (isPast(at, order)) {
        break;
      }
      if (order == 0) {
        action.accept(Map.entry(at.time(), cursor.read(values::decode)));
        return true;
      }
      more = search(at.bucket(), order);
    }
    ended = true;
    cursor.close();
    return false;
  }

  private boolean begin() {
    return span.newestFirst()
        ? cursor.seekBefore(keys.of(span.series(), span.to()))
        : cursor.seek(keys.of(span.series(), span.from()));
  }

  private boolean step() {
    return span.newestFirst() ? cursor.previous() : cursor.next();
  }

  /** Goes on from a point of another series, where that of this one may be. */
  private boolean search(long bucket, int order) {
    if (span.newestFirst()) {
      long last = order < 0 ? bucket - 1 : bucket;
      return cursor.seekBefore(SeriesKeys.of(last, span.series(), Instant.MAX));
    }
    long next = order > 0 ? bucket + 1 : bucket;
    return cursor.seek(SeriesKeys.of(next, span.series(), Instant.MIN));
  }

  /** Whether no more points can come. */
  private boolean isPast(SeriesKeys.Point at, int order) {
    return span.newestFirst()
        ? at.bucket() < keys.bucket(span.from()) || order == 0 && at.time().isBefore(span.from())
        : at.bucket() > keys.bucket(span.to()) || order == 0 && !at.time().isBefore(span.to());
  }
}
