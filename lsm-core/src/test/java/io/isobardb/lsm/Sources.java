package io.isobardb.lsm;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Sources that tests search. */
final class Sources {
  private static final Pattern COMMENT = Pattern.compile("(?s)/\\*.*?\\*/|//[^\n]*");

  private Sources() {}

  /** Without comments, by name below its root; the package comes before a slash. */
  static Map<String, String> of(List<Path> roots) throws IOException {
    Map<String, String> sources = new TreeMap<>();
    for (Path root : roots) {
      try (Stream<Path> files = Files.walk(root)) {
        for (Path file : files.filter(path -> path.toString().endsWith(".java")).toList()) {
          String name = root.relativize(file).toString().replace('\\', '/').replace(".java", "");
          sources.put(name, COMMENT.matcher(Files.readString(file)).replaceAll(""));
        }
      }
    }
    return sources;
  }
}
