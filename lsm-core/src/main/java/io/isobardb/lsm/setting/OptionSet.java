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
  private final Map<String, Option<?>> byName = new LinkedHashMap<>();
  private final List<Option<?>> options = new ArrayList<>();

  /** Begins the definition of an option. */
  public <T extends Comparable<T>> Option.Line<T> option(String name, OptionKind<T> kind) {
    return new Option.Line<>(this, name, kind);
  }

  <T extends Comparable<T>> Option<T> add(IntFunction<Option<T>> definition) {
    Option<T> option = definition.apply(options.size());
    if (byName.put(option.name(), option) != null) {
      throw new IllegalStateException("two options are named " + option.name());
    }
    options.add(option);
    return option;
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
   * The option of a name.
   *
   * @param prefix stands before the name in the message
   * @throws IllegalArgumentException if there is none, with the nearest one
   */
  Option<?> named(String name, String prefix) {
    Option<?> option = byName.get(name);
    if (option == null) {
      throw new IllegalArgumentException(
          "unknown option " + prefix + name + Suggestion.among(name, byName.keySet()));
    }
    return option;
  }
}
