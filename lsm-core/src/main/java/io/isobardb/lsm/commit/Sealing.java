package io.isobardb.lsm.commit;

import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.component.ActiveUse;
import io.isobardb.lsm.component.MemoryRules;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.policy.MemoryComponent;
import io.isobardb.lsm.policy.WriteMemoryAllocation;
import io.isobardb.lsm.setting.OptionLimits;

/**
 * When an active SSTable is sealed, and how large it may become until then. Pure functions; any
 * thread.
 *
 * @param component how a tree's write memory is arranged
 * @param wantedBytes at which size to seal, if the write memory is not too small for that; 0 to
 *     follow the write memory, and to grow on while that pays
 * @param pageSize of the store
 * @param shares how many even shares of the write memory there are, one for a tree; 0 if trees
 *     share all of it
 */
public record Sealing(MemoryComponent component, int wantedBytes, int pageSize, int shares) {

  /**
   * As a store's options ask for.
   *
   * @param pageSize the store's own
   */
  public static Sealing of(StoreOptions options, int pageSize) {
    ExperimentalOptions chosen = ExperimentalOptions.of(options);
    boolean even = chosen.writeMemoryAllocation() == WriteMemoryAllocation.STATIC;
    int shares = even ? chosen.staticTrees() : 0;
    return new Sealing(chosen.memoryComponent(), chosen.activeTableSize(), pageSize, shares);
  }

  /** The most active SSTables of a tree that can be merged and flushed by slices. */
  private static final int FEW = 8;

  /** An active SSTable of this size is worth a run of its own, before a range delete. */
  private static final int LEAST_BEFORE_RANGE_BYTES = 256 << 10;

  /** The least number of pages of one. */
  private static final int LEAST_PAGES = 4;

  /** A tree of which nothing is known may well grow to this part of the write memory. */
  private static final int LEAST_PART = 16;

  /** What puts lose in a tree that the processor's cache has no room for, for small entries. */
  private static final int GROWTH_NANOS_PER_BYTE = 3;

  /** Sealed runs between two merges of a few, on average. */
  private static final int RUNS_LEFT = 4;

  /**
   * The size of the next active SSTable.
   *
   * @param bytes at which it is full
   * @param filterBytes the size that its filter is made for
   */
  public record Size(long bytes, long filterBytes) {}

  /**
   * The size of an active SSTable that the processor's cache has room for, few enough for the write
   * memory, and so many that whole merges find some to merge; the one asked for, if one is.
   */
  public long smallBytes(long writeBytes) {
    long bytes;
    if (wantedBytes == 0) {
      int many = MemoryRules.mergesWhole(component) ? 4 * MemoryRules.PIPELINE : FEW;
      bytes = Math.min(writeBytes / many, MemoryRules.MOST_ACTIVE_BYTES);
    } else {
      long least = OptionLimits.leastActiveBytes(pageSize);
      bytes = Math.min(OptionLimits.mostActiveBytes(writeBytes), Math.max(wantedBytes, least));
    }
    return Math.max(bytes, (long) LEAST_PAGES * pageSize);
  }

  /**
   * The size of a tree's next active SSTable.
   *
   * @param writeBytes the write memory
   * @param lastBytes what the one before it grew to, 0 if it is the first
   * @param slicedBytes what the tree has in memory, 0 if it is flushed whole
   */
  public Size next(long writeBytes, long lastBytes, long slicedBytes) {
    boolean monolithic = component == MemoryComponent.MONOLITHIC;
    long bytes = monolithic ? writeBytes : smallBytes(writeBytes);
    if (slicedBytes > 0 && component == MemoryComponent.PARTITIONED && wantedBytes == 0) {
      bytes = MemoryRules.partBytes(slicedBytes, writeBytes, bytes);
    }
    if (shares > 0) {
      // The other half of a share is for what was sealed before.
      bytes = Math.min(bytes, writeBytes / shares / 2);
    }
    // One that is flushed when all trees together have filled the memory grows like the last: with
    // many trees a filter for more would take as much memory as what it is for.
    long filter = Math.max(lastBytes, bytes / LEAST_PART);
    return new Size(bytes, Math.min(bytes, filter));
  }

  /**
   * Whether to seal an active SSTable that is full, or let it grow on. What is overwritten in it
   * takes no room and needs no merge: so it grows on while its tree is small ({@link
   * MemoryRules#isSmall}) and flushed whole. It grows beyond what the processor's cache still helps
   * with while write memory is not wanted and there are so many reads that more runs would cost
   * more than that puts find a large tree out of the cache (decision 0011).
   *
   * @param active what it was used for
   * @param usedBytes what all trees have in memory
   * @param writeBytes the write memory
   */
  public boolean seals(ActiveUse active, long usedBytes, long writeBytes) {
    if (component != MemoryComponent.PARTITIONED || wantedBytes != 0 || shares > 0) {
      return true;
    }
    boolean mayFit = active.fits() && usedBytes < writeBytes / 4 * 3;
    boolean grows =
        active.heldBytes() < MemoryRules.MOST_ACTIVE_BYTES
            ? mayFit || MemoryRules.isSmall(active.treeBytes(), writeBytes, active.sliced())
            : (mayFit || usedBytes < writeBytes / 2) && readsPay(active);
    return !grows;
  }

  /** Whether to go on with one that is large has cost less than to begin another would have. */
  private static boolean readsPay(ActiveUse use) {
    long merge = Math.min(use.heldBytes(), use.writtenBytes()) * MemoryRules.MERGE_NANOS_PER_BYTE;
    return use.readNanos() * RUNS_LEFT + merge >= use.writtenBytes() * GROWTH_NANOS_PER_BYTE;
  }

  /**
   * Whether the active SSTable is sealed for a flush that begins now. What is sealed already and
   * gets its last writes is flushed before more is sealed.
   *
   * @param runs sealed runs
   * @param frozen how many of them get no writes any more
   * @param whole whether the flush takes all of the tree
   * @param share whether it is for the tree's own share: then of a component that is flushed whole
   *     only what is sealed goes, since the other half is being written
   */
  public boolean sealsForFlush(int runs, int frozen, boolean whole, boolean share) {
    return share ? runs == 0 : frozen == runs && (whole || frozen == 0);
  }

  /**
   * Whether the active SSTable is sealed before a range delete. All of it is older than the range
   * delete then, so cursors need not look at what that hides.
   *
   * @param heldBytes what it holds
   */
  public boolean sealsForRange(long heldBytes) {
    return heldBytes >= LEAST_BEFORE_RANGE_BYTES;
  }
}
