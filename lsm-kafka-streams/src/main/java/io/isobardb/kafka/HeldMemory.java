package io.isobardb.kafka;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.error.StoreClosedException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts the writes that state stores hold back on the heap against the memory budget of their
 * store: the budget is lowered by as much, in steps, to half of it at most. It is lowered in the
 * background, since memory may have to be flushed, and raised once less was held for a while.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
final class HeldMemory {
  private static final Logger LOG = LoggerFactory.getLogger(HeldMemory.class);

  /** The budget changes by a multiple of this part of it. */
  private static final int STEPS = 16;

  private final Store store;
  private final long budgetBytes;
  private final Runnable requestLowering;
  private final AtomicLong heldBytes = new AtomicLong();
  private final AtomicLong peakBytes = new AtomicLong();
  private final AtomicBoolean requested = new AtomicBoolean();

  /** What the budget is lowered by. Changed under the monitor. */
  private volatile long countedBytes;

  /**
   * Counts for a store.
   *
   * @param budgetBytes the memory budget that the store was opened with
   * @param requestLowering has {@link #lower} called in the background
   */
  HeldMemory(Store store, long budgetBytes, Runnable requestLowering) {
    this.store = store;
    this.budgetBytes = budgetBytes;
    this.requestLowering = requestLowering;
  }

  /** A state store holds more, or less if negative. */
  void add(long bytes) {
    long held = heldBytes.addAndGet(bytes);
    if (bytes <= 0) {
      return;
    }
    peakBytes.accumulateAndGet(held, Math::max);
    if (held > countedBytes && countedBytes < mostBytes() && requested.compareAndSet(false, true)) {
      requestLowering.run();
    }
  }

  /** Bytes that all state stores hold. */
  long heldBytes() {
    return heldBytes.get();
  }

  /** Bytes that the budget is lowered by. */
  long countedBytes() {
    return countedBytes;
  }

  /** The most that the budget is lowered by. */
  long mostBytes() {
    return budgetBytes / 2;
  }

  /**
   * The longest value that the store will take whatever the budget is lowered by.
   *
   * @param takenNow the longest value that it takes now, which is a part of its budget
   */
  long mostValueBytes(long takenNow) {
    double least = (double) (budgetBytes - mostBytes()) / (budgetBytes - countedBytes);
    // Budgets are divided into whole pages.
    return (long) (takenNow * least * (STEPS - 1) / STEPS);
  }

  /** Whether more is held than the budget has room for: Kafka should commit. */
  boolean isFull() {
    return heldBytes.get() > mostBytes();
  }

  /** Lowers the budget if more is held than it is lowered by. Waits for flushes. */
  synchronized void lower() {
    requested.set(false);
    long wanted = wanted();
    if (wanted > countedBytes) {
      setBudget(wanted);
    }
  }

  /** Raises the budget if less was held since this was called last. */
  synchronized void raise() {
    long wanted = wanted();
    peakBytes.set(heldBytes.get());
    if (wanted < countedBytes) {
      setBudget(wanted);
    }
  }

  private long wanted() {
    long step = Math.max(1, budgetBytes / STEPS);
    long steps = (peakBytes.get() + step - 1) / step;
    return Math.min(mostBytes(), steps * step);
  }

  private void setBudget(long wanted) {
    try {
      store.setMemoryBudget(budgetBytes - wanted);
      countedBytes = wanted;
    } catch (StoreClosedException e) {
      LOG.debug("the store is closed", e);
    } catch (IllegalArgumentException e) {
      LOG.debug("the budget has no room for what state stores hold back", e);
    } catch (IsobarException e) {
      LOG.warn("the budget was not changed by what state stores hold back", e);
    }
  }
}
