package io.isobardb.lsm.commit;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * The time of a store, in milliseconds since the Unix epoch: what entries expire by. It is the
 * machine's, but never falls, nor does it over restarts: while the machine's clock is behind what
 * was told before, it stands still.
 *
 * <p>Nobody looks at it before something in the store expires. After that it is written to once a
 * millisecond at most.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class StoreClock implements LongSupplier {
  private final LongSupplier machine;
  private final AtomicLong last;
  private volatile boolean used;

  /**
   * @param machine the machine's clock
   * @param last what was told last before the store was opened; 0 if that is not known
   */
  public StoreClock(LongSupplier machine, long last) {
    this.machine = machine;
    this.last = new AtomicLong(last);
  }

  /** The time now. */
  @Override
  public long getAsLong() {
    long now = machine.getAsLong();
    long told = last.get();
    while (now > told) {
      if (last.compareAndSet(told, now)) {
        return now;
      }
      told = last.get();
    }
    return told;
  }

  /** The last time that was told. */
  public long lastMillis() {
    return last.get();
  }

  /** Something in the store expires. Called before it can be read. */
  public void use() {
    if (!used) {
      used = true;
    }
  }

  /** Whether something in the store expires, or did. */
  public boolean isUsed() {
    return used;
  }
}
