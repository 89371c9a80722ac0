package io.isobardb.lsm.typed;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiConsumer;
import java.util.function.Function;

/** Values of a fixed number of bytes, and those that {@link Codec} has besides. */
final class PlainCodec<T> implements Codec<T> {
  static final Codec<Long> INT64 =
      new PlainCodec<>(
          "a long",
          Long.BYTES,
          (value, out) -> out.putNumber(value, Long.BYTES),
          ByteBuffer::getLong);

  static final Codec<Integer> INT32 =
      new PlainCodec<>(
          "an int",
          Integer.BYTES,
          (value, out) -> out.putNumber(value, Integer.BYTES),
          ByteBuffer::getInt);

  static final Codec<Double> FLOAT64 =
      new PlainCodec<>(
          "a double",
          Double.BYTES,
          (value, out) -> out.putNumber(Double.doubleToRawLongBits(value), Double.BYTES),
          ByteBuffer::getDouble);

  static final Codec<Instant> INSTANT =
      new PlainCodec<>(
          "an instant",
          Long.BYTES + Integer.BYTES,
          (value, out) -> {
            out.putNumber(value.getEpochSecond(), Long.BYTES);
            out.putNumber(value.getNano(), Integer.BYTES);
          },
          PlainCodec::moment);

  static final Codec<java.util.UUID> UUID =
      new PlainCodec<>(
          "a UUID",
          2 * Long.BYTES,
          (value, out) -> {
            out.putNumber(value.getMostSignificantBits(), Long.BYTES);
            out.putNumber(value.getLeastSignificantBits(), Long.BYTES);
          },
          in -> new java.util.UUID(in.getLong(), in.getLong()));

  private static final Map<Class<?>, Codec<?>> ALL =
      Map.of(
          byte[].class, Codec.bytes(),
          String.class, Codec.string(),
          Long.class, INT64,
          Integer.class, INT32,
          Double.class, FLOAT64,
          Instant.class, INSTANT,
          java.util.UUID.class, UUID);

  private final String name;
  private final int size;
  private final BiConsumer<T, CodecOutput> write;
  private final Function<ByteBuffer, T> read;

  private PlainCodec(
      String name, int size, BiConsumer<T, CodecOutput> write, Function<ByteBuffer, T> read) {
    this.name = name;
    this.size = size;
    this.write = write;
    this.read = read;
  }

  @Override
  public byte[] encode(T value) {
    CodecOutput out = new CodecOutput();
    write.accept(Objects.requireNonNull(value, "value"), out);
    return out.toBytes();
  }

  @Override
  public T decode(ByteBuffer bytes) {
    if (bytes.remaining() != size) {
      throw new IllegalArgumentException(
          name + " has " + size + " bytes, not " + bytes.remaining());
    }
    return read.apply(bytes);
  }

  private static Instant moment(ByteBuffer in) {
    try {
      return Instant.ofEpochSecond(in.getLong(), in.getInt());
    } catch (DateTimeException | ArithmeticException e) {
      throw new IllegalArgumentException("there is no such instant: " + e.getMessage(), e);
    }
  }

  static <E extends Enum<E>> Codec<E> constants(Class<E> type) {
    Map<String, E> byName = new HashMap<>();
    for (E constant : type.getEnumConstants()) {
      byName.put(constant.name(), constant);
    }
    return Codec.of(
        constant -> constant.name().getBytes(UTF_8),
        bytes -> {
          String name = new String(bytes, UTF_8);
          E constant = byName.get(name);
          if (constant == null) {
            throw new IllegalArgumentException(
                type.getName() + " has no constant '" + name + "', which is stored");
          }
          return constant;
        });
  }

  @SuppressWarnings({"unchecked", "rawtypes"}) // The map has each codec under its own type.
  static <T> Codec<T> find(Class<T> type) {
    Codec<?> found = ALL.get(type);
    if (found != null) {
      return (Codec<T>) found;
    }
    if (type.isEnum()) {
      return constants((Class) type);
    }
    if (type.isRecord()) {
      return RecordCodec.builder(type).build();
    }
    throw new IllegalArgumentException(
        "there is no codec for "
            + type.getTypeName()
            + "; there are codecs for byte[], String, Long, Integer, Double, Instant, UUID, enums"
            + " and records; make one by Codec.of(encode, decode)");
  }
}
