package io.isobardb.lsm.setting;

import com.sun.management.UnixOperatingSystemMXBean;
import io.isobardb.memory.pool.DirectMemory;
import io.isobardb.memory.system.LinuxLimits;
import java.lang.management.ManagementFactory;

/** What the process may have, which defaults go by. Thread rule: any thread. */
public final class ProcessLimits {
  /** The lowest limit of open files: log, manifest and a few outputs of merges, some to read. */
  public static final int LEAST_OPEN_FILES = 16;

  /** The highest limit that is chosen by default. An open file takes about 1 KB of heap. */
  static final int MOST_OPEN_FILES_BY_DEFAULT = 10_000;

  private ProcessLimits() {}

  /** How much direct memory the JVM may have, in bytes. */
  public static long directMemoryBytes() {
    return DirectMemory.limitBytes();
  }

  /** How many more descriptors the process may take; a large number if that is unknown. */
  public static long spareDescriptors() {
    long told = new LinuxLimits().spareDescriptors();
    return told == LinuxLimits.UNKNOWN ? ofSystemBean() : told;
  }

  private static long ofSystemBean() {
    if (!(ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix)) {
      return Integer.MAX_VALUE;
    }
    try {
      return Math.max(0, unix.getMaxFileDescriptorCount() - unix.getOpenFileDescriptorCount());
    } catch (InternalError e) {
      return 0; // They are counted in a directory, which takes a descriptor to list.
    }
  }

  /** A quarter of the descriptors that the process may still take, within bounds. */
  public static int openFiles() {
    return (int)
        Math.max(LEAST_OPEN_FILES, Math.min(spareDescriptors() / 4, MOST_OPEN_FILES_BY_DEFAULT));
  }
}
