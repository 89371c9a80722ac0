package io.isobardb.cli.console;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Which messages go where.
 *
 * @param file to which they are appended; null for standard error
 */
record LogTarget(Messages.Threshold threshold, @Nullable Path file) {
  static final LogTarget STANDARD = new LogTarget(Messages.Threshold.warning, null);

  /**
   * What {@code LEVEL} or {@code LEVEL:FILE} says.
   *
   * @throws UsageException if there is no such level, or the file can't be written
   */
  static LogTarget parse(String text) {
    int colon = text.indexOf(':');
    String level = colon < 0 ? text : text.substring(0, colon);
    Messages.Threshold threshold = Messages.threshold(level);
    if (threshold == null) {
      throw new UsageException(
          "--log: '" + level + "' is none of " + Arrays.toString(Messages.Threshold.values()));
    }
    if (colon < 0) {
      return new LogTarget(threshold, null);
    }
    String name = text.substring(colon + 1);
    Path file = Path.of(name).toAbsolutePath().normalize();
    Path parent = file.getParent();
    boolean writable =
        Files.exists(file)
            ? Files.isRegularFile(file) && Files.isWritable(file)
            : parent != null && Files.isDirectory(parent) && Files.isWritable(parent);
    if (name.isEmpty() || !writable) {
      throw new UsageException("--log: '" + name + "' can't be written; give a file that can");
    }
    return new LogTarget(threshold, file);
  }

  /** As {@link #parse} takes it, from any directory. */
  @Override
  public String toString() {
    return file == null ? threshold.name() : threshold.name() + ":" + file;
  }
}
