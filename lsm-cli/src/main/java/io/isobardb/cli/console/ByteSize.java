package io.isobardb.cli.console;

import io.isobardb.lsm.setting.Sizes;
import java.util.Locale;

/**
 * A number of bytes as people write it: {@code 4096}, {@code 64MB}, {@code 1GiB}, {@code 1.5g}.
 * Units are powers of 1024, with or without the {@code i}, in either case.
 */
public record ByteSize(long bytes) {
  private static final String UNITS = "kmgt";

  /**
   * Reads {@code text} as options are read; {@link UsageException} shows what is accepted.
   *
   * @param text such as {@code 64MB}
   * @return the size
   */
  public static ByteSize parse(String text) {
    return new ByteSize(UsageException.ofArguments(() -> Sizes.parse(text)));
  }

  /**
   * {@return the size in its largest fitting unit with up to one decimal: {@code 512 B}, {@code 1.5
   * GB}}
   *
   * @param bytes 0 or more
   */
  public static String format(double bytes) {
    double value = bytes;
    int unit = 0;
    while (Math.abs(value) >= 1024 && unit < UNITS.length()) {
      value /= 1024;
      unit++;
    }
    String number =
        value == Math.rint(value) || Math.abs(value) >= 100
            ? String.format(Locale.ROOT, "%.0f", value)
            : String.format(Locale.ROOT, "%.1f", value);
    return number + (unit == 0 ? " B" : " " + Character.toUpperCase(UNITS.charAt(unit - 1)) + "B");
  }

  @Override
  public String toString() {
    return format(bytes);
  }
}
