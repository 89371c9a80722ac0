package io.isobardb.lsm.typed;

import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Turns keys into bytes whose order is that of the keys, and back. So a tree in the default key
 * order is sorted as its keys are.
 *
 * <pre>{@code
 * // By user, and the newest first.
 * KeyCodec<Pair<String, Instant>> events =
 *     KeyCodec.pair(KeyCodec.ofString(), KeyCodec.ofInstant().descending());
 * TypedTree<Pair<String, Instant>, byte[]> tree =
 *     TypedTree.of(store.openTree("events"), events, Codec.bytes());
 * }</pre>
 *
 * <p>The order is that of {@code compareTo} for all types that have one. Two keys have the same
 * bytes only if they are equal. Codecs are made of those here: {@link #map} makes one for a type of
 * your own. They are stored nowhere, so a tree must always be used with the same.
 *
 * <p>Thread rule: immutable.
 *
 * @param <K> the type of the keys
 */
public abstract class KeyCodec<K extends @Nullable Object> implements Codec<K> {
  /** Ends a string of bytes that something follows, twice; and begins a zero byte in it. */
  static final int END = 0;

  /** Follows {@link #END} in a string of bytes for a zero byte. */
  static final int ESCAPED = 0xFF;

  private static final int NANOS_PER_SECOND = 1_000_000_000;

  KeyCodec() {}

  /**
   * Writes a key.
   *
   * @param last whether nothing follows, so that the end need not be marked
   */
  abstract void write(K key, CodecOutput out, boolean last);

  /** Reads what {@link #write} wrote. */
  abstract K read(KeyInput in, boolean last);

  /** Writes the first parts of a key that has parts; gives how many there can be. */
  int writeParts(List<?> parts, CodecOutput out) {
    return 0;
  }

  @Override
  public final byte[] encode(K key) {
    CodecOutput out = new CodecOutput();
    write(key, out, true);
    return out.toBytes();
  }

  @Override
  public final K decode(ByteBuffer bytes) {
    KeyInput in = new KeyInput(bytes);
    K key = read(in, true);
    in.checkEnd();
    return key;
  }

  /** The key of some bytes. */
  final K decode(byte[] bytes) {
    return decode(ByteBuffer.wrap(bytes));
  }

  /** {@return the order of keys, as their bytes have it} */
  public final Comparator<K> comparator() {
    return (a, b) -> Arrays.compareUnsigned(encode(a), encode(b));
  }

  /**
   * {@return a codec for keys that can be expressed by those of this one; their order is the order
   * of those}
   *
   * @param <T> the type of the keys
   * @param to what a key becomes
   * @param from makes the key of that again
   */
  public final <T extends @Nullable Object> KeyCodec<T> map(
      Function<? super T, ? extends K> to, Function<? super K, ? extends T> from) {
    Objects.requireNonNull(to, "to");
    Objects.requireNonNull(from, "from");
    KeyCodec<K> inner = this;
    return new KeyCodec<>() {
      @Override
      void write(T key, CodecOutput out, boolean last) {
        inner.write(to.apply(key), out, last);
      }

      @Override
      T read(KeyInput in, boolean last) {
        return from.apply(inner.read(in, last));
      }

      @Override
      int writeParts(List<?> parts, CodecOutput out) {
        return inner.writeParts(parts, out);
      }
    };
  }

  /** {@return this codec's keys in the opposite order} */
  public final KeyCodec<K> descending() {
    KeyCodec<K> inner = this;
    return new KeyCodec<>() {
      @Override
      void write(K key, CodecOutput out, boolean last) {
        int from = out.length();
        // Where a shorter key comes last, its end has to be marked.
        inner.write(key, out, false);
        out.invert(from);
      }

      @Override
      K read(KeyInput in, boolean last) {
        in.invert();
        K key = inner.read(in, false);
        in.invert();
        return key;
      }
    };
  }

  /** {@return this codec's keys and null, which comes first} One byte more for each key. */
  public final KeyCodec<@Nullable K> nullable() {
    KeyCodec<K> inner = this;
    return new KeyCodec<>() {
      @Override
      void write(@Nullable K key, CodecOutput out, boolean last) {
        out.put(key == null ? 0 : 1);
        if (key != null) {
          inner.write(key, out, last);
        }
      }

      @Override
      @SuppressWarnings(
          "NullAway") // It takes no note that the codec made here is one of @Nullable K.
      @Nullable K read(KeyInput in, boolean last) {
        int present = in.get();
        if (present > 1) {
          throw in.malformed("has " + present + " for null or not null");
        }
        return present == 0 ? null : inner.read(in, last);
      }
    };
  }

  /** A number as so many bytes, with the lowest first. */
  private static KeyCodec<Long> number(int bytes) {
    long sign = 1L << 8 * bytes - 1;
    return new KeyCodec<>() {
      @Override
      void write(Long key, CodecOutput out, boolean last) {
        out.putNumber(key ^ sign, bytes);
      }

      @Override
      Long read(KeyInput in, boolean last) {
        return in.getNumber(bytes) ^ sign;
      }
    };
  }

  /** {@return a codec of longs, in 8 bytes} */
  public static KeyCodec<Long> ofLong() {
    return number(Long.BYTES);
  }

  /** {@return a codec of integers, in 4 bytes} */
  public static KeyCodec<Integer> ofInt() {
    return number(Integer.BYTES).map(Integer::longValue, Long::intValue);
  }

  /** {@return a codec of doubles, in 8 bytes; -0.0 comes before 0.0, and NaN last} */
  public static KeyCodec<Double> ofDouble() {
    // Negative ones are ordered the other way round than their bits are.
    return number(Long.BYTES)
        .map(
            key -> turn(Double.doubleToLongBits(key)), bits -> Double.longBitsToDouble(turn(bits)));
  }

  private static long turn(long bits) {
    return bits ^ bits >> 63 & Long.MAX_VALUE;
  }

  /**
   * {@return a codec of strings, in the order of {@link String#compareTo}} The bytes are UTF-8,
   * except that characters beyond U+FFFF have six of them: three for each {@code char}. A string
   * that something follows in the key takes two bytes more, and one for each zero character.
   */
  public static KeyCodec<String> ofString() {
    return new StringCodec();
  }

  /**
   * {@return a codec of byte arrays, unsigned, shorter ones first} They take more space as strings
   * do.
   */
  public static KeyCodec<byte[]> ofBytes() {
    return new BytesCodec();
  }

  /**
   * {@return a codec of UUIDs, in 16 bytes; in the order of {@link UUID#compareTo}, in which both
   * halves are signed}
   */
  public static KeyCodec<UUID> ofUuid() {
    return pair(ofLong(), ofLong())
        .map(
            key -> new Pair<>(key.getMostSignificantBits(), key.getLeastSignificantBits()),
            halves -> new UUID(halves.first(), halves.second()));
  }

  /** {@return a codec of moments, in 12 bytes: seconds and nanoseconds} */
  public static KeyCodec<Instant> ofInstant() {
    KeyCodec<Long> seconds = ofLong();
    KeyCodec<Integer> nanos = ofInt();
    return new KeyCodec<>() {
      @Override
      void write(Instant key, CodecOutput out, boolean last) {
        seconds.write(key.getEpochSecond(), out, false);
        nanos.write(key.getNano(), out, last);
      }

      @Override
      Instant read(KeyInput in, boolean last) {
        long second = seconds.read(in, false);
        int nano = nanos.read(in, last);
        if (second < Instant.MIN.getEpochSecond()
            || second > Instant.MAX.getEpochSecond()
            || nano < 0
            || nano >= NANOS_PER_SECOND) {
          throw in.malformed("has the second " + second + " and the nanosecond " + nano);
        }
        return Instant.ofEpochSecond(second, nano);
      }
    };
  }

  /**
   * {@return the constants of an enum, in 2 bytes: their number in the order in which they are
   * declared} New ones must be declared behind those that are stored, and these must stay.
   *
   * @param <E> the enum
   * @param type the enum
   */
  public static <E extends Enum<E>> KeyCodec<E> ofEnum(Class<E> type) {
    E[] constants = Objects.requireNonNull(type, "type").getEnumConstants();
    return new KeyCodec<>() {
      @Override
      void write(E key, CodecOutput out, boolean last) {
        out.putNumber(key.ordinal(), Short.BYTES);
      }

      @Override
      E read(KeyInput in, boolean last) {
        int ordinal = (int) in.getNumber(Short.BYTES);
        if (ordinal >= constants.length) {
          throw in.malformed("has the constant " + ordinal + " of " + type.getSimpleName());
        }
        return constants[ordinal];
      }
    };
  }

  /**
   * {@return a codec of two keys in one, by the first and then by the second}
   *
   * @param <A> the type of the first part
   * @param <B> the type of the second part
   * @param first the codec of the first part
   * @param second the codec of the second part
   */
  public static <A extends @Nullable Object, B extends @Nullable Object> KeyCodec<Pair<A, B>> pair(
      KeyCodec<A> first, KeyCodec<B> second) {
    Objects.requireNonNull(first, "first");
    Objects.requireNonNull(second, "second");
    return new KeyCodec<>() {
      @Override
      void write(Pair<A, B> key, CodecOutput out, boolean last) {
        first.write(key.first(), out, false);
        second.write(key.second(), out, last);
      }

      @Override
      Pair<A, B> read(KeyInput in, boolean last) {
        A one = first.read(in, false);
        return new Pair<>(one, second.read(in, last));
      }

      @Override
      int writeParts(List<?> parts, CodecOutput out) {
        return TupleCodec.writeParts(List.of(first, second), parts, out);
      }
    };
  }

  /**
   * {@return a codec of several keys in one, by the first, then by the second, and so on} Lists of
   * as many elements as there are parts; {@link #map} makes a type of your own of them.
   *
   * @param parts the codecs of the parts
   */
  public static KeyCodec<List<?>> tuple(KeyCodec<?>... parts) {
    return new TupleCodec(List.of(Objects.requireNonNull(parts, "parts")));
  }
}
