package io.isobardb.lsm.expiry;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * When entries expire: milliseconds since the Unix epoch. From then on an entry counts as deleted:
 * it is absent, and hides what is older.
 *
 * <p>Where an entry is stored, the eight bytes of this number follow what is stored of its value,
 * little-endian, and its kind has {@code Kind.EXPIRES}.
 */
public final class Expiry {
  /** The time of an entry that does not expire. */
  public static final long NEVER = Long.MAX_VALUE;

  /** Bytes that it takes where it is stored. */
  public static final int BYTES = Long.BYTES;

  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private Expiry() {}

  /** The first millisecond at which an entry that expires at {@code instant} has expired. */
  public static long of(Instant instant) {
    if (instant.getEpochSecond() >= NEVER / 1000) {
      return NEVER;
    }
    return instant.getEpochSecond() < 0 ? 0 : instant.toEpochMilli();
  }

  /** The instant of an expiry; null if it is {@link #NEVER}. */
  public static @Nullable Instant instant(long expiry) {
    return expiry == NEVER ? null : Instant.ofEpochMilli(expiry);
  }

  /** When what is written now expires. */
  public static long after(long nowMillis, long timeToLiveMillis) {
    long at = nowMillis + timeToLiveMillis;
    return at < 0 ? NEVER : at;
  }

  /** Whether it has come at a time, in milliseconds since the epoch. */
  public static boolean isOver(long expiry, long millis) {
    return expiry <= millis;
  }

  /** Bytes that are stored for it besides the value. */
  public static int bytes(long expiry) {
    return expiry == NEVER ? 0 : BYTES;
  }

  /** Reads it where it is stored. */
  public static long get(byte[] bytes, int at) {
    return (long) LONG.get(bytes, at);
  }

  /** Stores it. */
  public static void put(byte[] bytes, int at, long expiry) {
    LONG.set(bytes, at, expiry);
  }
}
