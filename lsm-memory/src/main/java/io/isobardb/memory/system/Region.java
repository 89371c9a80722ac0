package io.isobardb.memory.system;

import io.isobardb.memory.page.Memory;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A contiguous piece of memory outside of the heap, held until it is freed.
 *
 * <p>Thread rule: the memory is shared freely; {@link #free} is called once, when nobody accesses
 * the memory any more. Access after that may crash the process.
 */
public final class Region {
  /** A region starts at a multiple of this many bytes, as direct I/O needs it. */
  public static final int ALIGNMENT = 4096;

  /** What a region may cost besides its own bytes: for alignment, or for its page table. */
  public static final int OVERHEAD_BYTES = ALIGNMENT;

  private static final AtomicLong HELD = new AtomicLong();

  private final Memory memory;
  private final Runnable free;

  Region(Memory memory, Runnable free) {
    this.memory = memory;
    this.free = free;
    HELD.addAndGet(costBytes());
  }

  /** Bytes of all regions of this process, each with {@link #OVERHEAD_BYTES}. */
  public static long heldBytes() {
    return HELD.get();
  }

  /** The region's bytes. */
  public Memory memory() {
    return memory;
  }

  /** Gives the memory back to where it came from. */
  public void free() {
    HELD.addAndGet(-costBytes());
    free.run();
  }

  private long costBytes() {
    return (long) memory.size() + OVERHEAD_BYTES;
  }
}
