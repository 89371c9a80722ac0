package io.isobardb.bench.latency;

import io.isobardb.bench.drive.Dataset;
import org.apache.commons.rng.sampling.distribution.RejectionInversionZipfSampler;
import org.apache.commons.rng.sampling.distribution.SharedStateDiscreteSampler;

/**
 * What requests do: a function of their number and the seed, whichever client serves them.
 *
 * <p>Thread rule: one thread at a time; clients have one each.
 */
final class Requests {
  private static final double ZIPF_EXPONENT = 0.99;

  /** Odd, and without a pattern in its bits. */
  private static final long STRIDE = 0x9e3779b97f4a7c15L;

  /**
   * What requests are about.
   *
   * @param mix what they do
   * @param records in the store when they begin, from 1
   * @param valueBytes sizes of values
   * @param zipf whether few records have most of the requests
   * @param scanEntries what a scan reads
   * @param batch records that a write puts at once, on the device when it returns; 0 for one put
   */
  record Content(
      Mix mix, long records, Sizes valueBytes, boolean zipf, int scanEntries, int batch) {}

  /**
   * Sizes of values: one half lies between the least and the median, the other above it.
   *
   * @param least in bytes, as the others
   */
  record Sizes(int least, int median, int most) {
    /** All alike. */
    static Sizes of(int bytes) {
      return new Sizes(bytes, bytes, bytes);
    }

    /** By a number, evenly over all of them. */
    int of(long bits) {
      int low = bits < 0 ? least : median;
      int high = bits < 0 ? median : most;
      return low + (int) Math.multiplyHigh(bits & Long.MAX_VALUE, (high - low + 1L) << 1);
    }

    /** The mean. */
    double mean() {
      return (least + 2.0 * median + most) / 4;
    }
  }

  private final Content content;
  private final long seed;
  private final SharedStateDiscreteSampler zipf;
  private long state;

  Requests(Content content, long seed) {
    this.content = content;
    this.seed = Dataset.mix(seed);
    int records = (int) Math.min(content.records(), Integer.MAX_VALUE);
    this.zipf = RejectionInversionZipfSampler.of(this::draw, records, ZIPF_EXPONENT);
  }

  private long draw() {
    state += STRIDE;
    return Dataset.mix(state);
  }

  /** From now on, what is asked for is of this request. */
  void at(long number) {
    state = seed ^ Dataset.mix(number);
  }

  /** What it does. */
  Kind kind() {
    return content.mix().kind((int) Math.multiplyHigh(draw() & Long.MAX_VALUE, 200));
  }

  /** The record that it is about; another one for each call. */
  long record() {
    long bits = content.zipf() ? Dataset.mix(zipf.sample()) : draw();
    return Math.multiplyHigh(bits & Long.MAX_VALUE, content.records() << 1);
  }

  /** The size of a value to write; another one for each call. */
  int valueBytes() {
    return content.valueBytes().of(draw());
  }

  Content content() {
    return content;
  }
}
