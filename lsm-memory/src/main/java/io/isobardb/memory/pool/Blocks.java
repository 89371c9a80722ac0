package io.isobardb.memory.pool;

import io.isobardb.memory.stats.Purpose;
import io.isobardb.memory.system.Region;
import io.isobardb.memory.system.SystemMemory;
import java.util.Arrays;

/**
 * The {@link Block}s of a pool, and who holds how much of them. They come from the system one by
 * one, under the same limit as the slabs.
 *
 * <p>A block is reserved first, within the limit, and then made, which takes long and needs no
 * lock.
 *
 * <p>Thread rule: the pool's lock is held, but for {@link #make}.
 */
final class Blocks {
  private final Object lock;
  private final Slabs slabs;
  private final SystemMemory system;
  private final long[] bytes = new long[Purpose.values().length];

  /** What blocks that can be done without leave to slabs. */
  private long keptForSlabs;

  /**
   * @param lock the pool's
   * @param slabs keeps the limit
   * @param system where blocks come from
   */
  Blocks(Object lock, Slabs slabs, SystemMemory system) {
    this.lock = lock;
    this.slabs = slabs;
    this.system = system;
  }

  /** What a block counts for, with what aligning it costs. */
  static long charge(int bytes) {
    long charge = (long) bytes + Region.OVERHEAD_BYTES;
    if (bytes < 0 || charge > Integer.MAX_VALUE) {
      throw new IllegalArgumentException("a block of " + bytes + " bytes");
    }
    return charge;
  }

  /** Bytes of all blocks, those included that are being made. */
  long bytes() {
    return Arrays.stream(bytes).sum();
  }

  /** Bytes of the blocks that are held for a purpose. */
  long bytes(Purpose purpose) {
    return bytes[purpose.ordinal()];
  }

  /** Takes room for a block within the limit; false if there is not enough. */
  boolean reserve(long charge, Purpose purpose) {
    if (!slabs.fits(charge)) {
      return false;
    }
    slabs.grew(charge);
    bytes[purpose.ordinal()] += charge;
    return true;
  }

  void keepForSlabs(long kept) {
    keptForSlabs = kept;
  }

  /** As {@link #reserve}, for a block that can be done without. */
  boolean reserveSpare(long charge, Purpose purpose) {
    return charge <= mostSpare() && reserve(charge, purpose);
  }

  /** Bytes that blocks which can be done without may still take, were there no slabs. */
  long mostSpare() {
    return slabs.limit() - keptForSlabs - bytes();
  }

  /** Bytes that such blocks find now. */
  long spareRoom() {
    return Math.min(mostSpare(), slabs.limit() - slabs.allocated());
  }

  /** Gives room back that was reserved. */
  void unreserve(long charge, Purpose purpose) {
    bytes[purpose.ordinal()] -= charge;
    slabs.shrank(charge);
  }

  /**
   * Makes a block that was reserved, all zeros. The lock is not held.
   *
   * @throws OutOfBudgetException if the system refused; the room is given back then
   */
  Block make(int size, long charge, Purpose purpose) {
    try {
      return new Block(system.take(size), purpose, charge);
    } catch (OutOfMemoryError refused) {
      synchronized (lock) {
        unreserve(charge, purpose);
        throw DirectMemory.refused(charge, slabs.allocated(), refused);
      }
    }
  }

  /** Frees a block. */
  void release(Block block) {
    block.region().free();
    bytes[block.purpose().ordinal()] -= block.chargedBytes();
    slabs.shrank(block.chargedBytes());
  }

  /** Frees a block once the readers of now have left. */
  void retire(Block block) {
    bytes[block.purpose().ordinal()] -= block.chargedBytes();
    slabs.doom(block.region(), block.chargedBytes());
    slabs.freeDoomed();
  }
}
