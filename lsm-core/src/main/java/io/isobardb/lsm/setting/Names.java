package io.isobardb.lsm.setting;

import java.util.Locale;
import java.util.Objects;

/**
 * Which names a store accepts from its user: those of trees and of key orders, which it keeps as
 * UTF-8. The names of datasets and indexes are a subset, so that they can be parts of a tree's
 * name.
 *
 * <p>A name is checked when it is about to be stored, never when it is read: a store that an
 * earlier release filled with other names still opens, and its trees can be read and dropped.
 */
public final class Names {
  /** The longest name, in UTF-16 code units, as {@link String#length} counts. */
  public static final int MAX_LENGTH = 200;

  private Names() {}

  /**
   * Passes if a name may be stored.
   *
   * @param what what it is the name of, for the message, such as {@code "a tree"}
   * @return the name
   * @throws IllegalArgumentException if it is empty or longer than {@link #MAX_LENGTH}, or holds a
   *     control character, or half of a surrogate pair, which UTF-8 can't express
   */
  public static String check(String what, String name) {
    Objects.requireNonNull(name, "name");
    if (name.isEmpty() || name.length() > MAX_LENGTH) {
      throw new IllegalArgumentException(
          "the name of "
              + what
              + " must have 1 to "
              + MAX_LENGTH
              + " characters, not "
              + name.length());
    }
    for (int at = 0; at < name.length(); ) {
      int character = name.codePointAt(at);
      int type = Character.getType(character);
      if (type == Character.CONTROL || type == Character.SURROGATE) {
        throw new IllegalArgumentException(
            String.format(
                Locale.ROOT,
                "the name of %s must not hold %s: there is \\u%04X at index %d of '%s'",
                what,
                type == Character.CONTROL ? "control characters" : "half of a surrogate pair",
                character,
                at,
                quote(name)));
      }
      at += Character.charCount(character);
    }
    return name;
  }

  /** A name for a message: what {@link #check} refuses is escaped. */
  public static String quote(String name) {
    StringBuilder text = new StringBuilder(name.length());
    name.codePoints()
        .forEach(
            character -> {
              int type = Character.getType(character);
              if (type == Character.CONTROL || type == Character.SURROGATE) {
                text.append(String.format(Locale.ROOT, "\\u%04X", character));
              } else {
                text.appendCodePoint(character);
              }
            });
    return text.toString();
  }
}
