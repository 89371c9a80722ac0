package io.isobardb.cli.inspect;

import com.fasterxml.jackson.jr.ob.JSON;
import io.isobardb.cli.console.UsageException;
import io.isobardb.lsm.Cursor;
import java.io.IOException;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * An entry, which is a line: the key as {@link KeyText}, a tab, the value in a {@link ValueForm}.
 * If it expires, a tab and {@code expires=INSTANT} follow; {@code expires=never} if it does not,
 * though what is put into its tree does. Behind the entries of an export comes a line that counts
 * them: {@code # end of 3 entries}. It has no tab, so no entry looks like it.
 *
 * @param expires {@link Instant#MAX} for never; null if the line does not say
 */
record EntryText(byte[] key, byte[] value, @Nullable Instant expires) {
  private static final String EXPIRES = "expires=";
  private static final String NEVER = EXPIRES + "never";
  private static final Pattern END = Pattern.compile("# end of ([0-9]{1,18}) entries");

  /**
   * The entry that a cursor stands on.
   *
   * @param tellsNever whether that is said of an entry that does not expire
   * @throws UsageException if the value has another form
   */
  static String format(Cursor cursor, ValueForm form, boolean tellsNever) {
    String key = KeyText.format(cursor.key());
    String entry = key + '\t' + ofKey(key, () -> form.toColumn(form.format(cursor.value())));
    Instant expires = cursor.expires();
    if (expires != null) {
      return entry + '\t' + EXPIRES + expires;
    }
    return tellsNever ? entry + '\t' + NEVER : entry;
  }

  /** As {@link #format}, as an object of JSON with key, value, and expires if it does. */
  static String json(Cursor cursor, ValueForm form) throws IOException {
    String key = KeyText.format(cursor.key());
    byte[] value = cursor.value();
    ofKey(key, () -> form.format(value));
    Map<String, Object> entry = new LinkedHashMap<>();
    entry.put("key", key);
    entry.put("value", form.toJson(value));
    Instant expires = cursor.expires();
    if (expires != null) {
      entry.put("expires", expires.toString());
    }
    return JSON.std.asString(entry);
  }

  private static String ofKey(String key, Supplier<String> formatting) {
    try {
      return formatting.get();
    } catch (UsageException e) {
      throw new UsageException("of key '" + key + "' " + e.getMessage(), e);
    }
  }

  /**
   * The entry of a line.
   *
   * @param number of the line, for errors
   * @throws UsageException if it is no entry
   */
  static EntryText parse(String line, long number, ValueForm form) {
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
          form.parse(form.ofColumn(columns[1])),
          expires ? parseExpiry(columns[2]) : null);
    } catch (UsageException | DateTimeException e) {
      throw new UsageException("line " + number + ": " + e.getMessage(), e);
    }
  }

  private static Instant parseExpiry(String column) {
    return column.equals(NEVER) ? Instant.MAX : Instant.parse(column.substring(EXPIRES.length()));
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
