package io.isobardb.cli.report;

import java.util.Arrays;
import java.util.Locale;

/**
 * Numbers of {@code low} to {@code high} on pixels of {@code from} to {@code to}, with a tick at
 * each multiple of {@code step}.
 */
record Axis(double low, double high, double step, double from, double to) {
  private static final double[] STEPS = {1, 2, 2.5, 5, 10};
  private static final double ROUNDING = 1e-9;

  /**
   * Round numbers around all values, with about so many ticks; from zero unless that is far off.
   * Whole values, such as numbers of cycles, have whole ticks.
   */
  static Axis over(double[] values, int ticks, double from, double to) {
    return over(values, ticks, from, to, Arrays.stream(values).allMatch(v -> v == Math.rint(v)));
  }

  private static Axis over(double[] values, int ticks, double from, double to, boolean whole) {
    double most = 0;
    double least = Double.POSITIVE_INFINITY;
    for (double value : values) {
      if (Double.isFinite(value)) {
        most = Math.max(most, value);
        least = Math.min(least, value);
      }
    }
    if (most <= 0) {
      return new Axis(0, 1, 1, from, to);
    }
    double zero = least > most / 2 && least < most ? least : 0;
    double rough = (most - zero) / ticks;
    double power = Math.pow(10, Math.floor(Math.log10(rough)));
    double step = power;
    for (double nice : STEPS) {
      step = nice * power;
      if (step >= rough * 0.999 && (step == Math.rint(step) || !whole)) {
        break;
      }
    }
    double low = Math.floor(zero / step + ROUNDING) * step;
    return new Axis(low, Math.ceil(most / step - ROUNDING) * step, step, from, to);
  }

  /** The same from zero on. */
  static Axis fromZero(double[] values, int ticks, double from, double to) {
    return over(Arrays.copyOf(values, values.length + 1), ticks, from, to, false);
  }

  double at(double value) {
    return from + (value - low) / (high - low) * (to - from);
  }

  int ticks() {
    return (int) Math.round((high - low) / step) + 1;
  }

  double tick(int i) {
    return low + i * step;
  }

  /** What the tick stands for, to the last digit that it has: 2.5, 12.5k, 3M. */
  String label(double tick) {
    double largest = Math.max(Math.abs(low), Math.abs(high));
    double unit = largest >= 1e10 ? 1e9 : largest >= 1e7 ? 1e6 : largest >= 1e4 ? 1e3 : 1;
    String suffix = unit == 1e9 ? "G" : unit == 1e6 ? "M" : unit == 1e3 ? "k" : "";
    int decimals = 0;
    for (double of = step / unit;
        decimals < 12 && Math.abs(of - Math.rint(of)) > ROUNDING * of;
        of *= 10) {
      decimals++;
    }
    String number = String.format(Locale.ROOT, "%,." + decimals + "f", tick / unit);
    return Math.abs(tick) < step / 2 ? "0" : number + suffix;
  }
}
