package io.isobardb.lsm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What stands twice is changed once, and then it differs. */
@Tag("any-jdk")
class DuplicateLinesTest {
  private static final int RUN = 12;

  /** Lines that say something, and where they stand. */
  private record Lines(Path file, List<String> texts, List<Integer> numbers) {
    static Lines of(Path file) throws IOException {
      Lines lines = new Lines(file, new ArrayList<>(), new ArrayList<>());
      List<String> all = Files.readAllLines(file);
      boolean comment = false;
      for (int i = 0; i < all.size(); i++) {
        String text = all.get(i).strip();
        comment |= text.startsWith("/*");
        boolean says = text.chars().anyMatch(Character::isLetterOrDigit);
        if (!comment && says && !text.startsWith("//") && !text.startsWith("import ")) {
          lines.texts.add(text);
          lines.numbers.add(i + 1);
        }
        comment &= !text.endsWith("*/");
      }
      return lines;
    }

    String place(int at) {
      return file + ":" + numbers.get(at);
    }
  }

  @Test
  void noTwelveLinesOfTheLibrariesStandTwice() throws IOException {
    Map<List<String>, String> seen = new HashMap<>();
    List<String> twice = new ArrayList<>();
    int files = 0;
    try (Stream<Path> modules = Files.list(Path.of(".."))) {
      for (Path module : modules.sorted().toList()) {
        Path sources = module.resolve("src/main/java");
        if (isLibrary(module) && Files.isDirectory(sources)) {
          for (Path file : sources(sources)) {
            files++;
            find(Lines.of(file), seen, twice);
          }
        }
      }
    }
    assertTrue(files > 500, files + " files");
    assertEquals(List.of(), twice);
  }

  /** What is published, save the measurements. */
  private static boolean isLibrary(Path module) {
    String name = module.getFileName().toString();
    return name.startsWith("lsm-") && !name.equals("lsm-bench");
  }

  private static List<Path> sources(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      return files.filter(file -> file.toString().endsWith(".java")).sorted().toList();
    }
  }

  private static void find(Lines lines, Map<List<String>, String> seen, List<String> twice) {
    for (int i = 0; i + RUN <= lines.texts().size(); i++) {
      String before = seen.putIfAbsent(lines.texts().subList(i, i + RUN), lines.place(i));
      if (before != null) {
        twice.add(lines.place(i) + " as " + before);
      }
    }
  }
}
