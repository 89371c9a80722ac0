package io.isobardb.lsm.inspect;

/**
 * What a manifest says of its store as a whole.
 *
 * @param manifest the name of its file
 * @param logStartLsn entries of all trees with lower LSNs are in SSTables
 * @param checkpointLsn where unlogged trees stand
 * @param nextFileNumber above all file numbers that were ever used
 * @param nextTreeId above all IDs of trees that were ever created
 */
public record StoredCounters(
    String manifest, long logStartLsn, long checkpointLsn, long nextFileNumber, int nextTreeId) {}
