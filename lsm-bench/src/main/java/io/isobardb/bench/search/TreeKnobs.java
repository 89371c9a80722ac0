package io.isobardb.bench.search;

import io.isobardb.lsm.Compression;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.option.Runs;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The knobs that are a tree's, among options by name. */
final class TreeKnobs {
  /** Their names. */
  static final List<String> NAMES = List.of("runs", "compression", "filterBitsPerKey");

  private TreeKnobs() {}

  /** What is left without them: options of the store. */
  static Map<String, String> without(Map<String, String> options) {
    Map<String, String> left = new TreeMap<>(options);
    left.keySet().removeAll(NAMES);
    return left;
  }

  /**
   * A tree's options with them.
   *
   * @throws IllegalArgumentException if one does not take its value
   */
  static TreeOptions of(Map<String, String> options) {
    TreeOptions.Builder builder = TreeOptions.builder();
    options.forEach(
        (name, value) -> {
          switch (name) {
            case "runs" -> builder.runs(Runs.parse(value));
            case "compression" -> builder.compression(Compression.parse(value));
            case "filterBitsPerKey" -> builder.filterBitsPerKey(Integer.parseInt(value));
            default -> {}
          }
        });
    return builder.build();
  }

  /** The value that an option of this name has; null if it is not a tree's. */
  static @Nullable String value(String name, TreeOptions options) {
    return switch (name) {
      case "runs" -> options.runs().toString();
      case "compression" -> options.compression().toString();
      case "filterBitsPerKey" -> Integer.toString(options.filterBitsPerKey());
      default -> null;
    };
  }

  /** What the option of this name is, in code to paste. */
  static String call(String name, String value) {
    return switch (name) {
      case "runs" -> ".runs(Runs.parse(\"" + value + "\"))";
      case "compression" -> ".compression(Compression.parse(\"" + value + "\"))";
      default -> "." + name + "(" + value + ")";
    };
  }
}
