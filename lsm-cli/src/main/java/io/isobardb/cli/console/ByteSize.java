package io.isobardb.cli.console;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A number of bytes as people write it: {@code 4096}, {@code 64MB}, {@code 1GiB}, {@code 1.5g}.
 * Units are powers of 1024, with or without the {@code i}, in either case.
 */
public record ByteSize(long bytes) {
  private static final Pattern FORM =
      Pattern.compile("([0-9]+(?:\\.[0-9]+)?)\\s*([kmgt]?)(i?b)?", Pattern.CASE_INSENSITIVE);
  private static final String UNITS = "kmgt";

  /** Reads {@code text}; {@link UsageException} shows what is accepted. */
  public static ByteSize parse(String text) {
    Matcher matcher = FORM.matcher(text.strip());
    if (!matcher.matches()) {
      throw new UsageException(
          "'" + text + "' is not a size; write for example 4096, 64MB or 1.5GiB");
    }
    String unit = matcher.group(2).toLowerCase(Locale.ROOT);
    if (unit.isEmpty() && "ib".equalsIgnoreCase(matcher.group(3))) {
      throw new UsageException("'" + text + "' has no unit before 'iB'");
    }
    double bytes =
        Double.parseDouble(matcher.group(1))
            * (unit.isEmpty() ? 1 : 1L << (10 * (UNITS.indexOf(unit) + 1)));
    if (bytes > 1L << 53) {
      throw new UsageException("'" + text + "' is too large");
    }
    return new ByteSize((long) bytes);
  }

  /** The size in its largest fitting unit with up to one decimal: {@code 512 B}, {@code 1.5 GB}. */
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
