package io.isobardb.lsm.recipe;

import io.isobardb.lsm.typed.KeyCodec;
import io.isobardb.lsm.typed.Pair;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.Objects;

/** The keys of points: bucket of time, series and time. */
record SeriesKeys(long bucketSeconds) {
  private static final KeyCodec<Pair<Long, Pair<String, Instant>>> CODEC =
      KeyCodec.pair(KeyCodec.ofLong(), KeyCodec.pair(KeyCodec.ofString(), KeyCodec.ofInstant()));

  /** What a key says. */
  record Point(long bucket, String series, Instant time) {}

  long bucket(Instant time) {
    return Math.floorDiv(time.getEpochSecond(), bucketSeconds);
  }

  /** When a bucket begins. */
  Instant timeOf(long bucket) {
    return Instant.ofEpochSecond(Math.max(bucket * bucketSeconds, Instant.MIN.getEpochSecond()));
  }

  byte[] of(String series, Instant time) {
    Objects.requireNonNull(series, "series");
    return of(bucket(Objects.requireNonNull(time, "time")), series, time);
  }

  /** A key that may be of another bucket than the time is in: to search by. */
  static byte[] of(long bucket, String series, Instant time) {
    return CODEC.encode(new Pair<>(bucket, new Pair<>(series, time)));
  }

  /** Before all keys of a bucket. */
  static byte[] beginOf(long bucket) {
    return KeyCodec.ofLong().encode(bucket);
  }

  static Point point(byte[] key) {
    Pair<Long, Pair<String, Instant>> parts = CODEC.decode(ByteBuffer.wrap(key));
    return new Point(parts.first(), parts.second().first(), parts.second().second());
  }
}
