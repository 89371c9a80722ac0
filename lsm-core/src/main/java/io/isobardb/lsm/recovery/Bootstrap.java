package io.isobardb.lsm.recovery;

import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.error.FormatException;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.setting.OptionLimits;
import io.isobardb.lsm.version.Manifest;
import io.isobardb.lsm.version.Recovered;
import io.isobardb.memory.cache.CacheNeighbours;
import io.isobardb.memory.pool.PagePool;
import java.io.IOException;
import java.util.List;
import java.util.SplittableRandom;

/**
 * What the parts of a store are built on: its directory locked, its manifest made, if there was
 * none, and read, and the memory that it takes from the beginning.
 *
 * <p>Thread rule: made and closed by one thread. The parts, once there are any, take the memory and
 * the manifest over, and {@link #close} is for an opening that does not come so far.
 */
record Bootstrap(ReadMemory memory, Recovered recovered) implements AutoCloseable {
  /**
   * Opens what there is in a directory, or makes a store there.
   *
   * @param neighbours of the cache
   * @throws FormatException if the directory is not a store, or of a newer format
   * @throws CorruptionException if the manifest is damaged
   */
  static Bootstrap open(Environment environment, StoreOptions options, CacheNeighbours neighbours)
      throws IOException {
    Storage storage = environment.storage();
    if (!Manifest.exists(storage)) {
      // Before the lock leaves a file behind in somebody else's directory.
      checkCreatable(storage, options);
    }
    storage.lock();
    boolean made = !Manifest.exists(storage);
    if (made) {
      create(environment, options);
    }
    Bootstrap read = read(environment, options, neighbours);
    if (made) {
      read.goOn();
    }
    return read;
  }

  private void goOn() throws IOException {
    try {
      recovered.manifest().goOn();
    } catch (Throwable e) {
      close();
      throw e;
    }
  }

  private static void create(Environment environment, StoreOptions options) throws IOException {
    Storage storage = environment.storage();
    checkCreatable(storage, options);
    SplittableRandom random = environment.random();
    PagePool pool = new PagePool(1 << 20, 4096);
    Manifest made =
        Manifest.create(
            storage, pool, random.nextLong(), random.nextLong(), Manifest.DEFAULT_ROLL_BYTES);
    try {
      made.append(List.of(StoreProperties.notePageSize(options.pageSize()).build()));
    } finally {
      made.close();
      pool.close();
    }
  }

  private static void checkCreatable(Storage storage, StoreOptions options) throws IOException {
    List<String> names = storage.list();
    if (!options.createIfMissing()) {
      throw new FormatException(
          storage.path()
              + " holds no store: there is no file CURRENT"
              + (storage.discardsChanges() ? "" : ", and createIfMissing is false")
              + (names.isEmpty() ? "" : "; it holds " + ForeignFiles.of(names)));
    }
    if (!names.stream().allMatch(Manifest::isLeftover)) {
      throw new FormatException(
          storage.path()
              + " is not a store, since it has no file CURRENT, and is not empty: it holds "
              + ForeignFiles.of(names)
              + "; give an empty directory, or one that does not exist");
    }
  }

  private static Bootstrap read(
      Environment environment, StoreOptions options, CacheNeighbours neighbours)
      throws IOException {
    Storage storage = environment.storage();
    PagePool small = new PagePool(1 << 20, 4096);
    int pageSize;
    try {
      Recovered look = Manifest.open(storage, small, Manifest.DEFAULT_ROLL_BYTES);
      look.manifest().close();
      pageSize = StoreProperties.pageSize(look.properties(), options.pageSize());
    } finally {
      small.close();
    }
    checkBudget(storage, options.memoryBudget(), pageSize);
    PagePool pool =
        new PagePool(
            options.memoryBudget(),
            pageSize,
            Boolean.getBoolean("isobar.poison"),
            environment.memoryFaults());
    ReadMemory memory =
        ReadMemory.of(
            pool,
            options.memoryBudget() - options.writeMemory(),
            ghostPages(options, pageSize),
            neighbours);
    try {
      return new Bootstrap(memory, Manifest.open(storage, pool, Manifest.DEFAULT_ROLL_BYTES));
    } catch (Throwable e) {
      memory.close();
      throw e;
    }
  }

  private static void checkBudget(Storage storage, long budget, int pageSize) {
    long least = OptionLimits.leastBudget(pageSize);
    if (budget < least) {
      throw new IllegalArgumentException(
          "the store in "
              + storage.path()
              + " has pages of "
              + pageSize
              + " bytes, and with these memoryBudget must be at least "
              + least
              + " bytes, not "
              + budget);
    }
  }

  /** An eighth of the budget, wherever the wall stands. */
  private static int ghostPages(StoreOptions options, int pageSize) {
    return (int) Math.max(64, options.memoryBudget() / pageSize / 8);
  }

  /** Gives all of it back but the lock, which goes with the storage. */
  @Override
  public void close() throws IOException {
    recovered.manifest().close();
    memory.close();
  }
}
