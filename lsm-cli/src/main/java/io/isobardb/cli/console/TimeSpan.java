package io.isobardb.cli.console;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A length of time as people write it: {@code 500ms}, {@code 60s}, {@code 1.5m}, {@code 2h};
 * without a unit it is seconds.
 */
public record TimeSpan(long millis) {
  private static final Pattern FORM =
      Pattern.compile("([0-9]+(?:\\.[0-9]+)?)\\s*(ms|s|m|h)?", Pattern.CASE_INSENSITIVE);

  /** Reads {@code text}; {@link UsageException} shows what is accepted. */
  public static TimeSpan parse(String text) {
    Matcher matcher = FORM.matcher(text.strip());
    if (!matcher.matches()) {
      throw new UsageException(
          "'" + text + "' is not a length of time; write for example 500ms, 60s, 5m or 2h");
    }
    double unit =
        switch (matcher.group(2) == null ? "s" : matcher.group(2).toLowerCase(Locale.ROOT)) {
          case "ms" -> 1;
          case "s" -> 1_000;
          case "m" -> 60_000;
          default -> 3_600_000;
        };
    double millis = Double.parseDouble(matcher.group(1)) * unit;
    if (millis > 1e12) {
      throw new UsageException("'" + text + "' is too long");
    }
    return new TimeSpan(Math.round(millis));
  }
}
