package io.isobardb.lsm.api;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;

/** The pages of the repository's root and of docs, and their sections. */
public final class Sections {
  /**
   * What stands below a heading, up to the next one of any level.
   *
   * @param page the file
   * @param level of the heading: how many signs it has; 0 for what stands before the first one
   * @param heading without its signs
   * @param text without the heading
   */
  record Section(Path page, int level, String heading, String text) {
    /** What a link to it ends with. */
    String anchor() {
      String plain = heading.toLowerCase(Locale.ROOT).replaceAll("[^\\p{L}\\p{N} _-]", "");
      return plain.replace(' ', '-');
    }

    /** Whether the heading has all these words. */
    boolean has(String sought) {
      List<String> own = List.of(heading.toLowerCase(Locale.ROOT).split("\\W+"));
      return own.containsAll(List.of(sought.split(" ")));
    }

    /** How many words follow the heading; signs alone are none. */
    int words() {
      return (int) Stream.of(text.split("\\s+")).filter(w -> w.matches(".*\\w.*")).count();
    }
  }

  private Sections() {}

  /** All Markdown files. */
  static List<Path> pages() throws IOException {
    Path above = Path.of("..");
    Path root = Files.exists(above.resolve("README.md")) ? above : Path.of("");
    try (Stream<Path> files = Files.list(root);
        Stream<Path> docs = Files.walk(root.resolve("docs"))) {
      return Stream.concat(files, docs)
          .filter(file -> file.toString().endsWith(".md"))
          .sorted()
          .toList();
    }
  }

  /** What links to the sections of a page end with; the second one of a heading has a number. */
  static Set<String> anchors(Path page) throws IOException {
    Set<String> anchors = new HashSet<>();
    for (Section section : of(page)) {
      String unique = section.anchor();
      for (int more = 1; !anchors.add(unique); more++) {
        unique = section.anchor() + "-" + more;
      }
    }
    return anchors;
  }

  /** The sections of a page, in order. */
  static List<Section> of(Path page) throws IOException {
    List<Section> sections = new ArrayList<>();
    String heading = "";
    int level = 0;
    StringBuilder text = new StringBuilder();
    boolean code = false;
    for (String line : Files.readAllLines(page)) {
      code ^= line.startsWith("```");
      if (!code && line.matches("#{1,6} .*")) {
        sections.add(new Section(page, level, heading, text.toString()));
        level = line.indexOf(' ');
        heading = line.substring(level + 1);
        text.setLength(0);
      } else {
        text.append(line).append('\n');
      }
    }
    sections.add(new Section(page, level, heading, text.toString()));
    return sections;
  }

  /** What stands below a heading of a page, up to the next one of the same level or a higher. */
  public static String below(String page, String heading) throws IOException {
    int level = 0;
    StringBuilder text = new StringBuilder();
    for (Section section : of(Path.of("..", page))) {
      if (level > 0 && section.level() <= level) {
        break;
      }
      if (level == 0 && section.heading().equals(heading)) {
        level = section.level();
      }
      text.append(level > 0 ? section.text() : "");
    }
    assertTrue(level > 0, () -> page + " has no " + heading);
    return text.toString();
  }
}
