package io.isobardb.cli.inspect;

import io.isobardb.cli.console.ByteSize;
import io.isobardb.cli.console.Numbers;
import io.isobardb.cli.console.UsageException;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.option.FileAccess;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.option.MergeOperator;
import java.util.List;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** How much memory to look at a store with, the orders of its keys, and who may use new files. */
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

  @Option(
      names = "--merge-operator",
      paramLabel = "CLASS[#FIELD]",
      description =
          "A merge operator of the store's trees, besides the built-in ones; as --key-order. May be"
              + " given several times.")
  private List<String> mergeOperators = List.of();

  @Mixin private NewFiles newFiles = new NewFiles();

  /**
   * Options for a store that exists.
   *
   * @throws UsageException if a key order or merge operator can't be had
   */
  StoreOptions options() {
    Numbers.checkAtLeast("--memory", memory, LEAST_MEMORY);
    StoreOptions.Builder options =
        StoreOptions.builder()
            .memoryBudget(memory.bytes())
            .createIfMissing(false)
            .fileAccess(newFiles.access());
    keyOrders.forEach(name -> options.keyOrder(given("--key-order", name, KeyOrder.class)));
    mergeOperators.forEach(
        name -> options.mergeOperator(given("--merge-operator", name, MergeOperator.class)));
    return UsageException.ofArguments(options::build);
  }

  /** Who else may use what is made. */
  FileAccess access() {
    return newFiles.access();
  }

  /** Makes files for those that may use them. */
  NewFiles newFiles() {
    return newFiles;
  }

  private static <T> T given(String option, String name, Class<T> wanted) {
    int at = name.indexOf('#');
    try {
      Class<?> type = Class.forName(at < 0 ? name : name.substring(0, at));
      Object found =
          at < 0
              ? type.getDeclaredConstructor().newInstance()
              : type.getField(name.substring(at + 1)).get(null);
      if (wanted.isInstance(found)) {
        return wanted.cast(found);
      }
      throw new UsageException(option + " " + name + ": this is no " + wanted.getSimpleName());
    } catch (ReflectiveOperationException | LinkageError | NullPointerException e) {
      throw new UsageException(
          option
              + " "
              + name
              + " can't be had ("
              + e
              + "): give a class in ISOBAR_CLASSPATH with a constructor without parameters, or"
              + " CLASS#FIELD for a public static field",
          e);
    }
  }
}
