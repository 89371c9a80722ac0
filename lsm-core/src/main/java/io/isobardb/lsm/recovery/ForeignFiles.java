package io.isobardb.lsm.recovery;

import java.util.List;

/** Files that are in the way. */
final class ForeignFiles {
  /** An error names so many of them. */
  private static final int MOST_TOLD = 5;

  private ForeignFiles() {}

  /** Some of their names, for an error. */
  static String of(List<String> names) {
    return names.size() <= MOST_TOLD
        ? names.toString()
        : names.subList(0, MOST_TOLD) + " and " + (names.size() - MOST_TOLD) + " more";
  }
}
