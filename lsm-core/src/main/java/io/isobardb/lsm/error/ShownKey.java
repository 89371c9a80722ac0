package io.isobardb.lsm.error;

/** How messages show keys, here and above. */
public final class ShownKey {
  private static final int MOST_BYTES = 32;

  private ShownKey() {}

  /**
   * {@return a key as {@code 'text'} if its first bytes are printable ASCII, else as {@code 0x} and
   * hexadecimal digits; cut after 32 bytes, which {@code ...} says}
   *
   * @param key of any length
   */
  public static String of(byte[] key) {
    int shown = Math.min(key.length, MOST_BYTES);
    StringBuilder text = new StringBuilder("'");
    StringBuilder hexadecimal = new StringBuilder("0x");
    boolean printable = true;
    for (int i = 0; i < shown; i++) {
      printable &= key[i] >= ' ' && key[i] <= '~';
      text.append((char) key[i]);
      hexadecimal
          .append(Character.forDigit(key[i] >> 4 & 15, 16))
          .append(Character.forDigit(key[i] & 15, 16));
    }
    String more = shown < key.length ? "..." : "";
    return printable ? text + more + "'" : hexadecimal + more;
  }
}
