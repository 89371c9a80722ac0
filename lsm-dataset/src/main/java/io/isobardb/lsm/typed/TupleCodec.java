package io.isobardb.lsm.typed;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Several keys in one. */
final class TupleCodec extends KeyCodec<List<?>> {
  private final List<KeyCodec<?>> codecs;

  TupleCodec(List<KeyCodec<?>> codecs) {
    this.codecs = codecs;
  }

  @Override
  void write(List<?> key, CodecOutput out, boolean last) {
    if (key.size() != codecs.size()) {
      throw new IllegalArgumentException(
          "a key has " + key.size() + " parts, and its codec " + codecs.size());
    }
    for (int i = 0; i < codecs.size(); i++) {
      write(codecs.get(i), key.get(i), out, last && i == codecs.size() - 1);
    }
  }

  /** What is written is of the codec's type, or else the cast within fails. */
  @SuppressWarnings("unchecked")
  private static void write(
      KeyCodec<?> codec, @Nullable Object part, CodecOutput out, boolean last) {
    ((KeyCodec<@Nullable Object>) codec).write(part, out, last);
  }

  @Override
  List<?> read(KeyInput in, boolean last) {
    List<@Nullable Object> key = new ArrayList<>(codecs.size());
    for (int i = 0; i < codecs.size(); i++) {
      key.add(codecs.get(i).read(in, last && i == codecs.size() - 1));
    }
    return Collections.unmodifiableList(key);
  }

  @Override
  int writeParts(List<?> parts, CodecOutput out) {
    return writeParts(codecs, parts, out);
  }

  static int writeParts(List<? extends KeyCodec<?>> codecs, List<?> parts, CodecOutput out) {
    for (int i = 0; i < Math.min(parts.size(), codecs.size()); i++) {
      try {
        write(codecs.get(i), parts.get(i), out, false);
      } catch (ClassCastException e) {
        throw new IllegalArgumentException(
            "keys can't begin with "
                + parts
                + ": part "
                + (i + 1)
                + " is not of the type that its codec takes",
            e);
      }
    }
    return codecs.size() - 1;
  }
}
