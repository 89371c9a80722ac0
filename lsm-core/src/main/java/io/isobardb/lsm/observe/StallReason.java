package io.isobardb.lsm.observe;

/** Why a writer waited. */
public enum StallReason {
  /**
   * The write memory is almost full: writers are slowed down, in the end to half the pace of
   * flushes.
   */
  MEMORY_DELAY,
  /** The write memory is full: writers wait for a flush. */
  MEMORY_FULL,
  /** L0 has many groups: writers are slowed down, so that merges catch up. */
  L0_DELAY,
  /** L0 has too many groups: flushes wait for merges, and so do writers. */
  L0_FULL,
  /** Much waits for merges: writers are slowed down, so that merges catch up. */
  DEBT_DELAY,
  /** The log is near its limit: writers are slowed to the pace of flushes. */
  LOG_DELAY,
  /** The log is over its limit: writers wait for the flush that lets it be cut. */
  LOG_FULL,
  /** The log's buffer in memory is full: writers wait until the log's file has taken some of it. */
  LOG_BUFFER,
  /** Range deletes hold all the memory that they may: one more waits for a flush or a merge. */
  RANGE_DELETES
}
