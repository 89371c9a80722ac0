package io.isobardb.lsm.typed;

import java.nio.ByteBuffer;
import java.util.function.BiConsumer;
import java.util.function.Function;

/** How values of a type stand within a record. Thread rule: immutable. */
abstract class ValueType {
  private final ValueKind kind;
  private final String name;

  /**
   * @param name of the type, for messages
   */
  ValueType(ValueKind kind, String name) {
    this.kind = kind;
    this.name = name;
  }

  /** A type whose values are read as they were written. */
  static <T> ValueType of(
      ValueKind kind,
      Class<T> type,
      BiConsumer<T, CodecOutput> write,
      Function<ByteBuffer, ? extends T> read) {
    return new ValueType(kind, type.getSimpleName()) {
      @Override
      void write(Object value, CodecOutput out) {
        write.accept(type.cast(value), out);
      }

      @Override
      Object read(ByteBuffer in) {
        return read.apply(in);
      }
    };
  }

  /** What it is stored as. */
  final ValueKind kind() {
    return kind;
  }

  final String name() {
    return name;
  }

  abstract void write(Object value, CodecOutput out);

  /** Reads a value of this type's kind. */
  abstract Object read(ByteBuffer in);

  /** Reads a value of the kind that is stored. */
  Object read(ByteBuffer in, ValueKind stored) {
    if (stored != kind) {
      throw UnreadableValueException.changed(stored.description, name);
    }
    return read(in);
  }
}
