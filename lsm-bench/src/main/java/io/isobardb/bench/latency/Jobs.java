package io.isobardb.bench.latency;

/** How flushes and merges run in virtual time. */
public enum Jobs {
  /** As the engine does. */
  ORDERED,
  /** One after the other, each to its end, as they were submitted. */
  FAIR,
  /** They take neither processor time nor the device: what is left is the clients' own. */
  FREE
}
