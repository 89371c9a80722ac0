package io.isobardb.lsm.setting;

import java.util.ArrayList;
import java.util.List;
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
        text.append(text.isEmpty() ? "" : " ").append(set.get(i).write(value(i)));
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

    private Builder(OptionSet set, @Nullable Object[] given) {
      this.set = set;
      this.given = given;
    }

    /** Gives an option a value. */
    public <T extends Comparable<T>> void set(Option<T> option, T value) {
      given[option.index()] = Objects.requireNonNull(value, option.name());
    }

    /**
     * Gives values to the options that are named, after a prefix, by properties.
     *
     * @return what to write instead of words that are read until 1.0 only: {@code new instead of
     *     old} for each
     * @throws IllegalArgumentException for an unknown name, with the nearest known one, and for a
     *     value that does not parse
     */
    public List<String> read(Properties properties, String prefix) {
      List<String> replaced = new ArrayList<>();
      for (String property : new TreeSet<>(properties.stringPropertyNames())) {
        if (property.startsWith(prefix)) {
          Option<?> option = set.named(property.substring(prefix.length()), prefix);
          String text = properties.getProperty(property).trim();
          String now;
          try {
            given[option.index()] = option.kind().read(text);
            now = option.kind().replaced(text);
          } catch (RuntimeException e) {
            throw new IllegalArgumentException(
                "option " + property + ": can't take '" + text + "': " + e.getMessage(), e);
          }
          if (now != null) {
            replaced.add(property + "=" + now + " instead of " + property + "=" + text);
          }
        }
      }
      return replaced;
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
