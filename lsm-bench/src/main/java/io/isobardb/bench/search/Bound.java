package io.isobardb.bench.search;

import io.isobardb.cli.console.UsageException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A condition on a metric, such as {@code space<2}.
 *
 * @param isUpper whether it must be at most the value, and not at least
 * @param text as the user wrote it
 */
record Bound(Metric metric, boolean isUpper, double value, String text) {
  private static final Pattern FORM = Pattern.compile("\\s*([a-z0-9]+)\\s*([<>])=?\\s*(.+?)\\s*");

  /**
   * Conditions with commas between them.
   *
   * @throws UsageException that names the first one that makes no sense
   */
  static List<Bound> parseAll(String text) {
    List<Bound> bounds = new ArrayList<>();
    for (String part : text.split(",", -1)) {
      Matcher form = FORM.matcher(part);
      if (!form.matches()) {
        throw new UsageException(
            "--where: '" + part + "' is no condition such as space<2, p99<5ms or memory<256MB");
      }
      Metric metric = Metric.of("--where", form.group(1));
      double value = metric.read(form.group(3));
      if (!(value > 0)) {
        throw new UsageException("--where: '" + part.strip() + "' can't be: metrics are above 0");
      }
      bounds.add(new Bound(metric, form.group(2).equals("<"), value, part.strip()));
    }
    return List.copyOf(bounds);
  }

  /** Whether a value of the metric keeps it. */
  boolean isKept(double measured) {
    return isUpper ? measured <= value : measured >= value;
  }

  /** How likely a setting is to keep it, by a model of the metric. */
  double chance(Prediction prediction) {
    double below = prediction.below(metric.modelled(value));
    // Models see a metric of which more is better upside down.
    return isUpper == metric.isMoreBetter() ? 1 - below : below;
  }
}
