package io.isobardb.tpcc.drive;

/** Where the driver has its time from. */
public interface DriverClock {
  /** The system's time. */
  DriverClock SYSTEM =
      new DriverClock() {
        @Override
        public long nanos() {
          return System.nanoTime();
        }

        @Override
        public long millis() {
          return System.currentTimeMillis();
        }
      };

  /** Nanoseconds since some moment, for differences. */
  long nanos();

  /** Milliseconds since 1970, for dates. */
  long millis();
}
