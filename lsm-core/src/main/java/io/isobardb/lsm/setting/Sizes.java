package io.isobardb.lsm.setting;

import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.Locale;
import java.util.Map;

/** Sizes and durations as people write them. */
public final class Sizes {
  private static final Map<String, Integer> SHIFTS =
      Map.of("", 0, "B", 0, "KB", 10, "KIB", 10, "K", 10, "MB", 20, "MIB", 20, "M", 20);

  private Sizes() {}

  /** Bytes of {@code "64MB"}, {@code "1 GiB"}, {@code "4096"}; units are powers of 1024. */
  public static long parse(String text) {
    int digits = 0;
    while (digits < text.length() && Character.isDigit(text.charAt(digits))) {
      digits++;
    }
    String unit = text.substring(digits).trim().toUpperCase(Locale.ROOT);
    Integer shift = unit.startsWith("G") ? Integer.valueOf(30) : SHIFTS.get(unit);
    if (digits == 0 || shift == null) {
      throw new IllegalArgumentException("'" + text + "' is not a size such as 4096, 64MB or 1GB");
    }
    return Math.multiplyExact(Long.parseLong(text.substring(0, digits)), 1L << shift);
  }

  /** {@code "100ms"}, {@code "2s"}, {@code "PT1M"}. */
  static Duration parseDuration(String text) {
    String value = text.trim().toLowerCase(Locale.ROOT);
    if (value.startsWith("pt")) {
      return parseIso(value);
    }
    if (value.endsWith("ms")) {
      return Duration.ofMillis(Long.parseLong(value.substring(0, value.length() - 2).trim()));
    }
    if (value.endsWith("s")) {
      return Duration.ofSeconds(Long.parseLong(value.substring(0, value.length() - 1).trim()));
    }
    throw new IllegalArgumentException("'" + text + "' is not a duration such as 100ms or 2s");
  }

  private static Duration parseIso(String text) {
    try {
      return Duration.parse(text);
    } catch (DateTimeParseException e) {
      throw new IllegalArgumentException("'" + text + "' is not a duration such as PT1M", e);
    }
  }

  /** In the largest unit of which it is a multiple, as {@link #parse} takes it. */
  public static String text(long bytes) {
    String[] units = {"", "KB", "MB", "GB"};
    int unit = 0;
    long rest = bytes;
    while (unit < units.length - 1 && rest != 0 && rest % 1024 == 0) {
      rest /= 1024;
      unit++;
    }
    return rest + units[unit];
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
