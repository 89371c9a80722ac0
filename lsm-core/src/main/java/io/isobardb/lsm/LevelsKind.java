package io.isobardb.lsm;

import io.isobardb.lsm.setting.OptionKind;
import io.isobardb.lsm.setting.Sizes;
import io.isobardb.lsm.setting.Suggestion;
import java.util.List;
import java.util.Locale;

/** How levels are sized: a write memory in bytes that they are made for, or one of two words. */
final class LevelsKind extends OptionKind<Long> {
  /** Levels as write memory and L0 ask for. */
  static final long DYNAMIC = 0;

  /** Levels that are planned. */
  static final long PLANNED = Long.MIN_VALUE;

  private static final long LEAST_STATIC = 64 << 10;
  static final String WORDS = "DYNAMIC, OPTIMISED, or STATIC(size)";
  static final LevelsKind LEVELS = new LevelsKind();

  private static final String STATIC = "STATIC(";

  private LevelsKind() {
    super(Long.class, WORDS);
  }

  boolean allows(long bytes) {
    return bytes == DYNAMIC || bytes == PLANNED || bytes >= LEAST_STATIC;
  }

  @Override
  public Long read(String text) {
    String value = text.toUpperCase(Locale.ROOT);
    if (value.equals("DYNAMIC")) {
      return DYNAMIC;
    }
    if (value.equals("OPTIMISED")) {
      return PLANNED;
    }
    if (value.startsWith(STATIC) && value.endsWith(")")) {
      long bytes = Sizes.parse(value.substring(STATIC.length(), value.length() - 1));
      if (bytes > 0) {
        return bytes;
      }
    }
    throw new IllegalArgumentException(
        "it is neither DYNAMIC nor OPTIMISED, nor STATIC(64MB) or of another size"
            + Suggestion.among(text, List.of("DYNAMIC", "OPTIMISED", "STATIC(64MB)")));
  }

  @Override
  public String write(Long bytes) {
    return bytes == DYNAMIC ? "DYNAMIC" : bytes == PLANNED ? "OPTIMISED" : STATIC + bytes + ")";
  }
}
