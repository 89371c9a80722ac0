package io.isobardb.lsm.format;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Stream;

/** The files of a store's directory, to be compared, copied and changed. */
public final class StoreFiles {
  private StoreFiles() {}

  /** All files with their contents, save the lock's, which names its owner. */
  public static TreeMap<String, byte[]> read(Path dir) throws IOException {
    TreeMap<String, byte[]> files = new TreeMap<>();
    for (Path path : list(dir)) {
      if (!path.getFileName().toString().equals("LOCK")) {
        files.put(path.getFileName().toString(), Files.readAllBytes(path));
      }
    }
    return files;
  }

  public static void assertSame(TreeMap<String, byte[]> before, Path dir) throws IOException {
    TreeMap<String, byte[]> after = read(dir);
    assertEquals(before.keySet(), after.keySet());
    before.forEach((name, content) -> assertArrayEquals(content, after.get(name), name));
  }

  private static List<Path> list(Path dir) throws IOException {
    try (Stream<Path> paths = Files.list(dir)) {
      return paths.sorted().toList();
    }
  }

  /** The files whose names begin and end so, in their order. */
  public static List<Path> all(Path dir, String prefix, String suffix) throws IOException {
    return list(dir).stream()
        .filter(path -> path.getFileName().toString().startsWith(prefix))
        .filter(path -> path.getFileName().toString().endsWith(suffix))
        .toList();
  }

  /** The last one of {@link #all}. */
  public static Path last(Path dir, String prefix, String suffix) throws IOException {
    return all(dir, prefix, suffix).stream().max(Comparator.naturalOrder()).orElseThrow();
  }

  /** A directory as a kill of the process would leave it now. */
  public static void copy(Path from, Path to) throws IOException {
    Files.createDirectories(to);
    for (Path path : list(from)) {
      Files.copy(path, to.resolve(path.getFileName()));
    }
  }

  public static void patch(Path file, int offset, int newByte) throws IOException {
    byte[] content = Files.readAllBytes(file);
    content[offset] = (byte) newByte;
    Files.write(file, content);
  }
}
