package io.isobardb.cli.inspect;

import io.isobardb.cli.console.UsageException;
import io.isobardb.lsm.Cursor;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * An entry, which is a line: the key, a tab, the value, each as {@link KeyText}. If it expires, a
 * tab and {@code expires=INSTANT} follow. Behind the entries of an export comes a line that counts
 * them: {@code # end of 3 entries}. It has no tab, so no entry looks like it.
 *
 * @param expires null if the line does not say
 */
record EntryText(byte[] key, byte[] value, @Nullable Instant expires) {
  private static final String EXPIRES = "expires=";
  private static final Pattern END = Pattern.compile("# end of ([0-9]{1,18}) entries");

  /** The entry that a cursor stands on. */
  static String format(Cursor cursor) {
    String entry = KeyText.format(cursor.key()) + '\t' + KeyText.format(cursor.value());
    Instant expires = cursor.expires();
    return expires == null ? entry : entry + '\t' + EXPIRES + expires;
  }

  /**
   * The entry of a line.
   *
   * @param number of the line, for errors
   * @throws UsageException if it is no entry
   */
  static EntryText parse(String line, long number) {
    String[] columns = line.split("\t", -1);
    if (columns.length < 2) {
      throw new UsageException(
          "line " + number + " has no tab between a key and a value: '" + line + "'");
    }
    boolean expires = columns.length == 3 && columns[2].startsWith(EXPIRES);
    if (columns.length > 2 && !expires) {
      throw new UsageException(
          "line "
              + number
              + " goes on behind the value with other than a tab and expires=INSTANT; a value with a"
              + " tab is given as 0x and hexadecimal digits");
    }
    try {
      return new EntryText(
          KeyText.parse(columns[0]),
          KeyText.parse(columns[1]),
          expires ? Instant.parse(columns[2].substring(EXPIRES.length())) : null);
    } catch (UsageException | DateTimeException e) {
      throw new UsageException("line " + number + ": " + e.getMessage(), e);
    }
  }

  /** The line behind the entries of an export. */
  static String end(long entries) {
    return "# end of " + entries + " entries";
  }

  /** How many entries stand before a line that {@link #end} has made; -1 if it is another one. */
  static long counted(String line) {
    Matcher end = END.matcher(line);
    return end.matches() ? Long.parseLong(end.group(1)) : -1;
  }
}
