package io.isobardb.cli.inspect;

import io.isobardb.cli.console.UsageException;
import io.isobardb.lsm.Cursor;

/** An entry, which is a line: the key, a tab, the value, each as {@link KeyText}. */
record EntryText(byte[] key, byte[] value) {

  /** The entry that a cursor stands on. */
  static String format(Cursor cursor) {
    return KeyText.format(cursor.key()) + '\t' + KeyText.format(cursor.value());
  }

  /**
   * The entry of a line.
   *
   * @param number of the line, for errors
   * @throws UsageException if it is no entry
   */
  static EntryText parse(String line, long number) {
    int tab = line.indexOf('\t');
    if (tab < 0) {
      throw new UsageException(
          "line " + number + " has no tab between a key and a value: '" + line + "'");
    }
    return new EntryText(
        KeyText.parse(line.substring(0, tab)), KeyText.parse(line.substring(tab + 1)));
  }
}
