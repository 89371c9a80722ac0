package io.isobardb.bench.simulate;

import io.isobardb.cli.console.UsageException;
import java.util.SplittableRandom;
import java.util.function.LongConsumer;
import org.apache.commons.rng.UniformRandomProvider;
import org.apache.commons.rng.sampling.distribution.DiscreteSampler;
import org.apache.commons.rng.sampling.distribution.RejectionInversionZipfSampler;

/**
 * The keys of a simulated workload: all keys once, in an order without pattern, then keys by their
 * popularity. Equal seeds give equal streams.
 */
public final class KeyStream {
  private static final int TOLD_EVERY = 1 << 18;

  private final int keys;
  private final long stride;
  private final DiscreteSampler ranks;
  private final LongConsumer progress;
  private long loaded;
  private long given;

  /** A stream that tells nobody. */
  public KeyStream(int keys, double skew, long seed) {
    this(keys, skew, seed, given -> {});
  }

  /**
   * @param keys 2 or more
   * @param skew of Zipf's law; 0 for uniform popularity
   * @param progress is told now and then how many keys were given
   */
  public KeyStream(int keys, double skew, long seed, LongConsumer progress) {
    this.progress = progress;
    if (keys < 2) {
      throw new UsageException("there must be 2 keys or more, not " + keys);
    }
    this.keys = keys;
    this.stride = stride(keys);
    UniformRandomProvider random = new SplittableRandom(seed)::nextLong;
    this.ranks =
        skew == 0
            ? () -> random.nextInt(keys)
            : RejectionInversionZipfSampler.of(random, keys, skew)::sample;
  }

  /** A number near the golden section of {@code keys} that has no factor in common with it. */
  private static long stride(int keys) {
    long stride = Math.max(1, (long) (keys * 0.6180339887498949));
    while (gcd(stride, keys) != 1) {
      stride++;
    }
    return stride;
  }

  private static long gcd(long a, long b) {
    return b == 0 ? a : gcd(b, a % b);
  }

  /** The number of keys. */
  public int keys() {
    return keys;
  }

  /** The next key of the load, which has each key once. */
  int load() {
    return spread(loaded++);
  }

  /** The next key of the random requests. */
  int next() {
    return spread(ranks.sample());
  }

  /** Neighbours by rank are no neighbours by key. */
  private int spread(long rank) {
    if (++given % TOLD_EVERY == 0) {
      progress.accept(given);
    }
    return (int) (rank * stride % keys);
  }
}
