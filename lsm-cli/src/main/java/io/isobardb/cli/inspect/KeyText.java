package io.isobardb.cli.inspect;

import io.isobardb.cli.console.UsageException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/**
 * Keys as people type and read them: as text if all bytes are printable ASCII, else as {@code 0x}
 * and hexadecimal digits. A key that reads like hexadecimal is shown as such, so that what is shown
 * can be typed.
 */
final class KeyText {
  /** What hexadecimal digits follow. */
  static final String HEX = "0x";

  private KeyText() {}

  /**
   * The key that {@code text} stands for.
   *
   * @throws UsageException if it begins with 0x and goes on with other than pairs of hexadecimal
   *     digits
   */
  static byte[] parse(String text) {
    if (!text.startsWith(HEX)) {
      return text.getBytes(StandardCharsets.UTF_8);
    }
    try {
      return HexFormat.of().parseHex(text.substring(HEX.length()));
    } catch (IllegalArgumentException e) {
      throw new UsageException(
          "'" + text + "' is no key or value: after 0x come pairs of hexadecimal digits", e);
    }
  }

  static String format(byte[] key) {
    return format(key, 0, key.length);
  }

  static String format(byte[] key, int offset, int length) {
    boolean printable = length > 0;
    for (int i = offset; i < offset + length; i++) {
      printable &= key[i] > ' ' && key[i] < 127;
    }
    String text = printable ? new String(key, offset, length, StandardCharsets.US_ASCII) : HEX;
    return text.startsWith(HEX)
        ? HEX + HexFormat.of().formatHex(key, offset, offset + length)
        : text;
  }
}
