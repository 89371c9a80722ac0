package io.isobardb.lsm.store;

import io.isobardb.lsm.Backups;
import io.isobardb.lsm.IoBudget;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.io.Clock;
import io.isobardb.lsm.io.DirectoryStorage;
import io.isobardb.lsm.io.NewDirectory;
import io.isobardb.lsm.io.PrivateStorage;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.option.FileAccess;
import io.isobardb.lsm.recovery.BackupDirectory;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.schedule.ExitHook;
import io.isobardb.lsm.schedule.Scheduler;
import io.isobardb.lsm.schedule.SharedIo;
import io.isobardb.lsm.schedule.ThreadScheduler;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Objects;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Opens what lies in directories, for the public API: the one class of the engine that it knows.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class Opening {
  private Opening() {}

  /** See {@link Store#open(Path, StoreOptions)}. */
  public static Store store(Path directory, StoreOptions options) {
    Objects.requireNonNull(directory, "directory");
    Objects.requireNonNull(options, "options");
    checkIoBudget(options);
    MemoryLimits.checkProcess(options.memoryBudget());
    if (options.closeOnExit()) {
      ExitHook.ofJvm().checkRunning();
    }
    return doing("the store can't be opened", () -> open(directory, options));
  }

  private static Store open(Path directory, StoreOptions options) throws IOException {
    if (options.createIfMissing()) {
      NewDirectory.checkForStore(directory);
    }
    return open(
        DirectoryStorage.open(
            directory, options.createIfMissing(), options.maxOpenFiles(), options.fileAccess()),
        scheduler(directory, options),
        options);
  }

  /** See {@link Store#openReadOnly}. */
  public static Store storeToRead(Path directory, StoreOptions options) {
    Objects.requireNonNull(directory, "directory");
    Objects.requireNonNull(options, "options");
    checkIoBudget(options);
    MemoryLimits.checkProcess(options.memoryBudget());
    return doing(
        "the store can't be opened",
        () ->
            open(
                new PrivateStorage(
                    DirectoryStorage.openToRead(directory),
                    Math.min(options.memoryBudget(), Runtime.getRuntime().maxMemory() / 2)),
                scheduler(directory, options),
                options.toBuilder().createIfMissing(false).build()));
  }

  /** Passes if stores can share the budget that the options have, if they have one. */
  private static void checkIoBudget(StoreOptions options) {
    IoBudget budget = options.ioBudget();
    if (budget != null && !(budget instanceof SharedIo)) {
      throw new IllegalArgumentException(
          "stores can share an IoBudget that IoBudget.of gave, not a "
              + budget.getClass().getName());
    }
  }

  private static ThreadScheduler scheduler(Path directory, StoreOptions options) {
    Path name = directory.toAbsolutePath().getFileName();
    return new ThreadScheduler(
        name == null ? "root" : name.toString(), options.backgroundThreads());
  }

  private static Store open(Storage storage, Scheduler scheduler, StoreOptions options) {
    OpenStore store =
        OpenStore.open(
            new Environment(storage, Clock.SYSTEM, scheduler, new SplittableRandom()), options);
    store.closeIfLost();
    store.warnOfHeap();
    return store;
  }

  /** See {@link IoBudget#of}. */
  public static IoBudget ioBudget(long bytesPerSecond) {
    return new SharedIo(bytesPerSecond);
  }

  /** See {@link Backups#open(Path, long, FileAccess)}. */
  public static Backups backups(Path directory, long bytesPerSecond, FileAccess access) {
    Objects.requireNonNull(directory, "directory");
    Objects.requireNonNull(access, "access");
    if (bytesPerSecond < 1) {
      throw new IllegalArgumentException(
          "bytesPerSecond must be at least 1, not " + bytesPerSecond);
    }
    return doing(
        "the backups in " + directory + " can't be opened",
        () ->
            new OpenBackups(
                BackupDirectory.open(NewDirectory.forBackups(directory, access)),
                bytesPerSecond,
                access));
  }

  /** What may fail since a file does. */
  interface Work<T extends @Nullable Object> {
    T run() throws IOException;
  }

  /** Does something whose failures users hear of. */
  static <T extends @Nullable Object> T doing(String failed, Work<T> work) {
    try {
      return work.run();
    } catch (IOException e) {
      throw new UncheckedIOException(failed + ": " + e.getMessage(), e);
    }
  }
}
