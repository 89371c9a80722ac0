package io.isobardb.lsm.store;

import io.isobardb.lsm.event.SystemLog;
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
    checkProcess(budget, 0);
  }

  /** As {@link #checkProcess(long)}, for a store that had budgets up to this one before. */
  static void checkProcess(long budget, long before) {
    String warning = ofProcess().check(budget, before);
    if (warning != null) {
      SystemLog.tell(Level.WARNING, MemoryLimits.class, warning, null);
    }
  }

  /**
   * What the JVM itself keeps of the heap, a tree, and a range delete with short keys; measured.
   */
  private static final long HEAP_OF_JVM = 2_500_000;

  private static final long HEAP_OF_TREE = 6_000;
  private static final long HEAP_OF_RANGE = 200;

  /**
   * What of a store lies on the heap.
   *
   * @param trees how many there are
   * @param files bytes that descriptions of SSTables take
   * @param ranges how many range deletes are not cleaned up
   */
  record OnHeap(long trees, long files, long ranges) {
    /** The heap to give: twice what is kept, for what works on it. */
    long neededBytes() {
      return HEAP_OF_JVM + 2 * (trees * HEAP_OF_TREE + files + ranges * HEAP_OF_RANGE);
    }
  }

  /**
   * Holds what a store keeps on the heap against the limits.
   *
   * @return what may go wrong, or null
   */
  @Nullable String checkHeap(String store, OnHeap kept) {
    long needed = kept.neededBytes();
    return needed <= heap
        ? null
        : store
            + " needs a heap of about "
            + needed
            + " bytes, for "
            + kept.trees
            + " trees, "
            + kept.files
            + " bytes of descriptions of SSTables and "
            + kept.ranges
            + " range deletes. The JVM has "
            + heap
            + " at most, and may run out of it: then the store takes no more writes. Start the JVM"
            + " with -Xmx"
            + ((needed / 8 * 9 >> 20) + 1)
            + "m or more";
  }

  static MemoryLimits ofProcess() {
    return new MemoryLimits(
        DirectMemory.limitBytes(), Runtime.getRuntime().maxMemory(), DirectMemory.systemBytes());
  }

  /** As {@link #check(long)}; what goes for a budget that the store had before was told then. */
  @Nullable String check(long budget, long before) {
    String warning = check(budget);
    return budget > before ? warning : null;
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
