package io.isobardb.cli.console;

import java.util.Locale;

/** Plain numbers on the command line, and the bounds of options' values. */
public final class Numbers {
  private Numbers() {}

  /**
   * {@return a whole number; {@link UsageException} says so if it is none}
   *
   * @param text decimal digits, perhaps with a sign
   */
  public static int parseInt(String text) {
    long value = parseLong(text);
    if (value != (int) value) {
      throw new UsageException("'" + text + "' is too large");
    }
    return (int) value;
  }

  /**
   * As {@link #parseInt}, with a wider range.
   *
   * @param text decimal digits, perhaps with a sign
   * @return the number
   */
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

  /**
   * {@return a number with or without decimals}
   *
   * @param text as in Java, such as {@code 0.99} or {@code 1e6}
   */
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
   * @param option its name, with hyphens
   * @param value what it was given
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

  /**
   * As {@link #check(String, long, long, long)}, without an upper bound.
   *
   * @param option its name, with hyphens
   * @param value what it was given
   * @param least the smallest that is allowed
   */
  public static void checkAtLeast(String option, long value, long least) {
    check(option, value, least, Long.MAX_VALUE);
  }

  /**
   * Refuses a size that is too small.
   *
   * @param option its name, with hyphens
   * @param size what it was given
   * @param leastBytes the smallest that is allowed
   */
  public static void checkAtLeast(String option, ByteSize size, long leastBytes) {
    if (size.bytes() < leastBytes) {
      throw new UsageException(
          option + " must be " + ByteSize.format(leastBytes) + " or more, not " + size);
    }
  }

  /**
   * Refuses a length of time of 0.
   *
   * @param option its name, with hyphens
   * @param time what it was given
   */
  public static void checkAboveZero(String option, TimeSpan time) {
    if (time.millis() < 1) {
      throw new UsageException(option + " must be longer than 0");
    }
  }

  /**
   * {@return three significant digits, without an exponent; a hyphen for NaN}
   *
   * @param value any number
   */
  public static String significant(double value) {
    if (Double.isNaN(value)) {
      return "-";
    }
    double size = Math.abs(value);
    int decimals = size >= 100 || size == 0 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
    return String.format(Locale.ROOT, "%,." + decimals + "f", value);
  }

  /**
   * {@return a number with its noun: "1 tree", "2 trees"}
   *
   * @param number 0 or more
   * @param noun in the singular; {@code s} is added for others than 1
   */
  public static String count(long number, String noun) {
    return String.format(Locale.ROOT, "%,d %s%s", number, noun, number == 1 ? "" : "s");
  }

  /**
   * {@return a number of entries: "1 entry", "2 entries"}
   *
   * @param number 0 or more
   */
  public static String entries(long number) {
    return number == 1 ? "1 entry" : String.format(Locale.ROOT, "%,d entries", number);
  }
}
