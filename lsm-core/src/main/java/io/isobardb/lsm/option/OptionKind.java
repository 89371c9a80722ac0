package io.isobardb.lsm.option;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;

/**
 * What an option takes, and how that is read from text and written as text.
 *
 * @param type of the values
 * @param values in words, which values there are
 * @param reader reads a value; throws {@code IllegalArgumentException} if there is none of that
 *     text
 * @param writer writes a value as {@code reader} reads it
 * @param teller writes a value for people, in a unit that they would use
 */
public record OptionKind<T extends Comparable<T>>(
    Class<T> type,
    String values,
    Function<String, T> reader,
    Function<T, String> writer,
    Function<T, String> teller) {

  /** A size in bytes, read as {@code 64MB} or {@code 65536}. */
  public static final OptionKind<Long> BYTES =
      new OptionKind<>(Long.class, "a size", Sizes::parse, String::valueOf, Sizes::text);

  /** A duration, read as {@code 100ms} or {@code 2s}. */
  public static final OptionKind<Duration> DURATION =
      new OptionKind<>(
          Duration.class, "a duration", Sizes::parseDuration, Sizes::text, Sizes::text);

  /** A whole number. */
  public static final OptionKind<Integer> COUNT =
      plain(Integer.class, "a whole number", OptionKind::wholeNumber);

  /** A number. */
  public static final OptionKind<Double> NUMBER =
      new OptionKind<>(
          Double.class, "a number", OptionKind::number, String::valueOf, OptionKind::text);

  /** True or false. */
  public static final OptionKind<Boolean> BOOLEAN =
      plain(Boolean.class, "`true` or `false`", text -> either("true", "false", text));

  /** On or off. */
  public static final OptionKind<Boolean> SWITCH =
      new OptionKind<>(
          Boolean.class,
          "`on` or `off`",
          text -> either("on", "off", text),
          on -> on ? "on" : "off",
          on -> on ? "on" : "off");

  /** The name of something that a program makes known. */
  public static final OptionKind<String> NAME = plain(String.class, "a name", Function.identity());

  private static <T extends Comparable<T>> OptionKind<T> plain(
      Class<T> type, String values, Function<String, T> reader) {
    return new OptionKind<>(type, values, reader, String::valueOf, String::valueOf);
  }

  /** A constant, read in upper or lower case. */
  public static <E extends Enum<E>> OptionKind<E> oneOf(Class<E> type) {
    List<String> names = Arrays.stream(type.getEnumConstants()).map(Enum::name).toList();
    return plain(
        type,
        "one of `" + String.join("`, `", names) + "`",
        text -> {
          String sought = text.toUpperCase(Locale.ROOT);
          if (!names.contains(sought)) {
            throw new IllegalArgumentException(
                "there is no such value" + Suggestion.among(text, names));
          }
          return Enum.valueOf(type, sought);
        });
  }

  private static int wholeNumber(String text) {
    try {
      return Integer.parseInt(text);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("it is not a whole number such as 8", e);
    }
  }

  private static double number(String text) {
    try {
      return Double.parseDouble(text);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("it is not a number such as 0.5", e);
    }
  }

  /** A number without a fraction that is zero. */
  public static String text(double value) {
    return value == Math.rint(value) && Math.abs(value) < 1e15
        ? Long.toString((long) value)
        : Double.toString(value);
  }

  private static boolean either(String yes, String no, String text) {
    if (!text.equalsIgnoreCase(yes) && !text.equalsIgnoreCase(no)) {
      throw new IllegalArgumentException("it is neither " + yes + " nor " + no);
    }
    return text.equalsIgnoreCase(yes);
  }
}
