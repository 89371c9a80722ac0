package io.isobardb.bench.process;

import io.isobardb.bench.engine.Directories;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;
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

  /** The absolute path. */
  public Path path() {
    return path;
  }

  @Override
  public void close() {
    if (remover == null) {
      return;
    }
    Directories.delete(path);
    try {
      Runtime.getRuntime().removeShutdownHook(remover);
    } catch (IllegalStateException e) {
      // The JVM is going down: the hook runs already.
    }
  }

  /** A child that is being ended at the same time may still make files. */
  private void removeAtEnd() {
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
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
