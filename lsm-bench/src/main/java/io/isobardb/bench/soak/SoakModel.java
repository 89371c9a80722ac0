package io.isobardb.bench.soak;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * What one writer's keys hold, as numbers: a key's version says all of its value, or that it was
 * deleted, so that no value has to be kept.
 *
 * <p>Thread rule: one thread at a time.
 */
final class SoakModel {
  private static final int HEADER = 16;
  private static final int SMALL_BYTES = 600;
  private static final int LARGE_BYTES = 200_000;
  private static final int LARGE_OF = 700;
  private static final int DELETED_OF = 7;

  private final int writer;
  private final long seed;
  private final long[][] versions;

  SoakModel(int writer, int trees, int keys, long seed) {
    this.writer = writer;
    this.seed = seed;
    this.versions = new long[trees][keys];
  }

  int keys() {
    return versions[0].length;
  }

  long version(int tree, int key) {
    return versions[tree][key];
  }

  void set(int tree, int key, long version) {
    versions[tree][key] = version;
  }

  /** The versions of a tree's keys as they are now. */
  long[] copy(int tree) {
    return versions[tree].clone();
  }

  byte[] key(int key) {
    return String.format("w%03d-%07d", writer, key).getBytes(US_ASCII);
  }

  /** The first key behind all of this writer's. */
  byte[] end() {
    return String.format("w%03d-~", writer).getBytes(US_ASCII);
  }

  /** The value of a version; null if the key was never written, or deleted. */
  byte @Nullable [] value(int tree, int key, long version) {
    SplittableRandom random =
        new SplittableRandom(seed ^ version * 0x9E3779B97F4A7C15L ^ ((long) tree << 40 | key));
    if (version == 0 || random.nextInt(DELETED_OF) == 0) {
      return null;
    }
    int size = HEADER + random.nextInt(random.nextInt(LARGE_OF) == 0 ? LARGE_BYTES : SMALL_BYTES);
    byte[] value = new byte[size];
    random.nextBytes(value);
    ByteBuffer.wrap(value).putInt(writer).putInt(tree << 24 | key).putLong(version);
    return value;
  }

  /** What is wrong with a value that was found, or null. */
  @Nullable String check(int tree, int key, long version, byte @Nullable [] found) {
    byte[] expected = value(tree, key, version);
    if (Arrays.equals(expected, found)) {
      return null;
    }
    return "key "
        + new String(key(key), US_ASCII)
        + " of tree "
        + tree
        + " should have version "
        + version
        + (expected == null ? ", a deletion" : ", " + expected.length + " bytes")
        + ", but holds "
        + (found == null
            ? "nothing"
            : found.length < HEADER
                ? found.length + " bytes"
                : found.length + " bytes of version " + ByteBuffer.wrap(found).getLong(8));
  }
}
