package io.isobardb.cli.console;

import java.util.Locale;

/** Plain numbers on the command line, and the bounds of options' values. */
public final class Numbers {
  private Numbers() {}

  /** A whole number; {@link UsageException} says so if it is none. */
  public static int parseInt(String text) {
    long value = parseLong(text);
    if (value != (int) value) {
      throw new UsageException("'" + text + "' is too large");
    }
    return (int) value;
  }

  /** As {@link #parseInt}, with a wider range. */
  public static long parseLong(String text) {
    String digits = text.strip();
    if (!digits.matches("[-+]?[0-9]{1,}")) {
      throw new UsageException("'" + text + "' is not a whole number");
    }
    try {
      return Long.parseLong(digits);
    } catch (NumberFormatException e) {
      throw new UsageException("'" + text + "' is too large", e);
    }
  }

  /** A number with or without decimals. */
  public static double parseDouble(String text) {
    try {
      double value = Double.parseDouble(text.strip());
      if (Double.isFinite(value)) {
        return value;
      }
    } catch (NumberFormatException e) {
      // Told below.
    }
    throw new UsageException("'" + text + "' is not a number");
  }

  /**
   * Refuses the value of an option that is out of range.
   *
   * @param least the smallest that is allowed
   * @param most the largest; {@link Long#MAX_VALUE} for no bound
   * @throws UsageException that names option, range and value
   */
  public static void check(String option, long value, long least, long most) {
    if (value < least || value > most) {
      String range =
          most == Long.MAX_VALUE
              ? String.format(Locale.ROOT, "%,d or more", least)
              : String.format(Locale.ROOT, "%,d to %,d", least, most);
      throw new UsageException(
          option + " must be " + range + ", not " + String.format(Locale.ROOT, "%,d", value));
    }
  }

  /** As {@link #check(String, long, long, long)}, without an upper bound. */
  public static void checkAtLeast(String option, long value, long least) {
    check(option, value, least, Long.MAX_VALUE);
  }

  /** Refuses a size that is too small. */
  public static void checkAtLeast(String option, ByteSize size, long leastBytes) {
    if (size.bytes() < leastBytes) {
      throw new UsageException(
          option + " must be " + ByteSize.format(leastBytes) + " or more, not " + size);
    }
  }

  /** Refuses a length of time of 0. */
  public static void checkAboveZero(String option, TimeSpan time) {
    if (time.millis() < 1) {
      throw new UsageException(option + " must be longer than 0");
    }
  }

  /** Three significant digits, without an exponent; a hyphen for NaN. */
  public static String significant(double value) {
    if (Double.isNaN(value)) {
      return "-";
    }
    double size = Math.abs(value);
    int decimals = size >= 100 || size == 0 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
    return String.format(Locale.ROOT, "%,." + decimals + "f", value);
  }

  /** "1 tree", "2 trees". */
  public static String count(long number, String noun) {
    return String.format(Locale.ROOT, "%,d %s%s", number, noun, number == 1 ? "" : "s");
  }

  /** "1 entry", "2 entries". */
  public static String entries(long number) {
    return number == 1 ? "1 entry" : String.format(Locale.ROOT, "%,d entries", number);
  }
}
