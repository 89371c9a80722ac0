package io.isobardb.lsm.io;

/** Time, behind a seam. Order and durability never depend on it. */
public interface Clock {
  /** Monotonic time in nanoseconds, from an arbitrary origin. */
  long nanos();

  /** Milliseconds since the Unix epoch; may jump. */
  long wallMillis();

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
      };
}
