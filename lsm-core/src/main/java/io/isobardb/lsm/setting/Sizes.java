package io.isobardb.lsm.setting;

import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Sizes and durations as people write them: in options, and on the command line.
 *
 * <p>They are taken apart by hand. A pattern costs time when the first store of a process is
 * opened.
 */
public final class Sizes {
  private static final String[] UNITS = {"", "KB", "MB", "GB"};
  private static final String PREFIXES = "kmgt";

  private Sizes() {}

  /**
   * Bytes of {@code "64MB"}, {@code "1.5 GiB"}, {@code "1t"}, {@code "4096"}. Units are powers of
   * 1024, with or without the {@code i}, in either case. A part of a byte is left out.
   *
   * @throws IllegalArgumentException if {@code text} is no size, or too large for a {@code long}
   */
  public static long parse(String text) {
    String value = text.strip().toLowerCase(Locale.ROOT);
    int digits = digits(value);
    int power = power(value.substring(digits).strip());
    if (digits == 0 || power < 0) {
      throw new IllegalArgumentException(
          "'" + text + "' is not a size such as 4096, 64MB or 1.5GiB");
    }
    return scaled(text, value.substring(0, digits), 1L << (10 * power));
  }

  /** By which power of 1024 a unit multiplies; -1 if it is none. */
  private static int power(String unit) {
    if (unit.isEmpty() || unit.equals("b")) {
      return 0;
    }
    int power = PREFIXES.indexOf(unit.charAt(0)) + 1;
    String rest = unit.substring(1);
    return power > 0 && (rest.isEmpty() || rest.equals("b") || rest.equals("ib")) ? power : -1;
  }

  /**
   * {@code "100ms"}, {@code "2s"}, {@code "1.5m"}, {@code "2h"}, or by ISO 8601 {@code "PT1M"}.
   *
   * @throws IllegalArgumentException if {@code text} is no duration, or too long for a {@code long}
   *     of milliseconds
   */
  public static Duration parseDuration(String text) {
    String value = text.strip().toLowerCase(Locale.ROOT);
    if (value.startsWith("p")) {
      return parseIso(text.strip());
    }
    int digits = digits(value);
    long unit =
        switch (value.substring(digits).strip()) {
          case "ms" -> 1;
          case "s" -> 1_000;
          case "m" -> 60_000;
          case "h" -> 3_600_000;
          default -> 0;
        };
    if (digits == 0 || unit == 0) {
      throw new IllegalArgumentException(
          "'" + text + "' is not a duration such as 100ms, 2s, 5m or 2h");
    }
    return Duration.ofMillis(scaled(text, value.substring(0, digits), unit));
  }

  private static Duration parseIso(String text) {
    try {
      return Duration.parse(text);
    } catch (DateTimeParseException e) {
      throw new IllegalArgumentException("'" + text + "' is not a duration such as PT1M", e);
    }
  }

  /** How many characters at the start are a number, with decimals or without; 0 if none are. */
  private static int digits(String value) {
    int whole = digitsFrom(value, 0);
    if (whole == 0 || whole == value.length() || value.charAt(whole) != '.') {
      return whole;
    }
    int decimals = digitsFrom(value, whole + 1);
    return decimals == whole + 1 ? 0 : decimals;
  }

  private static int digitsFrom(String value, int from) {
    int end = from;
    while (end < value.length() && value.charAt(end) >= '0' && value.charAt(end) <= '9') {
      end++;
    }
    return end;
  }

  /** A number of units; without decimals it is exact. */
  private static long scaled(String text, String number, long unit) {
    @Nullable Exception tooLarge = null;
    try {
      if (number.indexOf('.') < 0) {
        return Math.multiplyExact(Long.parseLong(number), unit);
      }
      double product = Double.parseDouble(number) * unit;
      if (product < Long.MAX_VALUE) {
        return (long) product;
      }
    } catch (NumberFormatException | ArithmeticException e) {
      tooLarge = e;
    }
    throw new IllegalArgumentException("'" + text + "' is too large", tooLarge);
  }

  /** In the largest unit of which it is a multiple, as {@link #parse} takes it. */
  public static String text(long bytes) {
    int unit = 0;
    long rest = bytes;
    while (unit < UNITS.length - 1 && rest != 0 && rest % 1024 == 0) {
      rest /= 1024;
      unit++;
    }
    return rest + UNITS[unit];
  }

  /** As {@link #parseDuration} takes it. */
  static String text(Duration duration) {
    if (Math.abs((double) duration.getSeconds()) > Long.MAX_VALUE / 1000) {
      return duration.toString();
    }
    long millis = duration.toMillis();
    if (!duration.equals(Duration.ofMillis(millis))) {
      return duration.toString();
    }
    return millis % 1000 == 0 ? millis / 1000 + "s" : millis + "ms";
  }
}
