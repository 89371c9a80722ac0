package io.isobardb.bench.inspect;

import io.isobardb.bench.console.ByteSize;
import io.isobardb.lsm.StoreOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Which store, and how much memory to look at it with. */
final class StoreArgument {
  @Parameters(index = "0", paramLabel = "DIR", description = "The store's directory.")
  private Path directory = Path.of("");

  @Option(
      names = "--memory",
      paramLabel = "SIZE",
      description = "Memory to use (default: ${DEFAULT-VALUE}).",
      defaultValue = "64MB")
  private ByteSize memory = new ByteSize(0);

  /**
   * The directory.
   *
   * @throws IllegalArgumentException if it is none
   */
  Path directory() {
    if (!Files.isDirectory(directory)) {
      throw new IllegalArgumentException("there is no directory " + directory);
    }
    return directory;
  }

  StoreOptions options() {
    return StoreOptions.builder().memoryBudget(memory.bytes()).createIfMissing(false).build();
  }
}
