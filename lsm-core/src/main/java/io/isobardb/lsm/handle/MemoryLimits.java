package io.isobardb.lsm.handle;

import io.isobardb.memory.pool.DirectMemory;
import java.lang.System.Logger.Level;
import org.jspecify.annotations.Nullable;

/**
 * What memory a process may use; in bytes.
 *
 * @param direct off the heap
 * @param heap on the heap
 * @param system in all: what the container or the machine has
 */
public record MemoryLimits(long direct, long heap, long system) {
  /**
   * Passes if the JVM and the system let a store have its budget.
   *
   * @throws IllegalArgumentException if not, with what to change
   */
  public static void checkProcess(long budget) {
    String warning = ofProcess().check(budget);
    if (warning != null) {
      System.getLogger(MemoryLimits.class.getName()).log(Level.WARNING, warning);
    }
  }

  static MemoryLimits ofProcess() {
    return new MemoryLimits(
        DirectMemory.limitBytes(), Runtime.getRuntime().maxMemory(), DirectMemory.systemBytes());
  }

  /**
   * Holds a store's budget against the limits.
   *
   * @return what may go wrong with it, or null
   * @throws IllegalArgumentException if it can't be had, with what to change
   */
  @Nullable String check(long budget) {
    if (budget > direct) {
      throw new IllegalArgumentException(
          "the memory budget of "
              + budget
              + " bytes exceeds the "
              + direct
              + " bytes of direct memory that the JVM allows; lower it, or start the JVM with"
              + " -XX:MaxDirectMemorySize="
              + (budget >> 20) * 5 / 4
              + "m");
    }
    if (budget >= system) {
      throw new IllegalArgumentException(
          "the memory budget of "
              + budget
              + " bytes exceeds the "
              + system
              + " bytes that the container, or the machine, has; lower it");
    }
    return heap > system - budget
        ? "the memory budget of "
            + budget
            + " bytes and a heap of at most "
            + heap
            + " are more than the "
            + system
            + " bytes that the container, or the machine, has: the system may end the process;"
            + " lower the budget, or -Xmx"
        : null;
  }
}
