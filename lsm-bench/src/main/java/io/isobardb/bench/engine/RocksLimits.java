package io.isobardb.bench.engine;

import io.isobardb.cli.console.ByteSize;
import io.isobardb.tpcc.store.RocksSettings;
import org.rocksdb.RateLimiter;
import org.rocksdb.RateLimiterMode;

/**
 * What RocksDB is held to besides its memory. Immutable.
 *
 * @param writeBytes of its memory for write buffers; 0 for the part that does best
 * @param bytesPerSecond that flushes and merges read and write at most; {@link Long#MAX_VALUE} for
 *     no limit
 * @param autoTuned whether its limiter goes below that while there is little to do
 */
public record RocksLimits(long writeBytes, long bytesPerSecond, boolean autoTuned) {
  static final RocksLimits NONE = new RocksLimits(0, Long.MAX_VALUE, false);

  private static final long REFILL_MICROS = 100_000;
  private static final int FAIRNESS = 10;

  boolean hasLimiter() {
    return bytesPerSecond < Long.MAX_VALUE;
  }

  RateLimiter limiter() {
    return new RateLimiter(
        bytesPerSecond, REFILL_MICROS, FAIRNESS, RateLimiterMode.ALL_IO, autoTuned);
  }

  RocksSettings of(RocksSettings best) {
    return writeBytes == 0 ? best : best.withWriteBytes(writeBytes);
  }

  String words() {
    return hasLimiter()
        ? "; flushes and merges limited to "
            + ByteSize.format(bytesPerSecond)
            + "/s by its own limiter"
            + (autoTuned ? ", auto-tuned" : "")
        : "";
  }
}
