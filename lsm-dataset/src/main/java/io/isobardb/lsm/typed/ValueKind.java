package io.isobardb.lsm.typed;

import java.nio.ByteBuffer;

/**
 * What the bytes of a stored field are. The number of a kind is stored in front of each field, so
 * it says how long a field is that the record has no more, and what another type was before.
 */
enum ValueKind {
  BOOLEAN("boolean"),
  BYTE("byte"),
  SHORT("short"),
  INT("int"),
  LONG("long"),
  CHAR("char"),
  FLOAT("float"),
  DOUBLE("double"),
  STRING("String"),
  BYTES("byte[]"),
  INSTANT("Instant"),
  DURATION("Duration"),
  DATE("LocalDate"),
  UUID("UUID"),
  ENUM("an enum"),
  RECORD("a record"),
  LIST("List"),
  SET("Set"),
  MAP("Map"),
  CODED("a type with a codec of its own");

  private static final ValueKind[] ALL = values();

  final String description;

  ValueKind(String description) {
    this.description = description;
  }

  /** As stored. Kinds are only added, at the end. */
  int number() {
    return ordinal() + 1;
  }

  static ValueKind read(ByteBuffer in) {
    int number = in.get() & 0xFF;
    if (number == 0 || number > ALL.length) {
      throw new UnreadableValueException("has the kind " + number + ", which there is not");
    }
    return ALL[number - 1];
  }

  /** Whether values of this kind are whole numbers of a signed type. */
  boolean isWhole() {
    return this == BYTE || this == SHORT || this == INT || this == LONG;
  }

  /** Passes over a value of this kind. */
  void skip(ByteBuffer in) {
    switch (this) {
      case BOOLEAN -> in.get();
      case BYTE, SHORT, INT, LONG, CHAR, DATE -> ValueInput.varint(in);
      case FLOAT -> in.getInt();
      case DOUBLE -> in.getLong();
      case INSTANT, DURATION -> {
        ValueInput.varint(in);
        ValueInput.varint(in);
      }
      case UUID -> {
        in.getLong();
        in.getLong();
      }
      case STRING, BYTES, ENUM, RECORD, LIST, SET, MAP, CODED -> ValueInput.sized(in);
    }
  }
}
