package io.isobardb.bench.search;

import io.isobardb.cli.console.ByteSize;
import io.isobardb.cli.console.Numbers;
import io.isobardb.cli.console.TimeSpan;
import io.isobardb.cli.console.UsageException;
import io.isobardb.lsm.setting.Suggestion;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** What a run is judged by. All are above 0. */
enum Metric {
  /** Operations a second. */
  THROUGHPUT("operations/s", true),
  /** What an operation costs; its unit is the workload's. */
  COST("per operation", false),
  /** Bytes that flushes and merges write for an operation. */
  WRITTEN("bytes/operation", false),
  /** The 99th percentile of the slowest kind of operation, in milliseconds. */
  P99("ms", false),
  /** Bytes on disk divided by those of the records. */
  SPACE("times the data", false),
  /** The most memory that the store held, in bytes. */
  MEMORY("bytes", false);

  private static final double LEAST = 1e-12;

  private final String unit;
  private final boolean isMoreBetter;

  Metric(String unit, boolean isMoreBetter) {
    this.unit = unit;
    this.isMoreBetter = isMoreBetter;
  }

  /** Its name on the command line. */
  String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  String unit() {
    return unit;
  }

  boolean isMoreBetter() {
    return isMoreBetter;
  }

  /** The metric of a name. */
  static Metric of(String option, String name) {
    List<String> labels = Arrays.stream(values()).map(Metric::label).toList();
    int index = labels.indexOf(name.toLowerCase(Locale.ROOT));
    if (index < 0) {
      throw new UsageException(
          option + ": no metric '" + name + "'" + Suggestion.among(name, labels));
    }
    return values()[index];
  }

  /** A value as models see it: a logarithm, of which less is better. */
  double modelled(double value) {
    double log = Math.log(Math.max(LEAST, value));
    return isMoreBetter ? -log : log;
  }

  /** What {@link #modelled} was made from. */
  double measured(double modelled) {
    return Math.exp(isMoreBetter ? -modelled : modelled);
  }

  /** A value for people, with its unit. */
  String tell(double value) {
    return this == MEMORY
        ? ByteSize.format(value)
        : String.format(Locale.ROOT, "%s %s", Numbers.significant(value), unit);
  }

  /** A bound as people write it. */
  double read(String text) {
    return switch (this) {
      case MEMORY, WRITTEN -> ByteSize.parse(text).bytes();
      case P99 ->
          text.strip().matches("[0-9.]+")
              ? Numbers.parseDouble(text)
              : TimeSpan.parse(text).millis();
      default -> Numbers.parseDouble(text);
    };
  }
}
