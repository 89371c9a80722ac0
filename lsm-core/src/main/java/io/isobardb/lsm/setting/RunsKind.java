package io.isobardb.lsm.setting;

import io.isobardb.lsm.option.Runs;
import java.util.List;
import java.util.Locale;

/** Takes {@link Runs}, as {@code LAZY(8)} or {@code 8,4,1}. */
final class RunsKind extends OptionKind<Runs> {
  private static final List<String> EXAMPLES = List.of("LEVELED", "LAZY(8)", "TIERED(8)", "8,4,1");

  RunsKind() {
    super(
        Runs.class,
        "`LEVELED`, `LAZY(runs)`, `TIERED(runs)`, or numbers from the top down as `8,4,1`");
  }

  @Override
  public Runs read(String text) {
    String value = text.toUpperCase(Locale.ROOT).replace(" ", "");
    return switch (value) {
      case "LEVELED" -> Runs.leveled();
      case "LAZY" -> Runs.lazy(Runs.USUAL);
      case "TIERED" -> Runs.tiered(Runs.USUAL);
      default -> {
        if (value.startsWith("LAZY(") && value.endsWith(")")) {
          yield Runs.lazy(number(text, value.substring(5, value.length() - 1)));
        }
        if (value.startsWith("TIERED(") && value.endsWith(")")) {
          yield Runs.tiered(number(text, value.substring(7, value.length() - 1)));
        }
        String[] parts = value.split(",", -1);
        int[] numbers = new int[parts.length];
        for (int i = 0; i < parts.length; i++) {
          numbers[i] = number(text, parts[i]);
        }
        yield Runs.of(numbers);
      }
    };
  }

  private static int number(String text, String digits) {
    try {
      return Integer.parseInt(digits);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "it is none of " + String.join(", ", EXAMPLES) + Suggestion.among(text, EXAMPLES), e);
    }
  }
}
