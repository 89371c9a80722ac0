package io.isobardb.lsm.setting;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Map;

/** The known word nearest to an unknown one, for messages. */
public final class Suggestion {
  private Suggestion() {}

  /**
   * {@code "; did you mean x?"}, or the known words if none is near, or nothing if there are none.
   */
  public static String among(String wrong, Collection<String> known) {
    Map<String, String> words = new LinkedHashMap<>();
    known.forEach(word -> words.put(word, word));
    return among(wrong, words);
  }

  /** As for a collection of the keys. It tells the values. */
  static String among(String wrong, Map<String, String> known) {
    String nearest = null;
    int best = Integer.MAX_VALUE;
    for (String word : known.keySet()) {
      int distance = distance(wrong.toLowerCase(Locale.ROOT), word.toLowerCase(Locale.ROOT));
      if (distance < best) {
        best = distance;
        nearest = word;
      }
    }
    if (nearest == null) {
      return "";
    }
    return best <= Math.max(2, wrong.length() / 3)
        ? "; did you mean '" + known.get(nearest) + "'?"
        : known.size() <= 20
            ? "; known are " + String.join(", ", new LinkedHashSet<>(known.values()))
            : "";
  }

  /** Edits (insert, delete, replace) that lead from one word to the other. */
  private static int distance(String a, String b) {
    int[] row = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      row[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int above = row[j];
        int replace = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        row[j] = Math.min(replace, Math.min(above, row[j - 1]) + 1);
        diagonal = above;
      }
    }
    return row[b.length()];
  }
}
