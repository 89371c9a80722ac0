package io.isobardb.lsm.setting;

import java.util.Objects;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * One option: all that is known of it but its value. Immutable.
 *
 * <p>{@link OptionSet#option} begins the definition of one, and {@link Line#does} ends it.
 */
public final class Option<T extends Comparable<T>> {
  /** When an option's value may change. */
  public enum Change {
    /** Never: it is stored when the store or tree is created. */
    NEVER,
    /** From one opening to the next. */
    AT_OPENING,
    /** At any time, by a method of the store. */
    WHILE_OPEN
  }

  private final int index;
  private final OptionGroup group;
  private final String name;
  private final @Nullable String former;
  private final OptionKind<T> kind;
  private final String values;
  private final @Nullable T least;
  private final @Nullable T most;
  private final @Nullable Predicate<T> also;
  private final @Nullable T unset;
  private final String defaultText;
  private final @Nullable T constant;
  private final @Nullable Function<OptionValues, T> byDefault;
  private final Change change;
  private final String what;
  private final String when;

  private Option(Line<T> line, int index, String what, String when) {
    this.index = index;
    this.group = line.group;
    this.name = line.name;
    this.former = line.former;
    this.kind = line.kind;
    this.values = line.values;
    this.least = line.least;
    this.most = line.most;
    this.also = line.also;
    this.unset = line.unset;
    this.defaultText = line.defaultText;
    this.constant = line.constant;
    this.byDefault = line.byDefault;
    this.change = line.change;
    this.what = what;
    this.when = when;
  }

  /** Its place among the options of its set. */
  int index() {
    return index;
  }

  /** What it is about. */
  public OptionGroup group() {
    return group;
  }

  /** As properties and messages name it. */
  public String name() {
    return name;
  }

  /** As properties may name it until 1.0; null if it has had no other name. */
  @Nullable String former() {
    return former;
  }

  public OptionKind<T> kind() {
    return kind;
  }

  /** In words, which values it takes. */
  public String values() {
    return values;
  }

  /** In words, what holds if it is not set. */
  public String defaultText() {
    return defaultText;
  }

  public Change change() {
    return change;
  }

  /** What it controls. */
  public String what() {
    return what;
  }

  /** When to change it. */
  public String when() {
    return when;
  }

  /** Whether a value asks for the default. */
  boolean isUnset(Object value) {
    return unset != null && value.equals(unset);
  }

  /** What holds if it is not set, given the options before it. */
  T defaultFor(OptionValues before) {
    return byDefault == null
        ? Objects.requireNonNull(constant, "an option without a default")
        : byDefault.apply(before);
  }

  /**
   * Passes if the option takes a value.
   *
   * @throws IllegalArgumentException if not, with what it takes
   */
  public void check(T value) {
    if ((least != null && value.compareTo(least) < 0)
        || (most != null && value.compareTo(most) > 0)
        || (also != null && !also.test(value))) {
      throw new IllegalArgumentException(name + " must be " + values + ", not " + kind.tell(value));
    }
  }

  void checkObject(Object value) {
    check(kind.cast(value));
  }

  String text(Object value) {
    return kind.write(kind.cast(value));
  }

  @Override
  public String toString() {
    return name;
  }

  /** An option that is being defined. */
  public static final class Line<T extends Comparable<T>> {
    private final OptionSet set;
    private final OptionGroup group;
    private final String name;
    private final OptionKind<T> kind;
    private @Nullable String former;
    private String values;
    private @Nullable T least;
    private @Nullable T most;
    private @Nullable Predicate<T> also;
    private @Nullable T unset;
    private String defaultText = "";
    private @Nullable T constant;
    private @Nullable Function<OptionValues, T> byDefault;
    private Change change = Change.AT_OPENING;

    Line(OptionSet set, OptionGroup group, String name, OptionKind<T> kind) {
      this.set = set;
      this.group = group;
      this.name = name;
      this.kind = kind;
      this.values = kind.values();
    }

    private String text(T value) {
      return kind.tell(value);
    }

    /** What it takes, with both bounds. */
    public Line<T> from(T least, T most) {
      this.least = least;
      this.most = most;
      return where("from " + text(least) + " to " + text(most));
    }

    /** What it takes, with a lower bound. */
    public Line<T> atLeast(T least) {
      this.least = least;
      return where("at least " + text(least));
    }

    /** What it takes, in words that follow "must be"; they replace those of the bounds. */
    public Line<T> where(String words) {
      this.values = words;
      return this;
    }

    /** What it takes besides, apart from what depends on other options. */
    public Line<T> where(String words, Predicate<T> test) {
      this.also = test;
      return where(words);
    }

    /** What holds if it is not set. */
    public Line<T> byDefault(T value) {
      return byDefault("`" + text(value) + "`", value);
    }

    /** What holds if it is not set, in words. */
    public Line<T> byDefault(String words, T value) {
      this.defaultText = words;
      this.constant = value;
      return this;
    }

    /**
     * What holds if it is not set.
     *
     * @param words what {@code value} computes
     * @param value from the options defined before
     */
    public Line<T> byDefault(String words, Function<OptionValues, T> value) {
      this.defaultText = words;
      this.byDefault = value;
      return this;
    }

    /** A value that asks for the default, too. */
    public Line<T> unsetBy(T value) {
      this.unset = value;
      return this;
    }

    /** When it may change, if not from one opening to the next. */
    public Line<T> changes(Change value) {
      this.change = value;
      return this;
    }

    /** What properties may name it until 1.0. */
    public Line<T> formerly(String name) {
      this.former = name;
      return this;
    }

    /**
     * Ends the definition.
     *
     * @param what it controls: a sentence or two
     * @param when to change it: a sentence
     */
    public Option<T> does(String what, String when) {
      return set.add(index -> new Option<>(this, index, what, when));
    }
  }
}
