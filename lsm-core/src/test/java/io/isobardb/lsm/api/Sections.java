package io.isobardb.lsm.api;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** The pages of the repository's root and of docs, and their sections. */
final class Sections {
  /**
   * What stands below a heading, up to the next one of any level.
   *
   * @param page the file
   * @param heading without its signs; empty for what stands before the first one
   * @param words how many words follow it; signs alone are none
   */
  record Section(Path page, String heading, int words) {
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

  /** The sections of a page, in order. */
  static List<Section> of(Path page) throws IOException {
    List<Section> sections = new ArrayList<>();
    String heading = "";
    int words = 0;
    boolean code = false;
    for (String line : Files.readAllLines(page)) {
      code ^= line.startsWith("```");
      if (!code && line.matches("#{1,6} .*")) {
        sections.add(new Section(page, heading, words));
        heading = line.replaceFirst("#+ ", "");
        words = 0;
      } else {
        words += (int) Stream.of(line.split("\\s+")).filter(w -> w.matches(".*\\w.*")).count();
      }
    }
    sections.add(new Section(page, heading, words));
    return sections;
  }
}
