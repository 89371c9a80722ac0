package io.isobardb.cli.inspect;

import io.isobardb.cli.console.UsageException;
import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.WriteBatch;

/** Entries as lines: the key, a tab, the value, each as {@link KeyText}. */
final class EntryText {
  private EntryText() {}

  /** The entry that a cursor stands on. */
  static String format(Cursor cursor) {
    return KeyText.format(cursor.key()) + '\t' + KeyText.format(cursor.value());
  }

  /**
   * Adds a line's entry to a batch.
   *
   * @param number of the line, for errors
   * @throws UsageException if it is no entry
   */
  static void put(WriteBatch batch, Tree tree, String line, long number) {
    int tab = line.indexOf('\t');
    if (tab < 0) {
      throw new UsageException(
          "line " + number + " has no tab between a key and a value: '" + line + "'");
    }
    batch.put(tree, KeyText.parse(line.substring(0, tab)), KeyText.parse(line.substring(tab + 1)));
  }
}
