package io.isobardb.memory.pool;

import io.isobardb.memory.page.Memory;
import io.netty.buffer.ByteBuf;
import java.util.Arrays;
import java.util.function.IntFunction;

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
  private final IntFunction<ByteBuf> allocator;
  private final long[] bytes = new long[Purpose.values().length];

  /**
   * @param lock the pool's
   * @param slabs keeps the limit
   * @param allocator gives direct buffers of so many bytes, or throws an {@link OutOfMemoryError}
   */
  Blocks(Object lock, Slabs slabs, IntFunction<ByteBuf> allocator) {
    this.lock = lock;
    this.slabs = slabs;
    this.allocator = allocator;
  }

  /** What a block counts for, with what aligning it costs. */
  static long charge(int bytes) {
    long charge = (long) bytes + PagePool.ALIGNMENT;
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

  /**
   * Makes a block that was reserved, all zeros. The lock is not held.
   *
   * @throws OutOfBudgetException if the system refused; the room is given back then
   */
  Block make(int size, long charge, Purpose purpose) {
    try {
      ByteBuf owner = allocator.apply((int) charge);
      Memory memory = Slabs.aligned(owner, size);
      memory.zero(0, size);
      return new Block(memory, purpose, charge, owner);
    } catch (OutOfMemoryError refused) {
      synchronized (lock) {
        bytes[purpose.ordinal()] -= charge;
        slabs.shrank(charge);
        throw DirectMemory.refused(charge, slabs.allocated(), refused);
      }
    }
  }

  /** Frees a block. */
  void release(Block block) {
    ((ByteBuf) block.owner()).release();
    bytes[block.purpose().ordinal()] -= block.chargedBytes();
    slabs.shrank(block.chargedBytes());
  }

  /** Frees a block once the readers of now have left. */
  void retire(Block block) {
    bytes[block.purpose().ordinal()] -= block.chargedBytes();
    slabs.doom((ByteBuf) block.owner(), block.chargedBytes());
    slabs.freeDoomed();
  }
}
