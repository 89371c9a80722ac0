package io.isobardb.bench.search;

import io.isobardb.cli.console.UsageException;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.option.IoBandwidth;
import io.isobardb.lsm.setting.Option;
import io.isobardb.lsm.setting.OptionKind;
import io.isobardb.lsm.setting.OptionSet;
import io.isobardb.lsm.setting.Suggestion;
import java.lang.reflect.Field;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The options of stores and trees, as their own descriptions say. The engine does not export these,
 * so they are found by reflection: one that moves is found missing by {@code KnobTest}.
 */
final class KnownOptions {
  private static final OptionSet OF_STORES = descriptions(StoreOptions.class, "StoreOption");
  private static final OptionSet OF_TREES = descriptions(TreeOptions.class, "TreeOption");

  private KnownOptions() {}

  private static OptionSet descriptions(Class<?> beside, String name) {
    try {
      Class<?> type = Class.forName(beside.getPackageName() + "." + name);
      Field all = type.getDeclaredField("ALL");
      all.setAccessible(true);
      return (OptionSet) all.get(null);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("there are no descriptions of options in " + name, e);
    }
  }

  /**
   * The option of a name.
   *
   * @throws UsageException if there is none that a search may turn, with the nearest one
   */
  static Option<?> named(String name) {
    List<String> names = new ArrayList<>();
    for (Option<?> option : OF_STORES.options()) {
      if (option.name().equals(name)) {
        return option;
      }
      names.add(option.name());
    }
    for (Option<?> option : OF_TREES.options()) {
      boolean can = TreeKnobs.NAMES.contains(option.name());
      if (option.name().equals(name) && can) {
        return option;
      }
      if (option.name().equals(name)) {
        throw new UsageException(
            "--knobs: "
                + name
                + " says what a tree means, and is no knob; of a tree there are "
                + String.join(", ", TreeKnobs.NAMES));
      }
      if (can) {
        names.add(option.name());
      }
    }
    throw new UsageException("--knobs: no option '" + name + "'" + Suggestion.among(name, names));
  }

  /** Whether the values of an option are numbers, in whatever unit. */
  static boolean isNumeric(Option<?> option) {
    OptionKind<?> kind = option.kind();
    return kind == OptionKind.BYTES
        || kind == OptionKind.DURATION
        || kind == OptionKind.COUNT
        || kind == OptionKind.NUMBER
        || kind == OptionKind.BANDWIDTH;
  }

  /**
   * A value as the option writes it.
   *
   * @throws IllegalArgumentException if the option does not take it
   */
  static String written(Option<?> option, String text) {
    return write(option, text);
  }

  private static <T extends Comparable<T>> String write(Option<T> option, String text) {
    T value = option.kind().read(text.strip());
    option.check(value);
    return option.kind().write(value);
  }

  /**
   * A value as a number: bytes, milliseconds, or plain; null if it is a word.
   *
   * @throws IllegalArgumentException if the option does not take it
   */
  static @Nullable Double number(Option<?> option, String text) {
    Object value = read(option, text);
    if (value instanceof Number number) {
      return number.doubleValue();
    }
    if (value instanceof Duration duration) {
      return (double) duration.toMillis();
    }
    return value instanceof IoBandwidth bandwidth && bandwidth.kind() == IoBandwidth.Kind.GIVEN
        ? (double) bandwidth.bytesPerSecond()
        : null;
  }

  private static <T extends Comparable<T>> T read(Option<T> option, String text) {
    T value = option.kind().read(text.strip());
    option.check(value);
    return value;
  }
}
