package io.isobardb.lsm.typed;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Turns values into bytes and back.
 *
 * <pre>{@code
 * record City(String name, int people) {}
 * TypedTree<String, City> cities =
 *     TypedTree.of(store.openTree("cities"), KeyCodec.ofString(), Codec.of(City.class));
 * }</pre>
 *
 * <p>The same value always gives the same bytes, as long as any is stored. Thread rule: called by
 * many threads at once.
 *
 * @param <T> the type of the values
 */
public interface Codec<T extends @Nullable Object> {
  /**
   * {@return the bytes of a value, in an array that is not changed afterwards}
   *
   * @param value its value
   */
  byte[] encode(T value);

  /**
   * {@return the value of some bytes}
   *
   * @param bytes what remains is the value; read-only, and must not be used after the call
   * @throws IllegalArgumentException if no value has these bytes
   */
  T decode(ByteBuffer bytes);

  /** {@return a codec of byte arrays, as they are} */
  static Codec<byte[]> bytes() {
    return of(Function.identity(), Function.identity());
  }

  /** {@return a codec of strings as UTF-8; what UTF-8 can't express becomes a question mark} */
  static Codec<String> string() {
    return of(value -> value.getBytes(UTF_8), bytes -> new String(bytes, UTF_8));
  }

  /** {@return a codec of longs as 8 bytes, big-endian: what {@code MergeOperator.ADD_LONG} adds} */
  static Codec<Long> int64() {
    return PlainCodec.INT64;
  }

  /** {@return a codec of integers as 4 bytes, big-endian} */
  static Codec<Integer> int32() {
    return PlainCodec.INT32;
  }

  /** {@return a codec of doubles as their 8 bytes, big-endian} */
  static Codec<Double> float64() {
    return PlainCodec.FLOAT64;
  }

  /** {@return a codec of moments as 12 bytes: seconds since 1970 and nanoseconds} */
  static Codec<Instant> instant() {
    return PlainCodec.INSTANT;
  }

  /** {@return a codec of UUIDs as their 16 bytes} */
  static Codec<UUID> uuid() {
    return PlainCodec.UUID;
  }

  /**
   * {@return a codec of constants of an enum by their names in UTF-8} So they may be reordered and
   * added. One that is stored must keep its name.
   *
   * @param <E> the enum
   * @param type its class
   */
  static <E extends Enum<E>> Codec<E> ofEnum(Class<E> type) {
    return PlainCodec.constants(Objects.requireNonNull(type, "type"));
  }

  /**
   * {@return the codec of a type: of {@code byte[]}, {@code String}, {@code Long}, {@code Integer},
   * {@code Double}, {@code Instant} or {@code UUID}, as the methods here have it, of an enum as
   * {@link #ofEnum}, or of a record as {@link RecordCodec}}
   *
   * @param <T> the type of the values
   * @param type its class
   * @throws IllegalArgumentException if there is none, or none for a field of a record: it says for
   *     what there is
   */
  static <T> Codec<T> of(Class<T> type) {
    return PlainCodec.find(Objects.requireNonNull(type, "type"));
  }

  /**
   * {@return a codec of two functions, which get and give arrays of their own}
   *
   * @param <T> the type of the values
   * @param encode gives the bytes of a value
   * @param decode gives the value of bytes
   */
  static <T> Codec<T> of(Function<? super T, byte[]> encode, Function<byte[], ? extends T> decode) {
    Objects.requireNonNull(encode, "encode");
    Objects.requireNonNull(decode, "decode");
    return new Codec<>() {
      @Override
      public byte[] encode(T value) {
        return encode.apply(Objects.requireNonNull(value, "value"));
      }

      @Override
      public T decode(ByteBuffer bytes) {
        byte[] copy = new byte[bytes.remaining()];
        bytes.get(copy);
        return decode.apply(copy);
      }
    };
  }
}
