package io.isobardb.cli.inspect;

import io.isobardb.cli.console.UsageException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The option {@code --key-file} of commands about one key. */
final class KeyFile {
  @Option(
      names = "--key-file",
      paramLabel = "FILE",
      description = "The key is all that this file holds, byte by byte; KEY is left out then.")
  private @Nullable Path file;

  boolean isGiven() {
    return file != null;
  }

  /**
   * The key that is given, either way.
   *
   * @param key the argument; null if there is none
   * @throws UsageException if there are none or both
   */
  byte[] keyOr(@Nullable String key) throws IOException {
    Path from = file;
    if ((from == null) == (key == null)) {
      throw new UsageException("give either KEY or --key-file");
    }
    return from != null ? Files.readAllBytes(from) : KeyText.parse(String.valueOf(key));
  }
}
