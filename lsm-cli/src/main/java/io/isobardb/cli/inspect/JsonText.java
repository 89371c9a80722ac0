package io.isobardb.cli.inspect;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.jr.ob.JSON;
import io.isobardb.cli.console.UsageException;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Values that are JSON. */
final class JsonText {
  private static final JSON EXACT = JSON.std.with(JSON.Feature.USE_BIG_DECIMAL_FOR_FLOATS);

  private JsonText() {}

  /**
   * Passes if a text is one value of JSON.
   *
   * @throws UsageException that says what is wrong with it
   */
  static void check(String text) {
    try (JsonParser parser = EXACT.createParser(text)) {
      if (parser.nextToken() == null) {
        throw new UsageException("it is empty");
      }
      parser.skipChildren();
      if (parser.nextToken() != null) {
        throw new UsageException("something follows its end");
      }
    } catch (IOException e) {
      throw new UsageException(String.valueOf(e.getMessage()).lines().findFirst().orElse("?"), e);
    }
  }

  /** What a text holds that {@link #check} passes: maps, lists, strings, numbers, null. */
  static @Nullable Object read(String text) throws IOException {
    return EXACT.anyFrom(text);
  }
}
