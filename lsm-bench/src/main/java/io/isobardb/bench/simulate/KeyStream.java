package io.isobardb.bench.simulate;

import io.isobardb.cli.console.UsageException;
import java.util.SplittableRandom;
import java.util.function.LongConsumer;
import org.apache.commons.rng.UniformRandomProvider;
import org.apache.commons.rng.sampling.distribution.DiscreteSampler;
import org.apache.commons.rng.sampling.distribution.RejectionInversionZipfSampler;

/**
 * The keys of a simulated workload: all keys once, in an order without pattern, then keys by their
 * popularity. Equal seeds give equal streams. Keys may be in batches of neighbours that are equally
 * popular, and come together or one by one.
 */
public final class KeyStream {
  private static final int TOLD_EVERY = 1 << 18;

  private final int keys;
  private final Batches batches;

  /** How many batches there are. */
  private final int all;

  private final long stride;
  private final DiscreteSampler ranks;
  private final UniformRandomProvider members;
  private final LongConsumer progress;
  private long loaded;
  private long given;

  /** The first key of the batch that is being given, and how far it has come. */
  private int first;

  private int inBatch;

  /** A stream that tells nobody. */
  public KeyStream(int keys, double skew, long seed) {
    this(keys, skew, seed, Batches.NONE, given -> {});
  }

  /**
   * @param keys 2 or more
   * @param skew of Zipf's law; 0 for uniform popularity
   * @param batches neighbours; keys must be a multiple of their size
   * @param progress is told now and then how many keys were given
   */
  public KeyStream(int keys, double skew, long seed, Batches batches, LongConsumer progress) {
    this.progress = progress;
    if (keys < 2 || batches.size() < 1 || keys % batches.size() != 0) {
      throw new UsageException(
          "there must be 2 keys or more, and whole batches of 1 or more, not "
              + (keys + " in batches of " + batches.size()));
    }
    this.keys = keys;
    this.batches = batches;
    this.inBatch = batches.size() - 1;
    this.all = keys / batches.size();
    this.stride = stride(all);
    UniformRandomProvider random = new SplittableRandom(seed)::nextLong;
    this.members = random;
    this.ranks =
        skew == 0
            ? () -> random.nextInt(all)
            : RejectionInversionZipfSampler.of(random, all, skew)::sample;
  }

  /**
   * Neighbours that are equally popular.
   *
   * @param size how many they are, 1 or more
   * @param together whether they come one after another; else each for itself
   */
  public record Batches(int size, boolean together) {
    /** Each key has a popularity of its own. */
    public static final Batches NONE = new Batches(1, true);
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
    long at = loaded++;
    return told(spread(at / batches.size()) + (int) (at % batches.size()));
  }

  /** The next key of the random requests. */
  int next() {
    if (!batches.together()) {
      return told(spread(ranks.sample()) + members.nextInt(batches.size()));
    }
    if (++inBatch == batches.size()) {
      inBatch = 0;
      first = spread(ranks.sample());
    }
    return told(first + inBatch);
  }

  /**
   * How many different keys its random requests have.
   *
   * @param requests numbers of requests, by keys, ascending
   */
  public double[] distinctKeys(double[] requests) {
    KeyBits seen = new KeyBits(keys);
    double[] counts = new double[requests.length];
    long distinct = 0;
    long done = 0;
    for (int i = 0; i < requests.length; i++) {
      for (long wanted = Math.round(requests[i] * keys); done < wanted; done++) {
        distinct += seen.add(next()) ? 1 : 0;
      }
      counts[i] = distinct;
    }
    return counts;
  }

  /** The first key of a batch: neighbours by rank are no neighbours by key. */
  private int spread(long rank) {
    return (int) (rank * stride % all) * batches.size();
  }

  private int told(int key) {
    if (++given % TOLD_EVERY == 0) {
      progress.accept(given);
    }
    return key;
  }
}
