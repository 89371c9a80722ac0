package io.isobardb.bench.simulate;

import io.isobardb.cli.console.UsageException;
import io.isobardb.lsm.commit.Fullness;
import io.isobardb.lsm.commit.Sealing;
import io.isobardb.lsm.component.MemoryRules;
import io.isobardb.lsm.flush.FlushRules;
import io.isobardb.lsm.merge.LevelingOptions;
import io.isobardb.lsm.merge.TableSizes;
import io.isobardb.lsm.policy.FlushPolicy;
import io.isobardb.lsm.policy.FlushStrategy;
import io.isobardb.lsm.policy.MemoryComponent;
import io.isobardb.lsm.policy.TreeShape;
import io.isobardb.tuner.model.EngineShape;

/**
 * What a simulated store is made with.
 *
 * @param room its sizes
 * @param policy which tree is flushed when write memory runs short
 * @param strategy how much of it
 * @param leveling how levels are shaped
 * @param tree what is wanted of each tree
 * @param batches whether levels go by what L0 delivers at a time, as the engine's do
 */
public record StoreShape(
    Room room,
    FlushPolicy policy,
    FlushStrategy strategy,
    LevelingOptions leveling,
    TreeShape tree,
    boolean batches) {

  /** A store with the default policies. */
  public static StoreShape of(Room room) {
    return new StoreShape(
        room,
        FlushPolicy.OPTIMAL,
        FlushStrategy.ROUND_ROBIN,
        LevelingOptions.DEFAULT,
        TreeShape.DEFAULT,
        false);
  }

  /** The same store with another flush strategy. */
  public StoreShape with(FlushStrategy other) {
    return new StoreShape(room, policy, other, leveling, tree, batches);
  }

  /** The same store with trees of another shape, whose levels go by what L0 delivers. */
  public StoreShape with(TreeShape other) {
    return new StoreShape(room, policy, strategy, leveling, other, true);
  }

  /** Whether trees are flushed whole for memory's sake, so many being there with equal shares. */
  public boolean flushesWhole(int trees) {
    return strategy == FlushStrategy.FULL
        || MemoryRules.isSmall(wholeBytes(trees), room.writeBytes(), false);
  }

  /** The most that a tree has in memory if it is flushed whole. */
  private long wholeBytes(int trees) {
    // In turn: the one that is flushed has twice as much as all have on average.
    return 2 * room.memoryTriggerBytes() / (trees + 1);
  }

  /**
   * What a model is to know of such a store.
   *
   * @param trees how many there are
   * @param keys of each tree
   */
  public EngineShape modelled(int trees, double keys) {
    double entry = room.entryBytes();
    boolean whole = flushesWhole(trees);
    long treeBytes = whole ? wholeBytes(trees) : room.memoryTriggerBytes() / trees;
    long slicedBytes = whole ? 0 : treeBytes;
    double tableBytes =
        Room.SIZES.merged(room.writeBytes(), (long) (keys * entry), treeBytes, !whole);
    return new EngineShape(
        trees,
        whole,
        (double) room.memoryTriggerBytes() / room.memoryEntryBytes(),
        (double) room.activeBytes(slicedBytes) / room.memoryEntryBytes(),
        room.logTriggerBytes() / entry,
        new EngineShape.Disk(
            room.sliceBytes(slicedBytes) / entry,
            tableBytes / entry,
            room.memoryEntryBytes() / entry,
            leveling.l0Limits().start(),
            leveling.usualRatio()));
  }

  /**
   * Sizes in bytes.
   *
   * @param entryBytes an entry on disk and in the log
   * @param memoryEntryBytes an entry in memory, with what half-full leaves and old versions take
   * @param writeBytes the write memory
   * @param logBytes how long the log may be
   */
  public record Room(long entryBytes, long memoryEntryBytes, long writeBytes, long logBytes) {
    private static final int PAGE_BYTES = 16 << 10;

    /** How large SSTables are. */
    static final TableSizes SIZES = new TableSizes(PAGE_BYTES, 0);

    /** When active SSTables are sealed. */
    static final Sealing SEALING = new Sealing(MemoryComponent.PARTITIONED, 0, PAGE_BYTES, 0);

    private static final long LEAST_BYTES = 1 << 20;

    /** Checks the numbers. */
    public Room {
      if (entryBytes < 1 || memoryEntryBytes < entryBytes) {
        throw new UsageException(
            "an entry takes at least 1 byte on disk and no less in memory, not "
                + (entryBytes + " and " + memoryEntryBytes));
      }
      if (writeBytes < LEAST_BYTES || logBytes < writeBytes) {
        throw new UsageException(
            "write memory must have 1 MB or more and the log no less, not "
                + (writeBytes + " and " + logBytes));
      }
    }

    /** The size of a slice of a tree that has so much in memory, 0 if it is flushed whole. */
    public long sliceBytes(long slicedBytes) {
      return SIZES.flushed(writeBytes, slicedBytes, slicedBytes > 0);
    }

    /** The size at which an active SSTable of such a tree is sealed unless it may grow. */
    public long activeBytes(long slicedBytes) {
      return SEALING.next(writeBytes, 0, slicedBytes).bytes();
    }

    /** Above this many bytes in memory trees are flushed. */
    public long memoryTriggerBytes() {
      return Fullness.USUAL.flushFrom(writeBytes);
    }

    /** How many entries memory has when so much of it is in use. */
    public double entries(double used) {
      return used * writeBytes / memoryEntryBytes;
    }

    /** Above this length of log trees are flushed. */
    public long logTriggerBytes() {
      return FlushRules.logTriggerBytes(logBytes);
    }
  }
}
