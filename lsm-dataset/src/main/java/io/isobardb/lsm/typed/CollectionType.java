package io.isobardb.lsm.typed;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;

/**
 * Lists and sets: how many bytes follow, the kind of the elements, the elements. Sets are sorted by
 * the bytes of their elements, so that equal ones have the same bytes.
 */
final class CollectionType extends ValueType {
  private final ValueType element;

  CollectionType(ValueKind kind, ValueType element) {
    super(kind, kind.description + "<" + element.name() + ">");
    this.element = element;
  }

  static byte[] encode(ValueType type, Object value) {
    CodecOutput out = new CodecOutput();
    type.write(Objects.requireNonNull(value, "an element of a collection"), out);
    return out.toBytes();
  }

  @Override
  void write(Object value, CodecOutput out) {
    List<byte[]> encoded = new ArrayList<>();
    for (Object each : (Collection<?>) value) {
      encoded.add(encode(element, each));
    }
    if (kind() == ValueKind.SET) {
      encoded.sort(Arrays::compareUnsigned);
    }
    CodecOutput all = new CodecOutput();
    all.put(element.kind().number());
    encoded.forEach(all::put);
    out.putSized(all.toBytes());
  }

  @Override
  Object read(ByteBuffer in) {
    ByteBuffer elements = ValueInput.sized(in);
    ValueKind stored = ValueKind.read(elements);
    Collection<Object> read = kind() == ValueKind.SET ? new LinkedHashSet<>() : new ArrayList<>();
    while (elements.hasRemaining()) {
      read.add(element.read(elements, stored));
    }
    return read instanceof LinkedHashSet<Object> set
        ? Collections.unmodifiableSet(set)
        : Collections.unmodifiableList((List<Object>) read);
  }
}
