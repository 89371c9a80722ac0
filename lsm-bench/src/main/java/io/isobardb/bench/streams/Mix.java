package io.isobardb.bench.streams;

import io.isobardb.cli.console.UsageException;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * What calls a step makes, in percent. A range has 20 entries. A call to a window store is a fetch
 * and a put of one window, or a fetch of the ten windows of a key, which is what is left of 100.
 */
enum Mix {
  GET(100, 0, 0, 0, false),
  PUT(0, 100, 0, 0, false),
  GET_PUT(50, 50, 0, 0, false),
  RANGE(0, 0, 100, 0, false),
  WINDOW(0, 0, 0, 100, false),
  WINDOWS(0, 0, 0, 0, false),
  SKEWED(40, 40, 5, 10, true);

  final int gets;
  final int puts;
  final int ranges;
  final int windows;

  /** Whether state stores and keys are drawn from Zipf's distribution. */
  final boolean skewed;

  Mix(int gets, int puts, int ranges, int windows, boolean skewed) {
    this.gets = gets;
    this.puts = puts;
    this.ranges = ranges;
    this.windows = windows;
    this.skewed = skewed;
  }

  /** The name on the command line and in reports. */
  String label() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** The mix of that name; the error lists the names there are. */
  static Mix of(String label) {
    for (Mix mix : values()) {
      if (mix.label().equalsIgnoreCase(label.strip())) {
        return mix;
      }
    }
    throw new UsageException(
        "no step named '"
            + label
            + "'; there are "
            + Arrays.stream(values()).map(Mix::label).collect(Collectors.joining(", ")));
  }
}
