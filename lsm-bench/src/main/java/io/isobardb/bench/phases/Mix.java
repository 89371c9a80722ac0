package io.isobardb.bench.phases;

import io.isobardb.cli.console.Numbers;
import io.isobardb.cli.console.UsageException;
import java.util.HashMap;
import java.util.Map;

/**
 * Which operations come in a phase, and to which keys. Immutable.
 *
 * @param inserts percent that put keys that were never there
 * @param updates percent that put keys that are there
 * @param deletes percent that remove keys
 * @param gets percent that look up keys that were put
 * @param absent percent that look up keys that were never put
 * @param scans percent that go over entries
 * @param length entries of a scan
 * @param written the keys that updates and deletes go to
 * @param read the keys that are read
 * @param scanned the keys that scans begin at, if not those: of all in their order
 */
record Mix(
    int inserts,
    int updates,
    int deletes,
    int gets,
    int absent,
    int scans,
    int length,
    Part written,
    Part read,
    Part scanned) {
  private static final int ALL = 100;
  private static final int LONGEST_SCAN = 1_000_000;

  /** Which of the keys, in percent of all: from here to there, in the order in which they came. */
  record Part(int from, int to) {
    static final Part WHOLE = new Part(0, ALL);

    Part {
      if (from < 0 || to > ALL || from >= to) {
        throw new UsageException(
            "a part of the keys is as 0..50, within 0..100, not " + from + ".." + to);
      }
    }

    static Part parse(String text) {
      String[] ends = text.split("\\.\\.", -1);
      if (ends.length != 2) {
        throw new UsageException("a part of the keys is as 0..50, not '" + text + "'");
      }
      return new Part(Numbers.parseInt(ends[0]), Numbers.parseInt(ends[1]));
    }
  }

  Mix {
    for (int share : new int[] {inserts, updates, deletes, gets, absent, scans}) {
      if (share < 0) {
        throw new UsageException("shares of operations are percent, not " + share);
      }
    }
    int sum = inserts + updates + deletes + gets + absent + scans;
    if (sum != ALL) {
      throw new UsageException("shares of operations are percent and make 100, not " + sum);
    }
    Numbers.check("length", length, 1, LONGEST_SCAN);
  }

  /** Shares by their names, as in {@code updates=50 gets=50}; what is not named is 0. */
  static Mix parse(String text) {
    Map<String, String> given = new HashMap<>();
    for (String each : text.trim().split("\\s+")) {
      String[] parts = each.split("=", -1);
      if (parts.length != 2 || given.put(parts[0], parts[1]) != null) {
        throw new UsageException(
            "a phase has shares such as updates=50, each once, not '" + each + "'");
      }
    }
    Mix mix =
        new Mix(
            share(given, "inserts"),
            share(given, "updates"),
            share(given, "deletes"),
            share(given, "gets"),
            share(given, "absent"),
            share(given, "scans"),
            given.containsKey("length") ? share(given, "length") : 50,
            part(given, "written"),
            part(given, "read"),
            part(given, "scanned"));
    if (!given.isEmpty()) {
      throw new UsageException(
          "a phase has no '"
              + given.keySet().iterator().next()
              + "'; it has inserts, updates, deletes, gets, absent, scans, length, written, read,"
              + " scanned");
    }
    return mix;
  }

  private static int share(Map<String, String> given, String name) {
    String value = given.remove(name);
    return value == null ? 0 : Numbers.parseInt(value);
  }

  private static Part part(Map<String, String> given, String name) {
    String value = given.remove(name);
    return value == null ? Part.WHOLE : Part.parse(value);
  }
}
