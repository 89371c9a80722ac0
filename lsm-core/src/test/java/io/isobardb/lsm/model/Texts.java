package io.isobardb.lsm.model;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.isobardb.lsm.Cursor;
import java.util.Map;
import java.util.TreeMap;

/** Keys and values as texts, which are compared and printed more easily than arrays. */
final class Texts {
  private Texts() {}

  static String text(byte[] bytes) {
    return new String(bytes, UTF_8);
  }

  /** What a cursor sees, the same in both directions. Closes it. */
  static Map<String, String> all(Cursor cursor) {
    Map<String, String> forward = new TreeMap<>();
    Map<String, String> back = new TreeMap<>();
    try (cursor) {
      for (boolean more = cursor.first(); more; more = cursor.next()) {
        forward.put(text(cursor.key()), text(cursor.value()));
      }
      for (boolean more = cursor.last(); more; more = cursor.previous()) {
        back.put(text(cursor.key()), text(cursor.value()));
      }
    }
    assertEquals(forward, back);
    return forward;
  }
}
