package io.isobardb.bench.search;

import io.isobardb.cli.console.UsageException;
import io.isobardb.lsm.setting.Option;
import io.isobardb.lsm.setting.OptionKind;
import io.isobardb.lsm.setting.Sizes;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An option, and which of its values a search may give it: a range of numbers, or choices.
 * Immutable.
 *
 * <p>A value is text that the option reads, always written alike. Its <i>place</i> lies between 0
 * and 1: where it is in the range, or the number of the choice divided by that of the last one.
 */
final class Knob {
  private static final Pattern FORM =
      Pattern.compile("([A-Za-z][A-Za-z0-9.]*)=(.+?)(?::(log|linear|ordered))?");
  private static final Pattern NEXT = Pattern.compile(",(?=[A-Za-z][A-Za-z0-9.]*=)");
  private static final int DIGITS = 3;
  private static final long KILOBYTE = 1024;

  private final Option<?> option;

  /** None of a range. */
  private final List<String> choices;

  private final boolean isOrdered;
  private final boolean isLog;
  private final double low;
  private final double high;

  private Knob(Option<?> option, List<String> choices, boolean isOrdered) {
    this.option = option;
    this.choices = List.copyOf(choices);
    this.isOrdered = isOrdered;
    this.isLog = false;
    this.low = 0;
    this.high = choices.size() - 1;
  }

  private Knob(Option<?> option, double low, double high, boolean isLog) {
    this.option = option;
    this.choices = List.of();
    this.isOrdered = true;
    this.isLog = isLog;
    this.low = low;
    this.high = high;
  }

  /**
   * Knobs as the user wrote them: {@code writeMemory=1MB..64MB:log,runs=LEVELED|LAZY|4,4,1}.
   *
   * @throws UsageException that names the first one that makes no sense
   */
  static List<Knob> parseAll(String text) {
    List<Knob> knobs = new ArrayList<>();
    for (String part : NEXT.split(text.strip())) {
      Knob knob = parse(part.strip());
      if (knobs.stream().anyMatch(each -> each.name().equals(knob.name()))) {
        throw new UsageException("--knobs names " + knob.name() + " twice");
      }
      knobs.add(knob);
    }
    return knobs;
  }

  private static Knob parse(String text) {
    Matcher form = FORM.matcher(text);
    if (!form.matches()) {
      throw new UsageException(
          "--knobs: '"
              + text
              + "' is neither NAME=LEAST..MOST, such as writeMemory=1MB..64MB:log, nor NAME=A|B");
    }
    Option<?> option = KnownOptions.named(form.group(1));
    String values = form.group(2);
    String how = form.group(3) == null ? "" : form.group(3);
    int dots = values.indexOf("..");
    return dots < 0
        ? ofChoices(option, values, how)
        : ofRange(option, values.substring(0, dots), values.substring(dots + 2), how);
  }

  private static Knob ofRange(Option<?> option, String least, String most, String how) {
    if (!KnownOptions.isNumeric(option)) {
      throw new UsageException(
          "--knobs: " + option + " has no range; give choices, separated by |");
    }
    double low = number(option, least);
    double high = number(option, most);
    if (low >= high) {
      throw new UsageException(
          "--knobs: the range of " + option + " is upside down: " + least + ".." + most);
    }
    if (how.equals("ordered")) {
      throw new UsageException("--knobs: a range as that of " + option + " is :log or :linear");
    }
    if (how.equals("log") && low <= 0) {
      throw new UsageException("--knobs: " + option + " can't be :log from " + least + " on");
    }
    return new Knob(option, low, high, how.equals("log"));
  }

  private static double number(Option<?> option, String text) {
    Double number = taken(option, () -> KnownOptions.number(option, text));
    if (number == null) {
      throw new UsageException("--knobs: '" + text + "' is no end of a range of " + option);
    }
    return number;
  }

  private static Knob ofChoices(Option<?> option, String text, String how) {
    List<String> choices = new ArrayList<>();
    for (String choice : text.split("\\|", -1)) {
      String written = taken(option, () -> KnownOptions.written(option, choice));
      String shown = isBytes(option) ? Sizes.text(Long.parseLong(written)) : written;
      if (choices.contains(shown)) {
        throw new UsageException("--knobs: " + option + " has " + shown + " twice");
      }
      choices.add(shown);
    }
    if (choices.size() < 2) {
      throw new UsageException("--knobs: " + option + " has one value, which is no choice");
    }
    if (how.equals("log") || how.equals("linear")) {
      throw new UsageException("--knobs: choices as those of " + option + " may be :ordered");
    }
    boolean ordered = how.equals("ordered") || KnownOptions.isNumeric(option);
    return new Knob(option, choices, ordered);
  }

  private static boolean isBytes(Option<?> option) {
    return option.kind() == OptionKind.BYTES;
  }

  private static <T> T taken(Option<?> option, java.util.function.Supplier<T> reading) {
    try {
      return reading.get();
    } catch (IllegalArgumentException | ArithmeticException e) {
      String said = String.valueOf(e.getMessage());
      String of = said.startsWith(option.name()) ? "" : option.name() + ": ";
      throw new UsageException("--knobs: " + of + said, e);
    }
  }

  /** The option's name. */
  String name() {
    return option.name();
  }

  /** Whether it has a range, and not choices. */
  boolean isRange() {
    return choices.isEmpty();
  }

  /** Its choices; none if it has a range. */
  List<String> choices() {
    return choices;
  }

  /** Values as {@link #value} gives them, spread evenly; all choices, or so many of a range. */
  List<String> spread(int count) {
    if (!isRange()) {
      return choices;
    }
    List<String> values = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      String value = value(count == 1 ? 0.5 : i / (count - 1.0));
      if (!values.contains(value)) {
        values.add(value);
      }
    }
    return values;
  }

  /** The value at a place, or nearest to it. */
  String value(double place) {
    double at = Math.max(0, Math.min(1, place));
    if (!isRange()) {
      return choices.get((int) Math.round(at * (choices.size() - 1)));
    }
    double number = isLog ? low * Math.pow(high / low, at) : low + (high - low) * at;
    return text(Math.max(low, Math.min(high, number)));
  }

  private String text(double number) {
    OptionKind<?> kind = option.kind();
    if (isBytes(option) || kind == OptionKind.BANDWIDTH) {
      long unit = high >= 64 * KILOBYTE ? KILOBYTE : 1;
      long bytes = Math.round(number / unit) * unit;
      return Sizes.text(Math.max((long) Math.ceil(low), Math.min((long) high, bytes)));
    }
    if (kind == OptionKind.DURATION) {
      return Math.round(number) + "ms";
    }
    if (kind == OptionKind.COUNT) {
      return Long.toString(Math.round(number));
    }
    double rounded = new BigDecimal(number).round(new MathContext(DIGITS)).doubleValue();
    return OptionKind.text(Math.max(low, Math.min(high, rounded)));
  }

  /**
   * A value that the option has, as this knob writes it: one of its own if it is among them.
   *
   * @param value as the option, or a user, writes it
   */
  String known(String value) {
    if (isRange()) {
      Double number = KnownOptions.number(option, value);
      return number == null ? value : text(option.kind(), number, value);
    }
    String written = KnownOptions.written(option, value);
    return isBytes(option) ? Sizes.text(Long.parseLong(written)) : written;
  }

  private String text(OptionKind<?> kind, double number, String value) {
    if (number >= low && number <= high) {
      return text(number);
    }
    return kind == OptionKind.BYTES ? Sizes.text((long) number) : value;
  }

  /** Whether a value is among those that the search may give. */
  boolean has(String value) {
    if (!isRange()) {
      return choices.contains(value);
    }
    Double number = KnownOptions.number(option, value);
    return number != null && number >= low && number <= high;
  }

  /** The place of a value that this knob {@link #has}. */
  double place(String value) {
    if (!isRange()) {
      return choices.indexOf(value) / (choices.size() - 1.0);
    }
    Double number = KnownOptions.number(option, value);
    double at = number == null ? low : Math.max(low, Math.min(high, number));
    return isLog ? Math.log(at / low) / Math.log(high / low) : (at - low) / (high - low);
  }

  /** Coordinates that it takes in a model: one, or as many as there are choices without order. */
  int coordinates() {
    return isOrdered || choices.size() == 2 ? 1 : choices.size();
  }

  /** Writes the coordinates of a value into {@code point}, from {@code at} on. */
  void put(String value, double[] point, int at) {
    if (coordinates() == 1) {
      point[at] = place(value);
    } else {
      Arrays.fill(point, at, at + choices.size(), 0);
      point[at + choices.indexOf(value)] = 1;
    }
  }

  /** As the user might have written it, always alike. */
  @Override
  public String toString() {
    if (isRange()) {
      return name() + "=" + value(0) + ".." + value(1) + (isLog ? ":log" : "");
    }
    boolean told = isOrdered && !KnownOptions.isNumeric(option);
    return name() + "=" + String.join("|", choices) + (told ? ":ordered" : "");
  }
}
