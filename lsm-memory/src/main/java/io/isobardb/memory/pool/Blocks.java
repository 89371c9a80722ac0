package io.isobardb.memory.pool;

import io.isobardb.memory.stats.Purpose;
import io.isobardb.memory.system.Region;
import io.isobardb.memory.system.SystemMemory;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The {@link Block}s of a pool, and who holds how much of them. They come from the system one by
 * one, under the same limit as the slabs.
 *
 * <p>A block is reserved first, within the limit, and then made, which takes long and needs no
 * lock.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class Blocks {
  /** How often a reservation looks for room before it gives up; every few times it asks for it. */
  private static final int ATTEMPTS = 64;

  private static final int ATTEMPTS_PER_REQUEST = 16;

  private final PagePool pool;
  private final Object lock;
  private final Slabs slabs;
  private final SystemMemory system;
  private final AllocationFaults faults;

  // Guarded by lock.
  private final long[] bytes = new long[Purpose.values().length];

  /** What blocks that can be done without leave to slabs. */
  private long keptForSlabs;

  /** Bytes on the heap that are to count against the limit, and those that do. */
  private final long[] heap = new long[Purpose.values().length];

  private final long[] counted = new long[Purpose.values().length];

  /** The part of {@link #heap} that does not fit into the limit yet: slabs are leaving for it. */
  private long owed;

  /**
   * @param lock the pool's
   * @param slabs keeps the limit
   * @param system where blocks come from
   */
  Blocks(PagePool pool, Object lock, Slabs slabs, SystemMemory system, AllocationFaults faults) {
    this.pool = pool;
    this.lock = lock;
    this.slabs = slabs;
    this.system = system;
    this.faults = faults;
  }

  /**
   * A contiguous piece of memory, all zeros. If the limit is in the way, whole slabs are emptied
   * and given back first.
   *
   * @throws OutOfBudgetException if it does not fit, even after reclaiming, or the system refused
   */
  public Block allocate(int size, Purpose purpose) {
    long charge = charge(size);
    if (faults.refuses(purpose)) {
      throw new OutOfBudgetException("a block of " + charge + " bytes for " + purpose + " fails");
    }
    reserve(charge, purpose);
    return make(size, charge, purpose);
  }

  /**
   * A contiguous piece of memory, all zeros, or null if the limit is in the way: nothing is asked
   * to give pages up, and nobody waits.
   *
   * @throws OutOfBudgetException if the system refused
   */
  public @Nullable Block tryAllocate(int size, Purpose purpose) {
    long charge = charge(size);
    if (faults.refuses(purpose)) {
      return null;
    }
    synchronized (lock) {
      pool.checkOpen();
      if (!takeSpare(charge, purpose)) {
        return null;
      }
    }
    return make(size, charge, purpose);
  }

  /** Bytes that a block may have for {@link #tryAllocate} to find room, as of now. */
  public long roomBytes() {
    synchronized (lock) {
      long room = Math.min(mostSpare(), slabs.limit() - slabs.allocated());
      return Math.max(0, room - Region.ALIGNMENT);
    }
  }

  /**
   * Counts memory that does not come from the pool, such as a mapped file, within the limit, with
   * {@link Region#OVERHEAD_BYTES}. If the limit is in the way, whole slabs are emptied and given
   * back first.
   *
   * @throws OutOfBudgetException if it does not fit, even after reclaiming
   */
  public void chargeOutside(int size, Purpose purpose) {
    if (faults.refuses(purpose)) {
      throw new OutOfBudgetException("a charge of " + size + " bytes for " + purpose + " fails");
    }
    reserve(charge(size), purpose);
  }

  /** Ends a {@link #chargeOutside}. */
  public void dischargeOutside(int size, Purpose purpose) {
    synchronized (lock) {
      unreserve(charge(size), purpose);
    }
  }

  /**
   * Counts what is held for a purpose on the Java heap. It is there whether or not the limit has
   * room. What does not fit counts once slabs have left, which {@link PagePool#vacate} speeds up.
   *
   * @param held all of it, in bytes; a part of the limit at most
   */
  public void countOnHeap(Purpose purpose, long held) {
    synchronized (lock) {
      pool.checkOpen();
      heap[purpose.ordinal()] = held;
      settle();
    }
  }

  /** Whether something on the heap does not count yet. */
  public boolean owes() {
    synchronized (lock) {
      return owed > 0;
    }
  }

  /** Counts what is on the heap, as far as there is room by now. The lock is held. */
  void settle() {
    long missing = 0;
    for (int purpose = 0; purpose < heap.length; purpose++) {
      if (heap[purpose] != counted[purpose]) {
        long room = Math.max(0, slabs.limit() - slabs.allocated());
        long more = Math.min(heap[purpose] - counted[purpose], room);
        slabs.grew(more);
        counted[purpose] += more;
        bytes[purpose] += more;
        missing += heap[purpose] - counted[purpose];
      }
    }
    if (owed != missing) {
      slabs.setAside(missing - owed);
      owed = missing;
    }
  }

  /**
   * Blocks that can be done without ({@link #tryAllocate}, and those for {@link Purpose#MERGE})
   * leave this much of the limit to slabs.
   */
  public void keepForSlabs(long kept) {
    synchronized (lock) {
      keptForSlabs = kept;
    }
  }

  /** Bytes of all blocks but those of merges, which come and go, and of what is on the heap. */
  public long lastingBytes() {
    synchronized (lock) {
      return bytes() - bytes(Purpose.MERGE) - Arrays.stream(counted).sum();
    }
  }

  /** Gives a block back that no reader can see. */
  void release(Block block) {
    synchronized (lock) {
      block.region().free();
      unreserve(block.chargedBytes(), block.purpose());
    }
  }

  /** Gives a block back that was unlinked just now: it is freed when its last reader has left. */
  void retire(Block block) {
    synchronized (lock) {
      pool.checkOpen();
      bytes[block.purpose().ordinal()] -= block.chargedBytes();
      slabs.doom(block.region(), block.chargedBytes());
      slabs.freeDoomed();
    }
  }

  /** Bytes of the blocks that are held for a purpose, those included that are being made. */
  long bytes(Purpose purpose) {
    synchronized (lock) {
      return bytes[purpose.ordinal()];
    }
  }

  /** What a block counts for, with what aligning it costs. */
  private static long charge(int size) {
    long charge = (long) size + Region.OVERHEAD_BYTES;
    if (size < 0 || charge > Integer.MAX_VALUE) {
      throw new IllegalArgumentException("a block of " + size + " bytes");
    }
    return charge;
  }

  private void reserve(long charge, Purpose purpose) {
    boolean spare = purpose == Purpose.MERGE;
    boolean waiting = false;
    try {
      for (int attempt = 0; ; attempt++) {
        synchronized (lock) {
          pool.checkOpen();
          pool.drainLimbo();
          boolean taken = spare ? takeSpare(charge, purpose) : take(charge, purpose);
          boolean hopeless = attempt == ATTEMPTS || charge > (spare ? mostSpare() : slabs.limit());
          if ((taken || hopeless) && waiting) {
            waiting = false;
            slabs.setAside(-charge);
          }
          if (taken) {
            return;
          }
          if (hopeless) {
            throw new OutOfBudgetException(
                "a block of " + charge + " bytes for " + purpose + " does not fit: " + slabs);
          }
          if (!waiting) {
            waiting = true;
            slabs.setAside(charge);
          }
        }
        if (attempt % ATTEMPTS_PER_REQUEST == 0) {
          pool.vacateLeaving();
        }
        Thread.yield();
      }
    } finally {
      if (waiting) {
        synchronized (lock) {
          slabs.setAside(-charge);
        }
      }
    }
  }

  /** Takes room for a block within the limit; false if there is not enough. */
  private boolean take(long charge, Purpose purpose) {
    if (!slabs.fits(charge)) {
      return false;
    }
    slabs.grew(charge);
    bytes[purpose.ordinal()] += charge;
    return true;
  }

  /** As {@link #take}, for a block that can be done without. */
  private boolean takeSpare(long charge, Purpose purpose) {
    return charge <= mostSpare() && take(charge, purpose);
  }

  /** Bytes that blocks which can be done without may still take, were there no slabs. */
  private long mostSpare() {
    return slabs.limit() - keptForSlabs - bytes();
  }

  private long bytes() {
    return Arrays.stream(bytes).sum();
  }

  /** Gives room back. */
  private void unreserve(long charge, Purpose purpose) {
    bytes[purpose.ordinal()] -= charge;
    slabs.shrank(charge);
  }

  /** Makes a block that was reserved, all zeros. The lock is not held. */
  private Block make(int size, long charge, Purpose purpose) {
    try {
      return new Block(system.take(size), purpose, charge);
    } catch (OutOfMemoryError refused) {
      synchronized (lock) {
        unreserve(charge, purpose);
        throw DirectMemory.refused(charge, slabs.allocated(), refused);
      }
    }
  }
}
