package io.isobardb.memory.stats;

import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;

/**
 * What each purpose held at one instant. The bytes by purpose add up to {@link #allocatedBytes},
 * which is what the allocator holds.
 *
 * @param limitBytes the budget in force
 * @param allocatedBytes bytes held from the system
 */
public record Ledger(
    @Metric(
            value = "The memory budget.",
            unit = "bytes",
            name = "memory.budget",
            attribute = "MemoryBudget")
        long limitBytes,
    @Metric(
            value = "Memory allocated.",
            unit = "bytes",
            name = "memory.allocated",
            attribute = "MemoryAllocated")
        long allocatedBytes,
    @Metric(
            value = "The most that was allocated since the store was opened.",
            unit = "bytes",
            name = "memory.peak",
            attribute = "MemoryPeak")
        long peakBytes,
    @Metric(
            value = "Memory allocated, by purpose.",
            unit = "bytes",
            name = "memory.used",
            tag = "purpose",
            attribute = "MemoryByPurpose",
            json = Metric.INLINE)
        Map<Purpose, Long> bytes) {
  /**
   * Copies the map.
   *
   * @param limitBytes the memory budget
   * @param allocatedBytes what is allocated of it
   * @param peakBytes the most that was
   * @param bytes what is held for each purpose
   */
  public Ledger {
    bytes = Collections.unmodifiableMap(new EnumMap<>(bytes));
  }

  /**
   * {@return bytes held for one purpose}
   *
   * @param purpose what the bytes are for
   */
  public long bytes(Purpose purpose) {
    return bytes.getOrDefault(purpose, 0L);
  }
}
