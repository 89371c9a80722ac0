package io.isobardb.lsm.version;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;

/**
 * A text file of questions and expected answers, to be read and reviewed.
 *
 * <pre>
 * question, one line or more
 * ----
 * answer, up to an empty line
 * </pre>
 *
 * With {@code -Dgolden.rewrite=true} the answers are written instead of compared.
 */
public final class GoldenFile {
  private static final String RULE = "----";

  private GoldenFile() {}

  /** Asks {@code subject} every question of a file that lies next to {@code test}. */
  public static void check(Class<?> test, String name, Function<List<String>, String> subject)
      throws IOException {
    Path path =
        Path.of("src/test/resources", test.getPackageName().replace('.', '/'), name)
            .toAbsolutePath();
    StringBuilder actual = new StringBuilder();
    String expected = Files.readString(path);
    for (String block : expected.strip().split("\n\\s*\n")) {
      List<String> lines = block.lines().toList();
      int rule = lines.indexOf(RULE);
      List<String> question = rule < 0 ? lines : lines.subList(0, rule);
      List<String> asked = question.stream().filter(line -> !line.startsWith("#")).toList();
      if (!actual.isEmpty()) {
        actual.append('\n');
      }
      question.forEach(line -> actual.append(line).append('\n'));
      if (!asked.isEmpty()) {
        String answer = Objects.requireNonNull(subject.apply(asked)).strip();
        actual.append(RULE).append('\n').append(answer).append('\n');
      }
    }
    if (Boolean.getBoolean("golden.rewrite")) {
      Files.writeString(path, actual);
    } else {
      assertEquals(expected, actual.toString(), name);
    }
  }
}
