package io.isobardb.lsm.recipe;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.typed.Codec;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/**
 * Measurements of many series over time, of which old ones are dropped.
 *
 * <pre>{@code
 * TimeSeries<Double> weather =
 *     TimeSeries.open(store, "weather", Duration.ofDays(1), Codec.float64());
 * weather.put("london", Instant.now(), 11.5);
 * Instant yesterday = Instant.now().minus(Duration.ofDays(1));
 * try (var points = weather.entries("london", yesterday, Instant.now())) {
 *   points.forEach(point -> System.out.println(point.getKey() + " " + point.getValue()));
 * }
 * weather.deleteBefore(yesterday);
 * }</pre>
 *
 * <p>Entries lie by bucket of time, series and time. So one small range delete drops what is old of
 * all series, whose files go unread. To read a series costs one search for each bucket.
 *
 * <p><b>What fails.</b> A point is there or not; one of the same series and time is replaced. A
 * crash may take back the last points, or the last {@code deleteBefore}, if they were not synced,
 * as the default durability of the store says. A point that is put for a time that was deleted is
 * there until the next {@code deleteBefore}.
 *
 * <p>Thread rule: all methods may be called by any thread. A stream belongs to one at a time.
 *
 * <p>Errors: those of {@link Tree}, and what the codec throws.
 *
 * @param <V> the type of a measurement
 */
public final class TimeSeries<V> {
  /** Under it stands the length of buckets. No bucket's number begins like that. */
  private static final byte[] LENGTH = {0};

  /** Before all points, and behind that. */
  private static final byte[] POINTS = {1};

  private final Tree tree;
  private final SeriesKeys keys;
  private final Codec<V> values;

  private TimeSeries(Tree tree, SeriesKeys keys, Codec<V> values) {
    this.tree = tree;
    this.keys = keys;
    this.values = values;
  }

  /**
   * Opens series, or makes them.
   *
   * @param <V> the type of a measurement
   * @param store an open store
   * @param name of the tree that holds them, and nothing else
   * @param bucket how long the pieces are that old points are dropped by: whole seconds, at least
   *     one. A hundredth of the time that points are kept is a good choice. It is stored
   * @param values the codec of values
   * @return the series
   * @throws IllegalArgumentException if the series were made with other buckets
   */
  public static <V> TimeSeries<V> open(Store store, String name, Duration bucket, Codec<V> values) {
    Objects.requireNonNull(store, "store");
    Objects.requireNonNull(name, "name");
    Objects.requireNonNull(values, "values");
    if (Objects.requireNonNull(bucket, "bucket").getNano() != 0 || bucket.getSeconds() < 1) {
      throw new IllegalArgumentException(
          "buckets of '" + name + "' must have whole seconds, not " + bucket);
    }
    Tree tree = store.openTree(name);
    byte[] before = tree.putIfAbsent(LENGTH, bucket.toString().getBytes(UTF_8));
    if (before != null && !bucket.equals(Duration.parse(new String(before, UTF_8)))) {
      throw new IllegalArgumentException(
          "the series '"
              + name
              + "' have buckets of "
              + new String(before, UTF_8)
              + ", not "
              + bucket);
    }
    return new TimeSeries<>(tree, new SeriesKeys(bucket.getSeconds()), values);
  }

  /**
   * Sets a point.
   *
   * @param series the name of the series
   * @param time the time
   * @param value its value
   */
  public void put(String series, Instant time, V value) {
    tree.put(keys.of(series, time), values.encode(Objects.requireNonNull(value, "value")));
  }

  /**
   * Adds a point to a batch: many points at once cost much less.
   *
   * @param batch gets the write
   * @param series the name of the series
   * @param time the time
   * @param value its value
   */
  public void put(WriteBatch batch, String series, Instant time, V value) {
    Objects.requireNonNull(batch, "batch");
    batch.put(tree, keys.of(series, time), values.encode(Objects.requireNonNull(value, "value")));
  }

  /**
   * {@return the value of a point, or null if there is none}
   *
   * @param series the name of the series
   * @param time the time
   */
  public @Nullable V get(String series, Instant time) {
    return tree.read(keys.of(series, time), values::decode);
  }

  /**
   * {@return the points of a series from a time on and before another, in the order of time, as of
   * one moment} Close the stream: an open one makes merges keep what it sees.
   *
   * @param series the name of the series
   * @param from the first time
   * @param to the time behind the last one
   */
  public Stream<Map.Entry<Instant, V>> entries(String series, Instant from, Instant to) {
    return points(CursorOptions.all(), new SeriesPoints.Span(series, from, to, false));
  }

  /**
   * As {@link #entries(String, Instant, Instant)}, as of a snapshot, which the stream may outlive.
   *
   * @param series the name of the series
   * @param from the first time
   * @param to the time behind the last one
   * @param snapshot the moment
   * @return the points, to be closed
   */
  public Stream<Map.Entry<Instant, V>> entries(
      String series, Instant from, Instant to, Snapshot snapshot) {
    return points(
        CursorOptions.all().snapshot(snapshot), new SeriesPoints.Span(series, from, to, false));
  }

  /**
   * As {@link #entries(String, Instant, Instant)}, but the newest point first. The first one is
   * what held at {@code to}, and {@code limit(10)} gives the last ten.
   *
   * @param series the name of the series
   * @param from the first time: how far back to look if there are few points
   * @param to the time behind the last one
   * @return the points, to be closed
   */
  public Stream<Map.Entry<Instant, V>> newestFirst(String series, Instant from, Instant to) {
    return points(CursorOptions.all(), new SeriesPoints.Span(series, from, to, true));
  }

  /**
   * As {@link #newestFirst(String, Instant, Instant)}, as of a snapshot, which the stream may
   * outlive.
   *
   * @param series the name of the series
   * @param from the first time
   * @param to the time behind the last one
   * @param snapshot the moment
   * @return the points, to be closed
   */
  public Stream<Map.Entry<Instant, V>> newestFirst(
      String series, Instant from, Instant to, Snapshot snapshot) {
    return points(
        CursorOptions.all().snapshot(snapshot), new SeriesPoints.Span(series, from, to, true));
  }

  private Stream<Map.Entry<Instant, V>> points(CursorOptions options, SeriesPoints.Span span) {
    Cursor cursor = tree.cursor(options.from(POINTS));
    return StreamSupport.stream(new SeriesPoints<>(cursor, keys, span, values), false)
        .onClose(cursor::close);
  }

  /**
   * Removes the points of all series in buckets that end at a time or before, in one step.
   *
   * @param time the time
   * @return the beginning of the first bucket that stays
   */
  public Instant deleteBefore(Instant time) {
    long first = keys.bucket(Objects.requireNonNull(time, "time"));
    tree.deleteRange(POINTS, SeriesKeys.beginOf(first));
    return keys.timeOf(first);
  }

  /** {@return the tree that holds the series} */
  public Tree tree() {
    return tree;
  }
}
