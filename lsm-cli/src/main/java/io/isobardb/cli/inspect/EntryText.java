package io.isobardb.cli.inspect;

import io.isobardb.cli.console.UsageException;
import io.isobardb.lsm.Cursor;
import java.time.DateTimeException;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * An entry, which is a line: the key, a tab, the value, each as {@link KeyText}. If it expires, a
 * tab and {@code expires=INSTANT} follow.
 *
 * @param expires null if the line does not say
 */
record EntryText(byte[] key, byte[] value, @Nullable Instant expires) {
  private static final String EXPIRES = "\texpires=";

  /** The entry that a cursor stands on. */
  static String format(Cursor cursor) {
    String entry = KeyText.format(cursor.key()) + '\t' + KeyText.format(cursor.value());
    Instant expires = cursor.expires();
    return expires == null ? entry : entry + EXPIRES + expires;
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
    int until = line.indexOf(EXPIRES, tab + 1);
    try {
      return new EntryText(
          KeyText.parse(line.substring(0, tab)),
          KeyText.parse(line.substring(tab + 1, until < 0 ? line.length() : until)),
          until < 0 ? null : Instant.parse(line.substring(until + EXPIRES.length())));
    } catch (UsageException | DateTimeException e) {
      throw new UsageException("line " + number + ": " + e.getMessage(), e);
    }
  }
}
