package io.isobardb.lsm.dataset;

/**
 * What a repair did.
 *
 * @param entries looked at
 * @param removed of them, since they were stale
 * @param finished whether it came to the end of the index
 */
public record RepairResult(long entries, long removed, boolean finished) {}
