package io.isobardb.memory.pool;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Tells when the last reader has left: epoch-based reclamation.
 *
 * <p>A reader claims a slot with {@link #enter}, reads shared structures, and gives the slot back
 * with {@link #exit}. Whoever unlinks something from those structures takes a tag with {@link
 * #advance} <em>after</em> unlinking it, and may free it once {@link #passed} holds for the tag:
 * every reader that could have seen it has then left.
 *
 * <p>Thread rule: all methods may be called by any thread. A reader must not block between enter
 * and exit (no I/O, no waiting for memory), since that holds up reclamation. Entering twice on one
 * thread claims two slots and is harmless. Slots belong to no thread, so virtual threads cost
 * nothing.
 *
 * <p>Why it is right: the claim of a slot is a full fence and comes before the reader's first look
 * at anything shared; the unlinking comes before the tag is drawn and the slots are scanned. So a
 * reader whose claim the scan missed can't see what was unlinked. A slot that holds an older epoch
 * than the current one only delays.
 */
public final class Epochs {
  private static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(long[].class);

  /** One slot in 128 bytes: neighbouring lines are fetched in pairs. */
  private static final int STRIDE_SHIFT = 4;

  /** On x86 no later read overtakes a swap; elsewhere that takes a fence. */
  private static final boolean SWAP_IS_FENCE =
      System.getProperty("os.arch", "").matches("amd64|x86_64");

  private final long[] slots;
  private final int mask;
  private final AtomicLong global = new AtomicLong(1);

  public Epochs() {
    int wanted = Math.max(64, 8 * Runtime.getRuntime().availableProcessors());
    int count = Integer.highestOneBit(wanted - 1) << 1;
    this.slots = new long[(count + 1) << STRIDE_SHIFT];
    this.mask = count - 1;
  }

  /** Begins a read; gives the slot to hand to {@link #exit}. Costs one uncontended swap. */
  public int enter() {
    // The threads of a program were numbered one after the other: they meet in no slot.
    int i = (int) Thread.currentThread().getId() & mask;
    long epoch = global.get();
    for (int tries = 0; ; tries++) {
      int slot = (i + 1) << STRIDE_SHIFT;
      if ((long) SLOT.getOpaque(slots, slot) == 0 && SLOT.compareAndSet(slots, slot, 0L, epoch)) {
        if (!SWAP_IS_FENCE) {
          VarHandle.fullFence();
        }
        return slot;
      }
      i = (i + 1) & mask;
      if (tries > mask) {
        Thread.yield();
      }
    }
  }

  /**
   * Counts {@code done} things, on behalf of whoever holds the slot: in the slot's own cache line,
   * so that it costs no sharing.
   */
  public void count(int slot, long done) {
    SLOT.setOpaque(slots, slot + 1, slots[slot + 1] + done);
  }

  /** The sum of all that was {@link #count}ed; what is counted meanwhile may be missing. */
  public long counted() {
    long sum = 0;
    for (int i = 1; i <= mask + 1; i++) {
      sum += (long) SLOT.getOpaque(slots, (i << STRIDE_SHIFT) + 1);
    }
    return sum;
  }

  /** Ends the read that {@link #enter} began. */
  public void exit(int slot) {
    SLOT.setRelease(slots, slot, 0L);
  }

  /** A tag for what was unlinked before this call. */
  public long advance() {
    return global.getAndIncrement();
  }

  /** Whether every reader that entered before the tag was drawn has left. */
  public boolean passed(long tag) {
    return oldest() > tag;
  }

  /** The oldest epoch a reader may be in; the current one if there is no reader. */
  public long oldest() {
    long oldest = global.get();
    VarHandle.fullFence();
    for (int i = 1; i <= mask + 1; i++) {
      long epoch = (long) SLOT.getAcquire(slots, i << STRIDE_SHIFT);
      if (epoch != 0 && epoch < oldest) {
        oldest = epoch;
      }
    }
    return oldest;
  }
}
