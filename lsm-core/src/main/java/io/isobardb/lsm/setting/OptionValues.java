package io.isobardb.lsm.setting;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A value for each option of a set, and which of them were given. Immutable.
 *
 * <p>Each value is within its option's range. Relations between options are for others to check.
 */
public final class OptionValues {
  private final OptionSet set;
  private final @Nullable Object[] given;
  private final @Nullable Object[] values;

  private OptionValues(OptionSet set, @Nullable Object[] given) {
    this.set = set;
    this.given = given;
    this.values = new Object[given.length];
    for (int i = 0; i < given.length; i++) {
      Option<?> option = set.get(i);
      Object value = given[i];
      values[i] = value == null || option.isUnset(value) ? option.defaultFor(this) : value;
      option.checkObject(value(i));
    }
  }

  /** A builder for which nothing is given. */
  public static Builder builder(OptionSet set) {
    return new Builder(set, new Object[set.size()]);
  }

  /** A builder for which the same is given. */
  public Builder toBuilder() {
    return new Builder(set, given.clone());
  }

  private Object value(int index) {
    return Objects.requireNonNull(values[index], "an option that is defined later");
  }

  /** The value of an option; its default if none was given. */
  public <T extends Comparable<T>> T get(Option<T> option) {
    return option.kind().cast(value(option.index()));
  }

  /**
   * The value of the option of a name, as it is read.
   *
   * @throws IllegalArgumentException if there is none, with the nearest one
   */
  public String text(String name) {
    Option<?> option = set.named(name, "");
    return option.text(value(option.index()));
  }

  /** The options that were given and have another value than in {@code other}. */
  public List<Option<?>> givenUnlike(OptionValues other) {
    List<Option<?>> unlike = new ArrayList<>();
    for (int i = 0; i < given.length; i++) {
      if (given[i] != null && !value(i).equals(other.value(i))) {
        unlike.add(set.get(i));
      }
    }
    return unlike;
  }

  /** {@code name=value} of some options, in their order and separated by blanks. */
  public String text(Predicate<Option<?>> which) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < values.length; i++) {
      if (which.test(set.get(i))) {
        Option<?> option = set.get(i);
        text.append(text.isEmpty() ? "" : " ");
        text.append(option.name()).append('=').append(option.text(value(i)));
      }
    }
    return text.toString();
  }

  /** {@code name=value} of all options. */
  @Override
  public String toString() {
    return text(option -> true);
  }

  /** Collects what is given. Thread rule: one thread at a time. */
  public static final class Builder {
    private final OptionSet set;
    private final @Nullable Object[] given;
    private final List<String> replaced = new ArrayList<>();

    private Builder(OptionSet set, @Nullable Object[] given) {
      this.set = set;
      this.given = given;
    }

    /** Gives an option a value. */
    public <T extends Comparable<T>> void set(Option<T> option, T value) {
      given[option.index()] = Objects.requireNonNull(value, option.name());
    }

    /**
     * Gives the option of a name a value that is written as text.
     *
     * @param prefix stands before the name in messages
     * @throws IllegalArgumentException for an unknown name, with the nearest known one, and for a
     *     value that does not parse
     */
    public void read(String prefix, String name, String text) {
      Option<?> option = set.named(name, prefix);
      String value = text.trim();
      String now;
      try {
        given[option.index()] = option.kind().read(value);
        now = option.kind().replaced(value);
      } catch (RuntimeException e) {
        throw new IllegalArgumentException(
            "option " + prefix + name + ": can't take '" + value + "': " + e.getMessage(), e);
      }
      if (now != null || !name.equals(option.name())) {
        String instead = prefix + option.name() + "=" + (now == null ? value : now);
        replaced.add(instead + " instead of " + prefix + name + "=" + value);
      }
    }

    /**
     * Gives values to the options that are named, after a prefix, by properties.
     *
     * @throws IllegalArgumentException as of one, for an option that is named twice, and for a
     *     value that is no string
     */
    public void read(Properties properties, String prefix) {
      checkText(properties, prefix);
      Map<Option<?>, String> named = new HashMap<>();
      for (String property : new TreeSet<>(properties.stringPropertyNames())) {
        if (property.startsWith(prefix)) {
          String name = property.substring(prefix.length());
          read(prefix, name, properties.getProperty(property));
          String other = named.put(set.named(name, prefix), property);
          if (other != null) {
            throw new IllegalArgumentException(
                other + " and " + property + " are one option: leave one of them out");
          }
        }
      }
    }

    /** Passes over no value: {@link Properties#stringPropertyNames} leaves those out. */
    private static void checkText(Properties properties, String prefix) {
      properties.forEach(
          (name, value) -> {
            if (name instanceof String text
                && text.startsWith(prefix)
                && !(value instanceof String)) {
              throw new IllegalArgumentException(
                  "property "
                      + text
                      + " is no string but a "
                      + value.getClass().getSimpleName()
                      + ": set it by setProperty, as text");
            }
          });
    }

    /**
     * What to write instead of words that are read until 1.0 only: {@code new instead of old} for
     * each that was read since this was last asked for.
     */
    public List<String> takeReplaced() {
      List<String> taken = List.copyOf(replaced);
      replaced.clear();
      return taken;
    }

    /**
     * The values.
     *
     * @throws IllegalArgumentException naming the first option that is out of its range
     */
    public OptionValues build() {
      return new OptionValues(set, given.clone());
    }
  }
}
