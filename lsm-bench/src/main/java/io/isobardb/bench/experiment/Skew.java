package io.isobardb.bench.experiment;

/**
 * How unequal things are used: so many percent of the operations are for so many percent of them.
 */
record Skew(int hotPercent, int hotThingsPercent) {
  /** As {@code 80-20}: 80 % of the operations for 20 % of the things. */
  static Skew of(String text) {
    String[] parts = text.split("-");
    return new Skew(Integer.parseInt(parts[0]), Integer.parseInt(parts[1]));
  }

  /** How many of so many are hot, one at least. */
  int hotOf(int things) {
    return Math.max(1, hotThingsPercent * things / 100);
  }
}
