package io.isobardb.memory.pool;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Tells when the last reader has left: epoch-based reclamation.
 *
 * <p>A reader claims a slot with {@link #enter}, reads shared structures, and gives the slot back
 * with {@link #exit}. A thread that unlinks something from those structures takes a tag with {@link
 * #advance} <em>after</em> unlinking it, and may free it once {@link #passed} holds for the tag:
 * every reader that could have seen it has then left.
 *
 * <p>Thread rule: all methods may be called by any thread. A reader must not block between enter
 * and exit (no I/O, no waiting for memory), since that holds up reclamation. Entering twice on one
 * thread claims two slots and is harmless. Slots belong to no thread, so virtual threads cost
 * nothing. When all slots are claimed there are made more, so that entering never waits: those
 * inside may be waiting for what the one at the door has to give.
 *
 * <p>Why it is right: the claim of a slot is a full fence and comes before the reader's first look
 * at anything shared; the unlinking comes before the tag is drawn and the slots are scanned. So a
 * reader whose claim the scan missed can't see what was unlinked. A slot that holds an older epoch
 * than the current one only delays. The same goes for slots that were made after the scan began.
 */
public final class Epochs {
  private static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(long[].class);

  /** One slot in 128 bytes: neighbouring lines are fetched in pairs. */
  private static final int STRIDE_SHIFT = 4;

  /** On x86 no later read overtakes a swap; elsewhere that takes a fence. */
  private static final boolean SWAP_IS_FENCE =
      System.getProperty("os.arch", "").matches("amd64|x86_64");

  /** Slots of {@link #more} are numbered by their array, from 1 on, and their index in that. */
  private static final int ARRAY_SHIFT = 24;

  private static final int INDEX_MASK = (1 << ARRAY_SHIFT) - 1;

  private final long[] slots;
  private final int mask;

  /** Slots made when those before were all claimed at once, each time as many more. */
  private volatile long[][] more = {};

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
    for (int tries = 0; tries <= mask; tries++) {
      int slot = (i + 1) << STRIDE_SHIFT;
      if (claim(slots, slot, epoch)) {
        return slot;
      }
      i = (i + 1) & mask;
    }
    return enterMore(epoch);
  }

  private static boolean claim(long[] slots, int slot, long epoch) {
    if ((long) SLOT.getOpaque(slots, slot) != 0 || !SLOT.compareAndSet(slots, slot, 0L, epoch)) {
      return false;
    }
    if (!SWAP_IS_FENCE) {
      VarHandle.fullFence();
    }
    return true;
  }

  private int enterMore(long epoch) {
    while (true) {
      long[][] arrays = more;
      for (int array = 0; array < arrays.length; array++) {
        long[] slots = arrays[array];
        for (int slot = 1 << STRIDE_SHIFT; slot < slots.length; slot += 1 << STRIDE_SHIFT) {
          if (claim(slots, slot, epoch)) {
            return (array + 1) << ARRAY_SHIFT | slot;
          }
        }
      }
      makeMore(arrays);
    }
  }

  private synchronized void makeMore(long[][] seen) {
    if (more == seen) {
      long[][] longer = Arrays.copyOf(seen, seen.length + 1);
      int count = Math.min((mask + 1) << seen.length, INDEX_MASK >>> STRIDE_SHIFT);
      longer[seen.length] = new long[(count + 1) << STRIDE_SHIFT];
      more = longer;
    }
  }

  /** How many slots there are from the beginning on. */
  int slotCount() {
    return mask + 1;
  }

  /** The number of a slot; not below {@link #slotCount} if it was made later. */
  static int index(int slot) {
    return (slot >>> STRIDE_SHIFT) - 1;
  }

  private long[] array(int slot) {
    return slot < slots.length ? slots : more[(slot >>> ARRAY_SHIFT) - 1];
  }

  /**
   * Counts {@code done} things, on behalf of the holder of the slot: in the slot's own cache line,
   * so that it costs no sharing.
   *
   * @return what was counted with this slot so far
   */
  public long count(int slot, long done) {
    long[] array = array(slot);
    int at = (slot & INDEX_MASK) + 1;
    long counted = array[at] + done;
    SLOT.setOpaque(array, at, counted);
    return counted;
  }

  /** The sum of all that was {@link #count}ed; what is counted meanwhile may be missing. */
  public long counted() {
    long sum = counted(slots);
    for (long[] array : more) {
      sum += counted(array);
    }
    return sum;
  }

  private static long counted(long[] slots) {
    long sum = 0;
    for (int slot = 1 << STRIDE_SHIFT; slot < slots.length; slot += 1 << STRIDE_SHIFT) {
      sum += (long) SLOT.getOpaque(slots, slot + 1);
    }
    return sum;
  }

  /** Ends the read that {@link #enter} began. */
  public void exit(int slot) {
    SLOT.setRelease(array(slot), slot & INDEX_MASK, 0L);
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
    oldest = oldest(slots, oldest);
    for (long[] array : more) {
      oldest = oldest(array, oldest);
    }
    return oldest;
  }

  private static long oldest(long[] slots, long least) {
    long oldest = least;
    for (int slot = 1 << STRIDE_SHIFT; slot < slots.length; slot += 1 << STRIDE_SHIFT) {
      long epoch = (long) SLOT.getAcquire(slots, slot);
      if (epoch != 0 && epoch < oldest) {
        oldest = epoch;
      }
    }
    return oldest;
  }
}
