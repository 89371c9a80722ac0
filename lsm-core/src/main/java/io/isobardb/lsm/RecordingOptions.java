package io.isobardb.lsm;

/**
 * What a recording keeps; immutable.
 *
 * @param oneKeyIn one key of this many is recorded, with all that is done to it: a power of two, 1
 *     to 65,536; default 64. Keys of more than 24 bytes that are alike in the first, the middle and
 *     the last eight are recorded together, or not at all
 * @param maxBytes how large the file may become, 64 KiB or more; default 64 MiB. An operation takes
 *     about 13 bytes
 */
public record RecordingOptions(int oneKeyIn, long maxBytes) {
  private static final int MOST_KEYS = 1 << 16;
  private static final long LEAST_BYTES = 64 << 10;
  private static final RecordingOptions DEFAULTS = new RecordingOptions(64, 64L << 20);

  /**
   * Checks the ranges.
   *
   * @param oneKeyIn a power of two, 1 to 65,536
   * @param maxBytes 64 KiB or more
   * @throws IllegalArgumentException if one is out of its range
   */
  public RecordingOptions {
    if (oneKeyIn < 1 || oneKeyIn > MOST_KEYS || Integer.bitCount(oneKeyIn) != 1) {
      throw new IllegalArgumentException(
          "oneKeyIn must be a power of two from 1 to " + MOST_KEYS + ", not " + oneKeyIn);
    }
    if (maxBytes < LEAST_BYTES) {
      throw new IllegalArgumentException(
          "maxBytes must be at least " + LEAST_BYTES + ", not " + maxBytes);
    }
  }

  /** {@return the defaults of all options} */
  public static RecordingOptions defaults() {
    return DEFAULTS;
  }

  /**
   * {@return the same, with one key of this many}
   *
   * @param keys a power of two, 1 to 65,536; with 1 each key is recorded
   */
  public RecordingOptions withOneKeyIn(int keys) {
    return new RecordingOptions(keys, maxBytes);
  }

  /**
   * {@return the same, with a file of this size at most}
   *
   * @param bytes 64 KiB or more
   */
  public RecordingOptions withMaxBytes(long bytes) {
    return new RecordingOptions(oneKeyIn, bytes);
  }
}
