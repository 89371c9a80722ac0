package io.isobardb.lsm.io;

/** Time, behind a seam. Order and durability never depend on it. */
public interface Clock {
  /** Monotonic time in nanoseconds, from an arbitrary origin. */
  long nanos();

  /** The machine's clock. */
  Clock SYSTEM = System::nanoTime;
}
