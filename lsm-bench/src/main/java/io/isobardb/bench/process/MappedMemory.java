package io.isobardb.bench.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.stream.Stream;

/** What is resident of the memory that a process has mapped. */
public final class MappedMemory {
  private static final Path MAPPINGS = Path.of("/proc/self/smaps");

  private MappedMemory() {}

  /**
   * Resident bytes of all mappings of files whose paths contain {@code name}; 0 if the system does
   * not tell. Some milliseconds.
   */
  public static long residentBytes(String name) {
    try (Stream<String> lines = Files.lines(MAPPINGS)) {
      return residentBytes(lines, name);
    } catch (NoSuchFileException e) {
      return 0;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * @param lines each mapping has a line that begins with its addresses and ends with its path, and
   *     then lines of fields, such as {@code Rss: 8 kB}
   */
  static long residentBytes(Stream<String> lines, String name) {
    boolean[] counts = {false};
    return lines
        .mapToLong(
            line -> {
              int colon = line.indexOf(':');
              if (!line.substring(0, Math.max(0, colon)).matches("[A-Z][A-Za-z_]*")) {
                counts[0] = line.contains(name);
                return 0;
              }
              return counts[0] && line.startsWith("Rss:")
                  ? Long.parseLong(line.replaceAll("[^0-9]", "")) << 10
                  : 0;
            })
        .sum();
  }
}
