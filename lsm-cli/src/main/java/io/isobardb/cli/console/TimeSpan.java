package io.isobardb.cli.console;

import io.isobardb.lsm.setting.Sizes;
import java.time.Duration;

/**
 * A length of time as people write it: {@code 500ms}, {@code 60s}, {@code 1.5m}, {@code 2h};
 * without a unit it is seconds.
 */
public record TimeSpan(long millis) {
  /** Over thirty years. */
  private static final long MOST_MILLIS = 1_000_000_000_000L;

  /**
   * Reads {@code text} as options are read; {@link UsageException} shows what is accepted.
   *
   * @param text such as {@code 500ms} or {@code 2m}
   * @return the length of time
   */
  public static TimeSpan parse(String text) {
    String value = text.strip();
    boolean seconds = value.matches("[0-9.]+");
    Duration time =
        UsageException.ofArguments(() -> Sizes.parseDuration(seconds ? value + "s" : value));
    if (time.isNegative() || time.compareTo(Duration.ofMillis(MOST_MILLIS)) > 0) {
      throw new UsageException("'" + text + "' is not a length of time that can be waited for");
    }
    return new TimeSpan(time.toMillis());
  }
}
