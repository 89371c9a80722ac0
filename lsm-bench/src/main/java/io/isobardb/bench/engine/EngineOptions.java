package io.isobardb.bench.engine;

import io.isobardb.cli.console.UsageException;
import io.isobardb.tpcc.store.StoreSpec;
import java.nio.file.Path;

/**
 * What an engine is opened with; the same for all engines of a comparison.
 *
 * @param dir the engine's directory; it exists
 * @param memoryBytes everything the engine may hold for write buffers and caches together
 * @param directIo whether data files bypass the page cache, where the engine can
 * @param syncWrites whether each write is on the device before it returns; otherwise {@link
 *     EngineKind#survival} tells what may be lost
 * @param trees how many ordered maps there are, from 1
 * @param runs how many runs a level of Isobar's may have, as its option takes it
 * @param maxSpace how many times the last level a tree of Isobar's may hold; 0 for its default
 */
public record EngineOptions(
    Path dir,
    long memoryBytes,
    boolean directIo,
    boolean syncWrites,
    int trees,
    String runs,
    double maxSpace) {

  /** The pause between background syncs, or commits, in engines that have them. */
  public static final int LOG_SYNC_MILLIS = StoreSpec.LOG_SYNC_MILLIS;

  /** Options with one run on each level. */
  public EngineOptions(
      Path dir, long memoryBytes, boolean directIo, boolean syncWrites, int trees) {
    this(dir, memoryBytes, directIo, syncWrites, trees, "LEVELED", 0);
  }

  /** Checks the limits. */
  public EngineOptions {
    if (memoryBytes < 8 << 20) {
      throw new UsageException("memory is below 8 MB: " + memoryBytes + " bytes");
    }
    if (trees < 1 || trees > 4096) {
      throw new UsageException("trees is not in 1..4096: " + trees);
    }
  }
}
