package io.isobardb.lsm.state;

import io.isobardb.lsm.schedule.Signal;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The work on what a tree has in memory, by flushes and memory merges: whose turn it is, how far
 * round the key space they have come, and what merging has been good for.
 *
 * <p>Thread rule: all methods may be called by any thread. Setters are for the job that has the
 * turn.
 */
public final class MemoryWork {
  private final AtomicBoolean taken = new AtomicBoolean();
  private final Signal left;
  private final ReadLoss readLoss = new ReadLoss();
  private final MergeGain mergeGain = new MergeGain();
  private volatile boolean sliced;
  private volatile byte @Nullable [] sweptUpTo;
  private volatile byte @Nullable [] packedUpTo;

  /**
   * @param left raised when nobody works on the memory of this tree any more, or of another
   */
  MemoryWork(Signal left) {
    this.left = left;
  }

  /** Whether a flush or a memory merge is queued or running. */
  public boolean isTaken() {
    return taken.get();
  }

  /** Takes the turn for a flush or a memory merge; false if another has it. */
  public boolean tryTake() {
    return !taken.get() && taken.compareAndSet(false, true);
  }

  /** Ends the turn. */
  public void leave() {
    taken.set(false);
    left.raise();
  }

  /** Waits until nobody has the turn. */
  public void await() {
    left.await(() -> !taken.get());
  }

  /**
   * As {@link #await()}, for so many nanoseconds at most.
   *
   * @return whether nobody has the turn
   */
  public boolean await(long nanos) {
    return left.await(() -> !taken.get(), nanos);
  }

  /** Whether the tree had memory enough for slices when it was last flushed. */
  public boolean isSliced() {
    return sliced;
  }

  /** See {@link #isSliced}. */
  public void setSliced(boolean large) {
    sliced = large;
  }

  /** The key up to which partial flushes have swept the key space, or null at its beginning. */
  public byte @Nullable [] sweptUpTo() {
    return sweptUpTo;
  }

  /** See {@link #sweptUpTo}. */
  public void setSweptUpTo(byte @Nullable [] key) {
    sweptUpTo = key;
  }

  /**
   * The key up to which merges in memory have come on their way round the key space, or null at its
   * beginning.
   */
  public byte @Nullable [] packedUpTo() {
    return packedUpTo;
  }

  /** See {@link #packedUpTo}. */
  public void setPackedUpTo(byte @Nullable [] key) {
    packedUpTo = key;
  }

  /** What reads have lost since runs in memory were last merged. */
  public ReadLoss readLoss() {
    return readLoss;
  }

  /** What merging all in memory has been good for. */
  public MergeGain mergeGain() {
    return mergeGain;
  }
}
