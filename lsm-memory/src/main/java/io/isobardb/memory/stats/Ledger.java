package io.isobardb.memory.stats;

import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;

/**
 * Who held how much at one instant. The bytes by purpose add up to {@link #allocatedBytes}, which
 * is what the allocator holds.
 *
 * @param limitBytes the budget in force
 * @param allocatedBytes bytes held from the system
 * @param peakBytes the most that was ever held
 * @param bytes bytes by purpose
 */
public record Ledger(
    long limitBytes, long allocatedBytes, long peakBytes, Map<Purpose, Long> bytes) {
  public Ledger {
    bytes = Collections.unmodifiableMap(new EnumMap<>(bytes));
  }

  /** Bytes held for one purpose. */
  public long bytes(Purpose purpose) {
    return bytes.getOrDefault(purpose, 0L);
  }
}
