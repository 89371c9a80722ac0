package io.isobardb.lsm.io;

/** Time, behind a seam. Order and durability never depend on it. */
public interface Clock {
  /** Monotonic time in nanoseconds, from an arbitrary origin. */
  long nanos();

  /** Milliseconds since the Unix epoch; may jump. */
  long wallMillis();

  /**
   * How long the calling thread has waited for a processor since it began, in nanoseconds; below 0
   * if that is not known.
   */
  default long waitedNanos() {
    return -1;
  }

  /** The machine's clock. */
  Clock SYSTEM =
      new Clock() {
        @Override
        public long nanos() {
          return System.nanoTime();
        }

        @Override
        public long wallMillis() {
          return System.currentTimeMillis();
        }

        @Override
        public long waitedNanos() {
          return ProcessorWaits.ofThread();
        }
      };
}
