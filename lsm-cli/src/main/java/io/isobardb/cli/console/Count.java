package io.isobardb.cli.console;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A number of things as people write it: {@code 5000}, {@code 100M}, {@code 1.5G}, {@code 1e8}. */
public record Count(double value) {
  private static final Pattern FORM =
      Pattern.compile(
          "([0-9]+(?:\\.[0-9]+)?(?:e[0-9]{1,2})?)\\s*([kmgt]?)", Pattern.CASE_INSENSITIVE);
  private static final String UNITS = "kmgt";

  /**
   * Reads {@code text}; units are powers of 1000.
   *
   * @param text such as {@code 1.5M}
   * @return the number
   */
  public static Count parse(String text) {
    Matcher matcher = FORM.matcher(text.strip());
    if (!matcher.matches()) {
      throw new UsageException(
          "'" + text + "' is not a number; write for example 5000, 100M or 1e8");
    }
    String unit = matcher.group(2).toLowerCase(Locale.ROOT);
    double scale = unit.isEmpty() ? 1 : Math.pow(1000, UNITS.indexOf(unit) + 1);
    return new Count(Double.parseDouble(matcher.group(1)) * scale);
  }

  @Override
  public String toString() {
    return String.format(Locale.ROOT, "%,.0f", value);
  }
}
