package io.isobardb.lsm.typed;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Turns values into bytes and back.
 *
 * <p>The same value always gives the same bytes, as long as any is stored. Thread rule: called by
 * many threads at once.
 *
 * @param <T> the type of the values
 */
public interface Codec<T extends @Nullable Object> {
  /** The bytes of a value, in an array that is not changed afterwards. */
  byte[] encode(T value);

  /**
   * The value of some bytes.
   *
   * @param bytes what remains is the value; read-only, and must not be used after the call
   * @throws IllegalArgumentException if no value has these bytes
   */
  T decode(ByteBuffer bytes);

  /** Byte arrays, as they are. */
  static Codec<byte[]> bytes() {
    return of(Function.identity(), Function.identity());
  }

  /** Strings as UTF-8; what UTF-8 can't express becomes a question mark. */
  static Codec<String> string() {
    return of(value -> value.getBytes(UTF_8), bytes -> new String(bytes, UTF_8));
  }

  /** Longs as 8 bytes, big-endian: what {@code MergeOperator.ADD_LONG} adds. */
  static Codec<Long> int64() {
    return of(
        value -> {
          KeyOutput out = new KeyOutput();
          out.putNumber(value, Long.BYTES);
          return out.toBytes();
        },
        bytes -> {
          if (bytes.length != Long.BYTES) {
            throw new IllegalArgumentException("a long has 8 bytes, not " + bytes.length);
          }
          long value = 0;
          for (byte each : bytes) {
            value = value << Byte.SIZE | (each & 0xFF);
          }
          return value;
        });
  }

  /** A codec of two functions, which get and give arrays of their own. */
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
