package io.isobardb.bench.demo;

import io.isobardb.cli.console.ByteSize;

/** How a budget is divided, as a line of text. */
final class MemoryBar {
  private static final int COLUMNS = 40;

  private MemoryBar() {}

  /**
   * A bar with the wall in it, and both parts' sizes.
   *
   * @param writeBytes the part for writes
   * @param budgetBytes all
   */
  static String draw(long writeBytes, long budgetBytes) {
    int left = (int) Math.round((double) COLUMNS * writeBytes / budgetBytes);
    int wall = Math.max(0, Math.min(COLUMNS, left));
    return String.format(
        "writes %8s [%s|%s] %8s cache",
        ByteSize.format(writeBytes),
        "#".repeat(wall),
        ".".repeat(COLUMNS - wall),
        ByteSize.format(budgetBytes - writeBytes));
  }
}
