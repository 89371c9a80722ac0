package io.isobardb.cli.inspect;

import io.isobardb.cli.console.ByteSize;
import io.isobardb.cli.console.Numbers;
import io.isobardb.cli.console.UsageException;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.option.KeyOrder;
import java.util.List;
import picocli.CommandLine.Option;

/** How much memory to look at a store with, and the orders of its keys. */
final class StoreSettings {
  /** What a store needs to be opened. */
  private static final int LEAST_MEMORY = 4 << 20;

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
