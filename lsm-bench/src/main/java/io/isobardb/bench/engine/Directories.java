package io.isobardb.bench.engine;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;

/** Sizes and removal of an engine's directory. */
public final class Directories {
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
