package io.isobardb.cli.inspect;

import io.isobardb.cli.console.ByteSize;
import io.isobardb.cli.console.Exit;
import io.isobardb.cli.console.FailedException;
import io.isobardb.cli.console.Numbers;
import io.isobardb.cli.console.UsageException;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.option.KeyOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Which store, how much memory to look at it with, and the orders of its keys. */
final class StoreArgument {
  /** What a store needs to be opened. */
  private static final int LEAST_MEMORY = 4 << 20;

  @Parameters(index = "0", paramLabel = "DIR", description = "The store's directory.")
  private Path directory = Path.of("");

  @Option(
      names = "--memory",
      paramLabel = "SIZE",
      description = "Memory to use (default: ${DEFAULT-VALUE}).",
      defaultValue = "64MB")
  private ByteSize memory = new ByteSize(0);

  @Option(
      names = "--key-order",
      paramLabel = "CLASS[#FIELD]",
      description =
          "A key order of the store's trees: a class that implements KeyOrder and has a constructor"
              + " without parameters, or a static field. Its jar is to be in ISOBAR_CLASSPATH. May"
              + " be given several times.")
  private List<String> keyOrders = List.of();

  /**
   * The directory, as an absolute path.
   *
   * @throws UsageException if it is none
   */
  Path directory() {
    return directory(directory);
  }

  /** As {@link #directory()}, for a command that takes nothing else. */
  static Path directory(Path given) {
    Path absolute = given.toAbsolutePath().normalize();
    if (Files.notExists(absolute)) {
      throw new UsageException("there is no directory " + absolute);
    }
    if (Files.isRegularFile(absolute)) {
      throw new UsageException(absolute + " is a file; give the directory that is the store");
    }
    return absolute;
  }

  /**
   * The directory of something that calls itself a store.
   *
   * @throws UsageException if it is no directory
   * @throws FailedException if it has no manifest
   */
  static Path store(Path given) {
    Path store = directory(given);
    // False if the directory may not be searched, which reading a file there reports.
    if (Files.notExists(store.resolve("CURRENT"))) {
      throw new FailedException(
          Exit.FAILURE,
          store + " is not a store: it has no file CURRENT; give a store's directory");
    }
    return store;
  }

  /** As {@link #store(Path)}. */
  Path store() {
    return store(directory);
  }

  /** What a command says that can't go on for damage. */
  FailedException damaged(CorruptionException e) {
    String tree = e.tree() == null ? "" : ", of tree '" + e.tree() + "'";
    return new FailedException(
        Exit.FINDING,
        String.format(
            "damaged: %s at offset %d%s: %s; 'isobar check %s' tells what else is",
            directory().resolve(e.file()), e.offset(), tree, e.what(), directory()),
        e);
  }

  /**
   * Options for a store that exists.
   *
   * @throws UsageException if a key order can't be had
   */
  StoreOptions options() {
    Numbers.checkAtLeast("--memory", memory, LEAST_MEMORY);
    StoreOptions.Builder options =
        StoreOptions.builder().memoryBudget(memory.bytes()).createIfMissing(false);
    keyOrders.forEach(name -> options.keyOrder(keyOrder(name)));
    return UsageException.ofArguments(options::build);
  }

  private static KeyOrder keyOrder(String name) {
    int at = name.indexOf('#');
    try {
      Class<?> type = Class.forName(at < 0 ? name : name.substring(0, at));
      Object found =
          at < 0
              ? type.getDeclaredConstructor().newInstance()
              : type.getField(name.substring(at + 1)).get(null);
      if (found instanceof KeyOrder order) {
        return order;
      }
      throw new UsageException("--key-order " + name + ": this is no KeyOrder");
    } catch (ReflectiveOperationException | LinkageError | NullPointerException e) {
      throw new UsageException(
          "--key-order "
              + name
              + " can't be had ("
              + e
              + "): give a class in ISOBAR_CLASSPATH with a constructor without parameters, or"
              + " CLASS#FIELD for a public static field",
          e);
    }
  }
}
