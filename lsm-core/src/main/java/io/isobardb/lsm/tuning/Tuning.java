package io.isobardb.lsm.tuning;

/**
 * What a store's options say of the memory tuner.
 *
 * @param on whether it divides the memory
 * @param intervalNanos how long a cycle takes while little is written
 * @param writeWeight omega of the paper's section 5.1: what a page written costs
 * @param readWeight gamma: what a page read costs
 * @param writeFloorBytes the least write memory; 0 for what the store needs
 * @param cacheFloorBytes the least cache; 0 for what the store needs
 */
public record Tuning(
    boolean on,
    long intervalNanos,
    double writeWeight,
    double readWeight,
    long writeFloorBytes,
    long cacheFloorBytes) {}
