package io.isobardb.lsm.typed;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * Maps: how many bytes follow, the kinds of keys and values, then each key and its value. Sorted by
 * the bytes of keys, so that equal maps have the same bytes.
 */
final class MapType extends ValueType {
  private final ValueType key;
  private final ValueType value;

  MapType(ValueType key, ValueType value) {
    super(ValueKind.MAP, "Map<" + key.name() + ", " + value.name() + ">");
    this.key = key;
    this.value = value;
  }

  @Override
  void write(Object map, CodecOutput out) {
    Map<byte[], byte[]> encoded = new TreeMap<>(Arrays::compareUnsigned);
    ((Map<?, ?>) map)
        .forEach(
            (from, to) ->
                encoded.put(CollectionType.encode(key, from), CollectionType.encode(value, to)));
    CodecOutput all = new CodecOutput();
    all.put(key.kind().number());
    all.put(value.kind().number());
    encoded.forEach(
        (from, to) -> {
          all.put(from);
          all.put(to);
        });
    out.putSized(all.toBytes());
  }

  @Override
  Object read(ByteBuffer in) {
    ByteBuffer entries = ValueInput.sized(in);
    ValueKind keys = ValueKind.read(entries);
    ValueKind values = ValueKind.read(entries);
    Map<Object, Object> read = new LinkedHashMap<>();
    while (entries.hasRemaining()) {
      Object from = key.read(entries, keys);
      read.put(from, value.read(entries, values));
    }
    return Collections.unmodifiableMap(read);
  }
}
