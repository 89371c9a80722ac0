package io.isobardb.repair;

import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.inspect.CheckProgress;
import io.isobardb.lsm.inspect.RepairReport;
import io.isobardb.lsm.io.DirectoryStorage;
import io.isobardb.lsm.io.NewDirectory;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.store.MemoryLimits;
import io.isobardb.repair.salvage.RepairJob;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.UUID;

/**
 * Makes a new store of what can be read of a damaged one.
 *
 * <pre>{@code
 * StoreOptions options = StoreOptions.builder().memoryBudget(256 << 20).build();
 * RepairReport report =
 *     StoreRepair.run(Path.of("damaged"), Path.of("saved"), options, CheckProgress.NONE);
 * report.losses().forEach(System.out::println);
 * }</pre>
 */
public final class StoreRepair {
  private StoreRepair() {}

  /**
   * Makes a new store. The damaged one is left as it is. Thread rule: the calling thread does it.
   *
   * @param directory the damaged store's
   * @param target the new store's; empty or not there yet. If this fails, it is again as it was
   * @param options {@code memoryBudget} says how much memory may be used, on the heap and off it,
   *     but of the heap a quarter at most, {@code keyOrders} the orders that trees may have, and
   *     {@code fileAccess} who may use the new store; the rest is of no matter
   * @param progress is told what is being done
   * @return what was saved
   * @throws io.isobardb.lsm.error.FormatException if it is no store, or the target is not empty
   * @throws IllegalArgumentException if one of the two directories is or lies within the other, or
   *     the target within a store or a directory of backups; nothing is made
   * @throws io.isobardb.lsm.error.StoreLockedException if the store is open
   */
  public static RepairReport run(
      Path directory, Path target, StoreOptions options, CheckProgress progress) {
    Objects.requireNonNull(directory, "directory");
    Objects.requireNonNull(target, "target");
    Objects.requireNonNull(options, "options");
    Objects.requireNonNull(progress, "progress");
    MemoryLimits.checkProcess(options.memoryBudget());
    SplittableRandom random = new SplittableRandom();
    UUID id = new UUID(random.nextLong(), random.nextLong());
    long bytes = options.memoryBudget();
    long heapBytes = Math.min(bytes, Runtime.getRuntime().maxMemory() / 4);
    RepairJob.Settings settings = new RepairJob.Settings(bytes, heapBytes, options.keyOrders(), id);
    RepairReport[] report = new RepairReport[1];
    try (Storage damaged = DirectoryStorage.openToRead(directory)) {
      NewDirectory.fill(
          target,
          directory,
          options.fileAccess(),
          made -> report[0] = RepairJob.run(damaged, made, settings, progress));
      return Objects.requireNonNull(report[0]);
    } catch (IOException e) {
      throw new UncheckedIOException("the store can't be repaired: " + e.getMessage(), e);
    }
  }
}
