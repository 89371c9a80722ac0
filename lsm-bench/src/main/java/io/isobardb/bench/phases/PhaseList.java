package io.isobardb.bench.phases;

import io.isobardb.cli.console.Numbers;
import io.isobardb.cli.console.UsageException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * The phases of a workload, in their order. Immutable.
 *
 * @param isZipf whether some keys are far more popular than others
 * @param growth how many times fewer records there are at first than are asked for
 */
record PhaseList(List<Phase> phases, boolean isZipf, int growth) {
  private static final long MOST_OPERATIONS = 1_000_000_000;

  /** What is shipped: a name, a share of the usual length in percent, and a mix, for each phase. */
  private static final Map<String, String> SHIPPED = new LinkedHashMap<>();

  private static final String DAY =
      "load 100 updates=100;mixed 100 updates=40 gets=50 scans=10 length=20;"
          + "scans 100 updates=2 gets=48 scans=50 length=20;absent 100 updates=5 gets=15 absent=80";

  static {
    SHIPPED.put("thesis", "writes 100 updates=100;half 100 updates=50 gets=50;reads 100 gets=100");
    SHIPPED.put("day", DAY + ";" + DAY);
    SHIPPED.put("flip", flips());
    SHIPPED.put("drift", drifts());
    SHIPPED.put("grow", grows());
    SHIPPED.put("a", steady("updates=50 gets=50"));
    SHIPPED.put("b", steady("updates=5 gets=95"));
    SHIPPED.put("c", steady("gets=100"));
    SHIPPED.put("d", steady("inserts=5 gets=95"));
    SHIPPED.put("e", steady("inserts=5 scans=95 length=50"));
    SHIPPED.put("f", steady("updates=50 gets=50"));
  }

  /** As short as a decision takes: two windows tell that a phase began. */
  private static String flips() {
    List<String> phases = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      phases.add(
          i % 2 == 0 ? "writes 25 updates=95 gets=5" : "scans 25 updates=5 scans=95 length=20");
    }
    return String.join(";", phases);
  }

  /** The keys that are read leave those that are written. */
  private static String drifts() {
    List<String> phases = new ArrayList<>();
    for (int from = 0; from <= 50; from += 10) {
      phases.add(
          "by-"
              + from
              + " 60 updates=40 gets=40 scans=20 length=20 written=0..50 read="
              + (from + "..")
              + (from + 50));
    }
    return String.join(";", phases);
  }

  private static String grows() {
    return "growing 100 inserts=80 gets=20;growing 100 inserts=80 gets=20;"
        + "grown 100 updates=30 gets=40 scans=30 length=20";
  }

  private static String steady(String mix) {
    return String.join(";", Collections.nCopies(4, "steady 100 " + mix));
  }

  PhaseList {
    phases = List.copyOf(phases);
    if (phases.isEmpty()) {
      throw new UsageException("there are no phases");
    }
  }

  /** The names of the shipped ones. */
  static List<String> names() {
    return List.copyOf(SHIPPED.keySet());
  }

  /**
   * A shipped one.
   *
   * @param operations of a phase of the usual length
   */
  static PhaseList shipped(String name, long operations, long records) {
    String text = SHIPPED.get(name);
    if (text == null) {
      throw new UsageException(
          "no workload is called '" + name + "'; there are " + String.join(", ", names()));
    }
    boolean grows = name.equals("grow");
    // Four fifths of two phases are inserts: they are to bring all records but those at first.
    long usual = grows ? Math.max(1, records * 99 / 160) : operations;
    List<Phase> phases = new ArrayList<>();
    for (String line : text.split(";")) {
      String[] parts = line.split(" ", 3);
      long length = Math.max(1, usual * Numbers.parseInt(parts[1]) / 100);
      phases.add(new Phase(parts[0], length, Mix.parse(parts[2])));
    }
    return new PhaseList(phases, name.length() == 1, grows ? 100 : 1);
  }

  /**
   * The phases of a file: on each line a name, the number of operations, and a mix. Empty lines and
   * those that begin with # are left out.
   */
  static PhaseList parse(String text) {
    List<Phase> phases = new ArrayList<>();
    for (String line : text.lines().map(String::trim).toList()) {
      if (line.isEmpty() || line.startsWith("#")) {
        continue;
      }
      String[] parts = line.split("\\s+", 3);
      if (parts.length < 3) {
        throw new UsageException(
            "a phase is a name, operations and shares, as in 'load 250000 updates=100', not '"
                + line
                + "'");
      }
      long operations = Numbers.parseLong(parts[1]);
      Numbers.check("operations of phase " + parts[0], operations, 1, MOST_OPERATIONS);
      phases.add(new Phase(parts[0], operations, Mix.parse(parts[2])));
    }
    return new PhaseList(phases, false, 1);
  }

  /** The same in an order that a seed draws. */
  PhaseList shuffled(long seed) {
    List<Phase> other = new ArrayList<>(phases);
    Collections.shuffle(other, new Random(seed));
    return new PhaseList(other, isZipf, growth);
  }
}
