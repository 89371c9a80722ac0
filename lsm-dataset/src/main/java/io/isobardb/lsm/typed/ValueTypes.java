package io.isobardb.lsm.typed;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.lang.invoke.MethodHandles;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.nio.ByteBuffer;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/** Finds out how the types of a record's fields are stored. One thread. */
final class ValueTypes {
  /** What there is a codec for, for messages. */
  static final String KNOWN =
      "primitive types, their boxes, String, byte[], Instant, Duration, LocalDate, UUID, enums,"
          + " records, and List, Set, Map and Optional of these";

  private static final Map<Class<?>, ValueType> SIMPLE = simple();

  private final MethodHandles.@Nullable Lookup lookup;
  private final Map<Class<?>, Codec<?>> codecs;

  /** Those that were begun, too: a record may have a field of its own type. */
  private final Map<Class<?>, RecordType> records = new HashMap<>();

  /**
   * @param lookup what may use the records, or null if they are open to this module
   * @param codecs the user's, which come before those here
   */
  ValueTypes(MethodHandles.@Nullable Lookup lookup, Map<Class<?>, Codec<?>> codecs) {
    this.lookup = lookup;
    this.codecs = codecs;
  }

  private static Map<Class<?>, ValueType> simple() {
    Map<Class<?>, ValueType> types = new HashMap<>();
    ValueType flag =
        ValueType.of(
            ValueKind.BOOLEAN,
            Boolean.class,
            (value, out) -> out.put(value ? 1 : 0),
            in -> in.get() != 0);
    types.put(boolean.class, flag);
    types.put(Boolean.class, flag);
    ValueType character =
        ValueType.of(
            ValueKind.CHAR,
            Character.class,
            (value, out) -> out.putVarint(value),
            in -> (char) ValueInput.varint(in));
    types.put(char.class, character);
    types.put(Character.class, character);
    whole(types, ValueKind.BYTE, byte.class, Byte.class, value -> (byte) value);
    whole(types, ValueKind.SHORT, short.class, Short.class, value -> (short) value);
    whole(types, ValueKind.INT, int.class, Integer.class, value -> (int) value);
    whole(types, ValueKind.LONG, long.class, Long.class, value -> value);
    ValueType single =
        ValueType.of(
            ValueKind.FLOAT,
            Float.class,
            (value, out) -> out.putNumber(Float.floatToRawIntBits(value), Float.BYTES),
            ByteBuffer::getFloat);
    types.put(float.class, single);
    types.put(Float.class, single);
    types.put(double.class, new DoubleType("double"));
    types.put(Double.class, new DoubleType("Double"));
    types.put(
        String.class,
        ValueType.of(
            ValueKind.STRING,
            String.class,
            (value, out) -> out.putSized(value.getBytes(UTF_8)),
            ValueTypes::text));
    types.put(
        byte[].class,
        ValueType.of(
            ValueKind.BYTES,
            byte[].class,
            (value, out) -> out.putSized(value),
            in -> ValueInput.bytes(ValueInput.sized(in))));
    types.put(
        Instant.class,
        ValueType.of(
            ValueKind.INSTANT,
            Instant.class,
            (value, out) -> {
              out.putSigned(value.getEpochSecond());
              out.putVarint(value.getNano());
            },
            in -> time(() -> Instant.ofEpochSecond(ValueInput.signed(in), ValueInput.varint(in)))));
    types.put(
        Duration.class,
        ValueType.of(
            ValueKind.DURATION,
            Duration.class,
            (value, out) -> {
              out.putSigned(value.getSeconds());
              out.putVarint(value.getNano());
            },
            in -> time(() -> Duration.ofSeconds(ValueInput.signed(in), ValueInput.varint(in)))));
    types.put(
        LocalDate.class,
        ValueType.of(
            ValueKind.DATE,
            LocalDate.class,
            (value, out) -> out.putSigned(value.toEpochDay()),
            in -> time(() -> LocalDate.ofEpochDay(ValueInput.signed(in)))));
    types.put(
        UUID.class,
        ValueType.of(
            ValueKind.UUID,
            UUID.class,
            (value, out) -> {
              out.putNumber(value.getMostSignificantBits(), Long.BYTES);
              out.putNumber(value.getLeastSignificantBits(), Long.BYTES);
            },
            in -> new UUID(in.getLong(), in.getLong())));
    return Map.copyOf(types);
  }

  private interface Moment<T> {
    T read();
  }

  private static <T> T time(Moment<T> moment) {
    try {
      return moment.read();
    } catch (DateTimeException | ArithmeticException e) {
      throw new UnreadableValueException("has a time that there is not: " + e.getMessage());
    }
  }

  static String text(ByteBuffer in) {
    return UTF_8.decode(ValueInput.sized(in)).toString();
  }

  private static void whole(
      Map<Class<?>, ValueType> types,
      ValueKind kind,
      Class<?> primitive,
      Class<? extends Number> box,
      LongFunction<Object> make) {
    types.put(primitive, new WholeType(kind, primitive.getSimpleName(), make));
    types.put(box, new WholeType(kind, box.getSimpleName(), make));
  }

  /** Whole numbers, which are also read from narrower types. */
  private static final class WholeType extends ValueType {
    private final LongFunction<Object> make;

    WholeType(ValueKind kind, String name, LongFunction<Object> make) {
      super(kind, name);
      this.make = make;
    }

    @Override
    void write(Object value, CodecOutput out) {
      out.putSigned(((Number) value).longValue());
    }

    @Override
    Object read(ByteBuffer in) {
      return make.apply(ValueInput.signed(in));
    }

    @Override
    Object read(ByteBuffer in, ValueKind stored) {
      boolean narrower = stored.isWhole() && stored.compareTo(kind()) < 0;
      return super.read(in, narrower ? kind() : stored);
    }
  }

  /** Doubles, which are also read from floats. */
  private static final class DoubleType extends ValueType {
    DoubleType(String name) {
      super(ValueKind.DOUBLE, name);
    }

    @Override
    void write(Object value, CodecOutput out) {
      out.putNumber(Double.doubleToRawLongBits((Double) value), Double.BYTES);
    }

    @Override
    Object read(ByteBuffer in) {
      return in.getDouble();
    }

    @Override
    Object read(ByteBuffer in, ValueKind stored) {
      return stored == ValueKind.FLOAT ? (double) in.getFloat() : super.read(in, stored);
    }
  }

  /**
   * How a type is stored.
   *
   * @param field who has it, for the message if there is no codec for it
   */
  ValueType find(Type type, String field) {
    if (type instanceof Class<?> plain) {
      Codec<?> codec = codecs.get(plain);
      if (codec != null) {
        return coded(plain, codec);
      }
      ValueType simple = SIMPLE.get(plain);
      if (simple != null) {
        return simple;
      }
      if (plain.isEnum()) {
        return constants(plain);
      }
      if (plain.isRecord()) {
        return record(plain);
      }
    }
    if (type instanceof ParameterizedType generic) {
      Type raw = generic.getRawType();
      Type[] of = generic.getActualTypeArguments();
      if (raw == List.class) {
        return new CollectionType(ValueKind.LIST, find(of[0], field));
      }
      if (raw == Set.class) {
        return new CollectionType(ValueKind.SET, find(of[0], field));
      }
      if (raw == Map.class) {
        return new MapType(find(of[0], field), find(of[1], field));
      }
    }
    throw new IllegalArgumentException(
        field
            + " of type "
            + type.getTypeName()
            + ", for which there is no codec; there are codecs for "
            + KNOWN
            + "; give others to RecordCodec.builder");
  }

  /** How a record is stored. */
  RecordType record(Class<?> type) {
    RecordType known = records.get(type);
    if (known != null) {
      return known;
    }
    RecordType made = new RecordType(type);
    records.put(type, made);
    made.resolve(this, lookup);
    return made;
  }

  private static <T> ValueType coded(Class<T> type, Codec<?> codec) {
    @SuppressWarnings("unchecked") // The builder takes only codecs of the class.
    Codec<T> typed = (Codec<T>) codec;
    return ValueType.of(
        ValueKind.CODED,
        type,
        (value, out) -> out.putSized(typed.encode(value)),
        in -> typed.decode(ValueInput.sized(in)));
  }

  private static ValueType constants(Class<?> type) {
    Map<String, Object> byName = new HashMap<>();
    for (Object constant : type.getEnumConstants()) {
      byName.put(((Enum<?>) constant).name(), constant);
    }
    return new ValueType(ValueKind.ENUM, type.getSimpleName()) {
      @Override
      void write(Object value, CodecOutput out) {
        out.putSized(((Enum<?>) value).name().getBytes(UTF_8));
      }

      @Override
      Object read(ByteBuffer in) {
        String name = text(in);
        Object constant = byName.get(name);
        if (constant == null) {
          throw new UnreadableValueException(
              "was stored as the constant '"
                  + name
                  + "', which "
                  + type.getName()
                  + " has no more");
        }
        return constant;
      }
    };
  }
}
