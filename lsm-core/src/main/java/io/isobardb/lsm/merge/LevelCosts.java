package io.isobardb.lsm.merge;

/**
 * What a tree costs if its levels and tiers are as large as they are to be.
 *
 * @param written bytes that merges write for each byte that L0 delivers
 * @param space bytes in levels and tiers by those in the last level
 */
public record LevelCosts(double written, double space) {}
