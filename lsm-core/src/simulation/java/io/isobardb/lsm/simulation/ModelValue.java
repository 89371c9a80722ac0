package io.isobardb.lsm.simulation;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * A value by its recipe, so that a model of many takes no room. Different writes have different
 * ones, if they are long enough.
 *
 * @param made the bytes of one without a recipe, or null
 */
public record ModelValue(int length, int start, long stamp, byte @Nullable [] made) {
  /** The longest one that there is a recipe for. */
  public static final int MAX_LENGTH = 1 << 20;

  private static final byte[] BLOCK = new byte[MAX_LENGTH + 4096];

  static {
    new SplittableRandom(1).nextBytes(BLOCK);
    // The second half compresses.
    for (int i = BLOCK.length / 2; i < BLOCK.length; i++) {
      BLOCK[i] = (byte) (i / 97);
    }
  }

  /** A new recipe. */
  public static ModelValue of(SplittableRandom random, int length, long stamp) {
    return new ModelValue(length, random.nextInt(BLOCK.length - length), stamp, null);
  }

  /** One that a merge operator has made. */
  public static ModelValue made(byte[] bytes) {
    return new ModelValue(bytes.length, 0, 0, bytes);
  }

  /** Another value, just as long. */
  public ModelValue other(SplittableRandom random) {
    return of(random, length, ~stamp);
  }

  /** The value, which the caller may change. */
  public byte[] bytes() {
    if (made != null) {
      return made.clone();
    }
    byte[] bytes = Arrays.copyOfRange(BLOCK, start, start + length);
    for (int i = 0; i < Math.min(8, length); i++) {
      bytes[i] ^= (byte) (stamp >>> (8 * i));
    }
    return bytes;
  }

  /** Whether these are its bytes. */
  public boolean is(byte @Nullable [] found) {
    if (found == null || found.length != length) {
      return false;
    }
    if (made != null) {
      return Arrays.equals(found, made);
    }
    int stamped = Math.min(8, length);
    for (int i = 0; i < stamped; i++) {
      if (found[i] != (byte) (BLOCK[start + i] ^ (stamp >>> (8 * i)))) {
        return false;
      }
    }
    return Arrays.equals(found, stamped, length, BLOCK, start + stamped, start + length);
  }
}
