package io.isobardb.bench.inspect;

import io.isobardb.bench.console.ByteSize;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.entry.KeyOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Which store, how much memory to look at it with, and the orders of its keys. */
final class StoreArgument {
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
   * The directory.
   *
   * @throws IllegalArgumentException if it is none
   */
  Path directory() {
    if (Files.notExists(directory) || Files.isRegularFile(directory)) {
      throw new IllegalArgumentException("there is no directory " + directory);
    }
    return directory;
  }

  /**
   * Options for a store that exists.
   *
   * @throws IllegalArgumentException if a key order can't be had
   */
  StoreOptions options() {
    StoreOptions.Builder options =
        StoreOptions.builder().memoryBudget(memory.bytes()).createIfMissing(false);
    keyOrders.forEach(name -> options.keyOrder(keyOrder(name)));
    return options.build();
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
      throw new IllegalArgumentException("--key-order " + name + ": this is no KeyOrder");
    } catch (ReflectiveOperationException | LinkageError | NullPointerException e) {
      throw new IllegalArgumentException(
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
