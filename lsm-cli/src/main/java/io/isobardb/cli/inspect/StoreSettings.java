package io.isobardb.cli.inspect;

import io.isobardb.cli.console.ByteSize;
import io.isobardb.cli.console.Exit;
import io.isobardb.cli.console.FailedException;
import io.isobardb.cli.console.Numbers;
import io.isobardb.cli.console.UsageException;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.option.FileAccess;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.option.MergeOperator;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** How much memory to look at a store with, the orders of its keys, and who may use new files. */
final class StoreSettings {
  /** What a store needs to be opened. */
  private static final int LEAST_MEMORY = 4 << 20;

  private static final long USUAL_MEMORY = 64 << 20;

  @Option(
      names = "--memory",
      paramLabel = "SIZE",
      description =
          "Memory to use (default: 64MB; to read a store with a long log, as much as that takes).")
  private @Nullable ByteSize memory;

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
    return options(USUAL_MEMORY);
  }

  /**
   * Opens a store as it is, and changes nothing in it. What its log holds is kept in memory
   * meanwhile.
   *
   * @throws UsageException if a key order or merge operator can't be had
   */
  Store openToRead(Path store) {
    long most = Math.max(USUAL_MEMORY, Runtime.getRuntime().maxMemory() / 2);
    long wanted = Math.min(most, Math.max(USUAL_MEMORY, logBytes(store)));
    return inWordsOfCommands(() -> Store.openReadOnly(store, options(wanted)));
  }

  /**
   * Makes something of what the user has given; that a store has too little memory for it is told
   * by the option that a command has.
   *
   * @throws UsageException if {@code make} refuses its arguments
   * @throws FailedException if the store would need more memory
   */
  static <T> T inWordsOfCommands(Supplier<T> make) {
    try {
      return UsageException.ofArguments(make);
    } catch (UsageException e) {
      String told = String.valueOf(e.getMessage());
      if (told.contains("StoreOptions.Builder.writeMemory")) {
        throw new UsageException(told + ". The write memory of a command is half of --memory", e);
      }
      throw e;
    } catch (IsobarException e) {
      String told = e.getMessage();
      if (told == null || !told.contains("memoryBudget")) {
        throw e;
      }
      throw new FailedException(
          Exit.FAILURE, told + ". The memoryBudget of a command is its --memory", e);
    }
  }

  /** The bytes of a store's log; 0 if they can't be seen, which opening it reports. */
  private static long logBytes(Path store) {
    try (DirectoryStream<Path> segments = Files.newDirectoryStream(store, "*.log")) {
      long bytes = 0;
      for (Path segment : segments) {
        bytes += Files.size(segment);
      }
      return bytes;
    } catch (IOException | DirectoryIteratorException e) {
      return 0;
    }
  }

  private StoreOptions options(long usualMemory) {
    ByteSize given = memory;
    if (given != null) {
      Numbers.checkAtLeast("--memory", given, LEAST_MEMORY);
    }
    StoreOptions.Builder options =
        StoreOptions.builder()
            .memoryBudget(given == null ? usualMemory : given.bytes())
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
