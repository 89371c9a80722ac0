package io.isobardb.lsm.option;

import java.util.Objects;

/**
 * What a device reads and writes in a second: flushes and merges get what clients leave of it.
 * Immutable.
 *
 * @param kind where the number comes from
 * @param bytesPerSecond what it is, if it is {@link Kind#GIVEN}; else 0
 */
public record IoBandwidth(Kind kind, long bytesPerSecond) implements Comparable<IoBandwidth> {
  /** The least bandwidth that can be given, in bytes per second. */
  public static final long LEAST_BYTES = 1 << 20;

  private static final IoBandwidth AUTO = new IoBandwidth(Kind.AUTO, 0);
  private static final IoBandwidth UNLIMITED = new IoBandwidth(Kind.UNLIMITED, 0);

  /** Where the number comes from. */
  public enum Kind {
    /** The store finds out. */
    AUTO,
    /** It is given. */
    GIVEN,
    /** There is none. */
    UNLIMITED
  }

  /**
   * The store finds out, and limits nobody while the device does more.
   *
   * @return a bandwidth without a number, the default of stores
   */
  public static IoBandwidth auto() {
    return AUTO;
  }

  /**
   * Flushes and merges take what they can.
   *
   * @return a bandwidth without a limit
   */
  public static IoBandwidth unlimited() {
    return UNLIMITED;
  }

  /**
   * The device does this much.
   *
   * @param bytesPerSecond at least {@link #LEAST_BYTES}
   * @return a bandwidth of that number
   * @throws IllegalArgumentException if it is less
   */
  public static IoBandwidth of(long bytesPerSecond) {
    return new IoBandwidth(Kind.GIVEN, bytesPerSecond);
  }

  /**
   * Checks the number.
   *
   * @param kind where the number comes from
   * @param bytesPerSecond at least {@link #LEAST_BYTES} if it is given, else 0
   * @throws IllegalArgumentException if it is anything else
   */
  public IoBandwidth {
    Objects.requireNonNull(kind, "kind");
    if (kind == Kind.GIVEN ? bytesPerSecond < LEAST_BYTES : bytesPerSecond != 0) {
      throw new IllegalArgumentException(
          kind == Kind.GIVEN
              ? "a bandwidth must be 1MB per second or more, not " + bytesPerSecond + " bytes"
              : kind + " is no number of bytes per second, not " + bytesPerSecond);
    }
  }

  /** From the least to the most; what the store finds out comes first. */
  @Override
  public int compareTo(IoBandwidth other) {
    int order = kind.compareTo(other.kind);
    return order == 0 ? Long.compare(bytesPerSecond, other.bytesPerSecond) : order;
  }

  /** In bytes per second, or {@code auto} or {@code unlimited}. */
  @Override
  public String toString() {
    return switch (kind) {
      case AUTO -> "auto";
      case GIVEN -> String.valueOf(bytesPerSecond);
      case UNLIMITED -> "unlimited";
    };
  }
}
