package io.isobardb.lsm.typed;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.InaccessibleObjectException;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * How a record is stored: its fields, each as
 *
 * <pre>
 * | 3 bytes: hash of the field's name | 1 byte: its kind | the value |
 * </pre>
 *
 * in the order of the hashes. A field that is null, zero, false or an empty optional is left out,
 * and one that is missing is read as that. So fields may be added, removed and reordered.
 */
final class RecordType extends ValueType {
  private static final int ID_BYTES = 3;
  private static final int FNV_OFFSET = 0x811C9DC5;
  private static final int FNV_PRIME = 0x01000193;

  /**
   * A field.
   *
   * @param index its place among the components
   * @param id what it is found by
   * @param absent what it is if it is not stored
   */
  private record Field(
      String name,
      int index,
      int id,
      ValueType type,
      @Nullable Object absent,
      MethodHandle accessor) {}

  private final Class<?> type;

  /** By ID. */
  private Field[] fields = new Field[0];

  private @Nullable Object[] absent = new Object[0];
  private @Nullable MethodHandle constructor;

  /** The fields are unknown until {@link #resolve}, since they may lead back to this record. */
  RecordType(Class<?> type) {
    super(ValueKind.RECORD, type.getSimpleName());
    this.type = type;
  }

  void resolve(ValueTypes types, MethodHandles.@Nullable Lookup lookup) {
    RecordComponent[] components = type.getRecordComponents();
    fields = new Field[components.length];
    for (int i = 0; i < components.length; i++) {
      fields[i] = field(components[i], i, types, lookup);
    }
    absent = Stream.of(fields).map(Field::absent).toArray();
    constructor = constructor(components, lookup);
    Arrays.sort(fields, Comparator.comparingInt(Field::id));
    for (int i = 1; i < fields.length; i++) {
      if (fields[i - 1].id() == fields[i].id()) {
        throw new IllegalArgumentException(
            this
                + ": the fields '"
                + fields[i - 1].name()
                + "' and '"
                + fields[i].name()
                + "' can't be told apart by the hashes of their names: call one of them otherwise");
      }
    }
  }

  private Field field(
      RecordComponent component,
      int index,
      ValueTypes types,
      MethodHandles.@Nullable Lookup lookup) {
    Type declared = component.getGenericType();
    boolean optional =
        declared instanceof ParameterizedType generic && generic.getRawType() == Optional.class;
    Type stored = optional ? ((ParameterizedType) declared).getActualTypeArguments()[0] : declared;
    String name = component.getName();
    ValueType found = types.find(stored, this + " has the field '" + name + "'");
    // An array's elements are zero, false or null.
    Object zero = Array.get(Array.newInstance(component.getType(), 1), 0);
    MethodHandle accessor =
        access(component.getAccessor(), lookup)
            .asType(MethodType.methodType(Object.class, Object.class));
    return new Field(name, index, id(name), found, optional ? Optional.empty() : zero, accessor);
  }

  /** A hash of 24 bits: FNV-1a, folded. */
  static int id(String name) {
    int hash = FNV_OFFSET;
    for (byte each : name.getBytes(UTF_8)) {
      hash = (hash ^ each & 0xFF) * FNV_PRIME;
    }
    return (hash >>> 24 ^ hash) & 0xFFFFFF;
  }

  private MethodHandle constructor(
      RecordComponent[] components, MethodHandles.@Nullable Lookup lookup) {
    Class<?>[] parameters =
        Stream.of(components).map(RecordComponent::getType).toArray(Class<?>[]::new);
    try {
      Constructor<?> canonical = type.getDeclaredConstructor(parameters);
      return lookup(canonical, lookup)
          .unreflectConstructor(canonical)
          .asFixedArity()
          .asSpreader(Object[].class, parameters.length)
          .asType(MethodType.methodType(Object.class, Object[].class));
    } catch (NoSuchMethodException | IllegalAccessException e) {
      throw inaccessible(e);
    }
  }

  private MethodHandle access(Method accessor, MethodHandles.@Nullable Lookup lookup) {
    try {
      return lookup(accessor, lookup).unreflect(accessor);
    } catch (IllegalAccessException e) {
      throw inaccessible(e);
    }
  }

  /** The lookup that may use a member: the user's, or this module's if the package is open. */
  private MethodHandles.Lookup lookup(
      AccessibleObject member, MethodHandles.@Nullable Lookup lookup) {
    if (lookup != null) {
      return lookup;
    }
    try {
      member.setAccessible(true);
      return MethodHandles.lookup();
    } catch (InaccessibleObjectException e) {
      throw inaccessible(e);
    }
  }

  private IllegalArgumentException inaccessible(Exception cause) {
    return new IllegalArgumentException(
        this
            + " can't be read from here: give RecordCodec.builder a lookup that may,"
            + " or have its module open the package "
            + type.getPackageName()
            + " to "
            + Optional.ofNullable(RecordType.class.getModule().getName()).orElse("the class path"),
        cause);
  }

  @Override
  void write(Object value, CodecOutput out) {
    CodecOutput own = new CodecOutput();
    writeFields(value, own);
    out.putSized(own.toBytes());
  }

  @Override
  Object read(ByteBuffer in) {
    return readFields(ValueInput.sized(in));
  }

  /** Writes the fields, to the end of what is stored. */
  void writeFields(Object value, CodecOutput out) {
    for (Field field : fields) {
      Object found = get(field, value);
      if (field.absent() instanceof Optional<?>) {
        if (found == null) {
          throw new IllegalArgumentException(
              this + ": the optional field '" + field.name() + "' is null: make it empty");
        }
        found = ((Optional<?>) found).orElse(null);
      }
      // By equals, in which 0.0 is not -0.0.
      if (found != null && !found.equals(field.absent())) {
        out.putNumber(field.id(), ID_BYTES);
        out.put(field.type().kind().number());
        writeField(field, found, out);
      }
    }
  }

  private void writeField(Field field, Object value, CodecOutput out) {
    try {
      field.type().write(value, out);
    } catch (NullPointerException e) {
      throw new IllegalArgumentException(
          this + ": the field '" + field.name() + "' has an element that is null", e);
    }
  }

  private Object get(Field field, Object value) {
    try {
      return field.accessor().invokeExact(value);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalArgumentException(
          this + ": the field '" + field.name() + "' can't be read", e);
    }
  }

  /** Reads the fields, to the end of the buffer. */
  Object readFields(ByteBuffer in) {
    @Nullable Object[] values = absent.clone();
    boolean[] present = new boolean[values.length];
    int next = 0;
    while (in.hasRemaining()) {
      String where = "a field that it has no more";
      try {
        int id = (in.get() & 0xFF) << 16 | (in.get() & 0xFF) << 8 | in.get() & 0xFF;
        while (next < fields.length && fields[next].id() < id) {
          next++;
        }
        Field field = next < fields.length && fields[next].id() == id ? fields[next] : null;
        where = field == null ? where : "the field '" + field.name() + "'";
        ValueKind stored = ValueKind.read(in);
        if (field == null) {
          stored.skip(in);
          continue;
        }
        Object value = field.type().read(in, stored);
        boolean optional = field.absent() instanceof Optional<?>;
        values[field.index()] = optional ? Optional.of(value) : value;
        present[field.index()] = true;
      } catch (UnreadableValueException e) {
        throw new IllegalArgumentException(this + ": " + where + " " + e.getMessage(), e);
      } catch (BufferUnderflowException e) {
        throw new IllegalArgumentException(this + ": " + where + " ends too early", e);
      }
    }
    return make(values, present);
  }

  private Object make(@Nullable Object[] values, boolean[] present) {
    MethodHandle canonical = constructor;
    if (canonical == null) {
      throw new IllegalStateException(this + " is not resolved");
    }
    try {
      return canonical.invokeExact(values);
    } catch (Error e) {
      throw e;
    } catch (Throwable e) {
      List<String> missing =
          Stream.of(fields)
              .filter(field -> !present[field.index()])
              .map(field -> "'" + field.name() + "'")
              .toList();
      throw new IllegalArgumentException(
          this
              + ": its constructor refused what is stored"
              + (missing.isEmpty()
                  ? ""
                  : "; fields that are not stored, and so null or zero: "
                      + String.join(", ", missing))
              + ": "
              + e,
          e);
    }
  }

  @Override
  public String toString() {
    return "record " + type.getName();
  }
}
