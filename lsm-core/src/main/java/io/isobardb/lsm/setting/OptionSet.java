package io.isobardb.lsm.setting;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;

/**
 * The options of one class of options, in the order in which they are told.
 *
 * <p>Thread rule: filled while the class that defines the options is initialised; read by any
 * thread from then on.
 */
public final class OptionSet {
  /** By each name that an option has or had. */
  private final Map<String, Option<?>> byName = new LinkedHashMap<>();

  private final List<Option<?>> options = new ArrayList<>();

  /** Begins the definition of an option. */
  public <T extends Comparable<T>> Option.Line<T> option(
      OptionGroup group, String name, OptionKind<T> kind) {
    return new Option.Line<>(this, group, name, kind);
  }

  <T extends Comparable<T>> Option<T> add(IntFunction<Option<T>> definition) {
    Option<T> option = definition.apply(options.size());
    put(option.name(), option);
    String former = option.former();
    if (former != null) {
      put(former, option);
    }
    options.add(option);
    return option;
  }

  private void put(String name, Option<?> option) {
    if (byName.put(name, option) != null) {
      throw new IllegalStateException("two options are named " + name);
    }
  }

  /** All of them. */
  public List<Option<?>> options() {
    return List.copyOf(options);
  }

  int size() {
    return options.size();
  }

  Option<?> get(int index) {
    return options.get(index);
  }

  /**
   * The option that has a name, or had it.
   *
   * @param prefix stands before the name in the message
   * @throws IllegalArgumentException if there is none, with the nearest one
   */
  Option<?> named(String name, String prefix) {
    Option<?> option = byName.get(name);
    if (option == null) {
      Map<String, String> names = new LinkedHashMap<>();
      byName.forEach((known, itsOption) -> names.put(known, itsOption.name()));
      throw new IllegalArgumentException(
          "unknown option " + prefix + name + Suggestion.among(name, names));
    }
    return option;
  }
}
