package io.isobardb.bench.process;

import io.isobardb.bench.engine.Directories;
import io.isobardb.cli.console.UsageException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Where a command works: a directory that the user names, which stays, or a temporary one, which is
 * gone when it is closed or the JVM is ended by a signal.
 */
public final class WorkDirectory implements AutoCloseable {
  private static final int ATTEMPTS = 50;
  private static final long BETWEEN_NANOS = 20_000_000;

  private final Path path;
  private final @Nullable Thread remover;
  private volatile boolean kept;

  private WorkDirectory(Path path, boolean temporary) {
    this.path = path.toAbsolutePath();
    remover = temporary ? new Thread(this::removeAtEnd, "work-directory") : null;
    if (remover != null) {
      Runtime.getRuntime().addShutdownHook(remover);
    }
  }

  /** The directory {@code given}, made if it is missing; null for a temporary one. */
  public static WorkDirectory of(@Nullable Path given, String prefix) throws IOException {
    return given == null
        ? new WorkDirectory(Files.createTempDirectory(prefix), true)
        : new WorkDirectory(Files.createDirectories(given), false);
  }

  /** A temporary directory below {@code parent}. */
  public static WorkDirectory temporary(Path parent, String prefix) throws IOException {
    return new WorkDirectory(Files.createTempDirectory(parent, prefix), true);
  }

  /**
   * A directory that is made, and removed as a temporary one is.
   *
   * @throws UsageException if it is there and holds anything
   */
  public static WorkDirectory fresh(Path path) throws IOException {
    if (Files.exists(path)) {
      try (Stream<Path> inside = Files.list(path)) {
        if (inside.findAny().isPresent()) {
          throw new UsageException(
              path.toAbsolutePath() + " is not empty; give an empty directory or a new one");
        }
      }
    }
    return new WorkDirectory(Files.createDirectories(path), true);
  }

  /** Leaves the directory where it is, for whoever wants to look at it. */
  public void keep() {
    kept = true;
  }

  /** The absolute path. */
  public Path path() {
    return path;
  }

  @Override
  public void close() {
    if (remover == null) {
      return;
    }
    if (!kept) {
      Directories.delete(path);
    }
    try {
      Runtime.getRuntime().removeShutdownHook(remover);
    } catch (IllegalStateException e) {
      // The JVM is going down: the hook runs already.
    }
  }

  /** A child that is being ended at the same time may still make files. */
  private void removeAtEnd() {
    for (int attempt = 0; attempt < ATTEMPTS && !kept; attempt++) {
      try {
        Directories.delete(path);
      } catch (UncheckedIOException e) {
        // A file came or went meanwhile: again.
      }
      LockSupport.parkNanos(BETWEEN_NANOS);
      if (!Files.exists(path)) {
        return;
      }
    }
  }
}
