package io.isobardb.lsm.setting;

import io.isobardb.lsm.option.Levels;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Takes {@link Levels}, as {@code FIXED(64MB)}. */
final class LevelsKind extends OptionKind<Levels> {
  private static final String FIXED = "FIXED(";
  private static final String FORMERLY_FIXED = "STATIC(";
  private static final List<String> EXAMPLES = List.of("DYNAMIC", "OPTIMISED", "FIXED(64MB)");

  LevelsKind() {
    super(Levels.class, "`DYNAMIC`, `OPTIMISED`, or `FIXED(size)` with a size of at least 64KB");
  }

  @Override
  public Levels read(String text) {
    String value = text.toUpperCase(Locale.ROOT);
    if (value.equals("DYNAMIC")) {
      return Levels.dynamic();
    }
    if (value.equals("OPTIMISED")) {
      return Levels.optimised();
    }
    for (String fixed : List.of(FIXED, FORMERLY_FIXED)) {
      if (value.startsWith(fixed) && value.endsWith(")")) {
        return Levels.fixed(Sizes.parse(value.substring(fixed.length(), value.length() - 1)));
      }
    }
    throw new IllegalArgumentException("there is no such value" + Suggestion.among(text, EXAMPLES));
  }

  @Override
  @Nullable String replaced(String text) {
    return text.toUpperCase(Locale.ROOT).startsWith(FORMERLY_FIXED) ? write(read(text)) : null;
  }
}
