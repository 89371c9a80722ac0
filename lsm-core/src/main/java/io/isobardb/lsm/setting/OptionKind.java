package io.isobardb.lsm.setting;

import io.isobardb.lsm.option.IoBandwidth;
import io.isobardb.lsm.option.Levels;
import io.isobardb.lsm.option.MergeSchedule;
import io.isobardb.lsm.option.Runs;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What an option takes, and how that is read from text and written as text. Immutable.
 *
 * <p>Kinds are classes and not made of lambdas, each of which costs time when the first store of a
 * process is opened.
 */
public abstract class OptionKind<T extends Comparable<T>> {
  /** A size in bytes, read as {@code 64MB} or {@code 65536}. */
  public static final OptionKind<Long> BYTES =
      new OptionKind<>(Long.class, "a size") {
        @Override
        public Long read(String text) {
          return Sizes.parse(text);
        }

        @Override
        public String tell(Long bytes) {
          return Sizes.text(bytes);
        }
      };

  /** Bytes per second, {@code auto} or {@code unlimited}. */
  public static final OptionKind<IoBandwidth> BANDWIDTH = new BandwidthKind();

  /** A duration, read as {@code 100ms} or {@code 2s}. */
  public static final OptionKind<Duration> DURATION =
      new OptionKind<>(Duration.class, "a duration") {
        @Override
        public Duration read(String text) {
          return Sizes.parseDuration(text);
        }

        @Override
        public String write(Duration value) {
          return Sizes.text(value);
        }
      };

  /** A whole number. */
  public static final OptionKind<Integer> COUNT =
      new OptionKind<>(Integer.class, "a whole number") {
        @Override
        public Integer read(String text) {
          try {
            return Integer.valueOf(text);
          } catch (NumberFormatException e) {
            throw new IllegalArgumentException(
                text.matches("[-+]?\\d+")
                    ? "it has too many digits"
                    : "it is not a whole number such as 8",
                e);
          }
        }
      };

  /** A number. */
  public static final OptionKind<Double> NUMBER =
      new OptionKind<>(Double.class, "a number") {
        @Override
        public Double read(String text) {
          try {
            return Double.valueOf(text);
          } catch (NumberFormatException e) {
            throw new IllegalArgumentException("it is not a number such as 0.5", e);
          }
        }

        @Override
        public String tell(Double value) {
          return text(value);
        }
      };

  /** True or false. */
  public static final OptionKind<Boolean> BOOLEAN = new Either("true", "false");

  /** On or off. */
  public static final OptionKind<Boolean> SWITCH = new Either("on", "off");

  /** The name of something that a program makes known. */
  public static final OptionKind<String> NAME =
      new OptionKind<>(String.class, "a name") {
        @Override
        public String read(String text) {
          return text;
        }
      };

  /** When disk merges run. */
  public static final OptionKind<MergeSchedule> SCHEDULE = new ScheduleKind();

  /** How levels are sized. */
  public static final OptionKind<Levels> LEVELS = new LevelsKind();

  /** How many runs a level has. */
  public static final OptionKind<Runs> RUNS = new RunsKind();

  private final Class<T> type;
  private final String values;

  /**
   * @param values in words, which values there are
   */
  protected OptionKind(Class<T> type, String values) {
    this.type = type;
    this.values = values;
  }

  /** A constant, read in upper or lower case. */
  public static <E extends Enum<E>> OptionKind<E> oneOf(Class<E> type) {
    List<String> names = new ArrayList<>();
    for (E constant : type.getEnumConstants()) {
      names.add(constant.name());
    }
    return new OneOf<>(type, names);
  }

  /** A number without a fraction that is zero. */
  public static String text(double value) {
    return value == Math.rint(value) && Math.abs(value) < 1e15
        ? Long.toString((long) value)
        : Double.toString(value);
  }

  /** In words, which values there are. */
  public final String values() {
    return values;
  }

  final T cast(Object value) {
    return type.cast(value);
  }

  /**
   * Reads a value.
   *
   * @throws IllegalArgumentException if there is none of that text
   */
  public abstract T read(String text);

  /** What is written now instead of a text that is read until 1.0 only; null if the text stays. */
  @Nullable String replaced(String text) {
    return null;
  }

  /** Writes a value as {@link #read} reads it. */
  public String write(T value) {
    return value.toString();
  }

  /** Writes a value for people, in a unit that they would use. */
  public String tell(T value) {
    return write(value);
  }

  private static final class Either extends OptionKind<Boolean> {
    private final String yes;
    private final String no;

    Either(String yes, String no) {
      super(Boolean.class, "`" + yes + "` or `" + no + "`");
      this.yes = yes;
      this.no = no;
    }

    @Override
    public Boolean read(String text) {
      if (!text.equalsIgnoreCase(yes) && !text.equalsIgnoreCase(no)) {
        throw new IllegalArgumentException("it is neither " + yes + " nor " + no);
      }
      return text.equalsIgnoreCase(yes);
    }

    @Override
    public String write(Boolean value) {
      return value ? yes : no;
    }
  }

  private static final class OneOf<E extends Enum<E>> extends OptionKind<E> {
    private final Class<E> type;
    private final List<String> names;

    OneOf(Class<E> type, List<String> names) {
      super(type, "one of `" + String.join("`, `", names) + "`");
      this.type = type;
      this.names = names;
    }

    @Override
    public E read(String text) {
      String sought = text.toUpperCase(Locale.ROOT);
      if (!names.contains(sought)) {
        throw new IllegalArgumentException(
            "there is no such value" + Suggestion.among(text, names));
      }
      return Enum.valueOf(type, sought);
    }

    @Override
    public String write(E value) {
      return value.name();
    }
  }
}
