package io.isobardb.lsm.typed;

/** Strings as keys: each {@code char} in one to three bytes, as UTF-8 has those up to U+FFFF. */
final class StringCodec extends KeyCodec<String> {
  @Override
  void write(String key, CodecOutput out, boolean last) {
    for (int i = 0; i < key.length(); i++) {
      int c = key.charAt(i);
      if (c == 0 && !last) {
        out.putEscaped(0);
      } else if (c < 0x80) {
        out.put(c);
      } else if (c < 0x800) {
        out.put(0xC0 | c >> 6);
        out.put(0x80 | c & 0x3F);
      } else {
        out.put(0xE0 | c >> 12);
        out.put(0x80 | c >> 6 & 0x3F);
        out.put(0x80 | c & 0x3F);
      }
    }
    if (!last) {
      out.put(END);
      out.put(END);
    }
  }

  @Override
  String read(KeyInput in, boolean last) {
    StringBuilder key = new StringBuilder(in.remaining());
    for (int first; (first = in.getEscaped(last)) >= 0; ) {
      if (first < 0x80) {
        key.append((char) first);
      } else if ((first & 0xE0) == 0xC0) {
        key.append((char) ((first & 0x1F) << 6 | more(in)));
      } else if ((first & 0xF0) == 0xE0) {
        key.append((char) ((first & 0xF) << 12 | more(in) << 6 | more(in)));
      } else {
        throw in.malformed("has the byte " + first + ", which begins no character");
      }
    }
    return key.toString();
  }

  private static int more(KeyInput in) {
    int next = in.get();
    if ((next & 0xC0) != 0x80) {
      throw in.malformed("has the byte " + next + " within a character");
    }
    return next & 0x3F;
  }
}
