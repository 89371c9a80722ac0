package io.isobardb.bench.crash;

import io.isobardb.lsm.simulation.CrashMode;
import io.isobardb.lsm.simulation.SimulatedStorage;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** How much of what was written and not synced is left after a crash. */
public enum Survival {
  /** Nothing. */
  LOST(CrashMode.ONLY_SYNCED),
  /** What was done before some moment, in order; the write at that moment is torn. */
  ORDERED(CrashMode.PREFIX),
  /** Any sectors and any names, in any of their versions; stale bytes where nothing was written. */
  ANY(CrashMode.RANDOM),
  /** Everything. */
  ALL(CrashMode.ALL),
  /** The process alone has died: everything can be read, and still be lost later. */
  KILLED(null);

  private final @Nullable CrashMode mode;

  Survival(@Nullable CrashMode mode) {
    this.mode = mode;
  }

  /** What such a crash leaves of a disk, which goes on unharmed. */
  SimulatedStorage crash(SimulatedStorage disk, SplittableRandom random) {
    return mode == null ? disk.copy() : disk.crash(random, mode);
  }
}
