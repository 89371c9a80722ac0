package io.isobardb.bench.engine;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Sizes and removal of an engine's directory. */
public final class Directories {
  private static final Pattern KILOBYTES = Pattern.compile("([0-9]{1,15})\\s");

  private Directories() {}

  /** The sum of the file lengths below {@code dir}; files that vanish meanwhile count nothing. */
  public static long sizeBytes(Path dir) {
    long[] sum = {0};
    walk(
        dir,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            sum[0] += attributes.size();
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path file, IOException e) {
            return FileVisitResult.CONTINUE;
          }
        });
    return sum[0];
  }

  /**
   * The bytes that the files below {@code dir} occupy, as {@code du} tells: of files with holes
   * that is less than their lengths. Where there is no such program, it is {@link #sizeBytes}.
   */
  public static long allocatedBytes(Path dir) {
    try {
      Process du =
          new ProcessBuilder("du", "-sk", dir.toString())
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      String said = new String(du.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      Matcher kilobytes = KILOBYTES.matcher(said);
      // It tells a sum even if a file vanished meanwhile.
      if (kilobytes.lookingAt()) {
        return Long.parseLong(kilobytes.group(1)) << 10;
      }
    } catch (IOException e) {
      // There is no such program.
    }
    return sizeBytes(dir);
  }

  /** Deletes {@code dir} and all below it; nothing happens if it is not there. */
  public static void delete(Path dir) {
    if (!Files.exists(dir)) {
      return;
    }
    walk(
        dir,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            Files.deleteIfExists(file);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult postVisitDirectory(Path visited, IOException e)
              throws IOException {
            Files.deleteIfExists(visited);
            return FileVisitResult.CONTINUE;
          }
        });
  }

  private static void walk(Path dir, SimpleFileVisitor<Path> visitor) {
    try {
      Files.walkFileTree(dir, visitor);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot walk " + dir, e);
    }
  }
}
