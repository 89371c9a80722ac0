package io.isobardb.bench.process;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** What commands that run loads on stores let be said of all runs. */
public final class RunOptions {
  @Option(
      names = "--option",
      paramLabel = "NAME=VALUE",
      description =
          "An option of the store in all runs, one for experiments, too; docs/options.md has them.")
  private Map<String, String> options = new LinkedHashMap<>();

  @Option(
      names = "--seed",
      paramLabel = "S",
      description = "Of all choices (default: ${DEFAULT-VALUE}).")
  private long seed = 1;

  @Option(
      names = "--dir",
      paramLabel = "DIR",
      description = "Where stores on files are made (default: a temporary directory).")
  private @Nullable Path dir;

  /** Options of the store by name. */
  public Map<String, String> options() {
    return options;
  }

  public long seed() {
    return seed;
  }

  /** Where stores are made; null for a temporary directory. */
  public @Nullable Path dir() {
    return dir;
  }
}
