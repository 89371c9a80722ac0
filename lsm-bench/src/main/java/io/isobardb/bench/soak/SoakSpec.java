package io.isobardb.bench.soak;

import java.nio.file.Path;

/**
 * What to soak.
 *
 * @param directory of the store; made, and removed afterwards
 * @param millis how long
 * @param memoryBytes the largest memory budget; it moves between a third of that and all
 * @param threads that write and read
 * @param trees that they write to
 * @param keys of each thread in each tree
 * @param seed of what they do
 * @param spikes whether the disk is slow at times
 * @param reportMillis how often to tell how it stands
 */
public record SoakSpec(
    Path directory,
    long millis,
    long memoryBytes,
    int threads,
    int trees,
    int keys,
    long seed,
    boolean spikes,
    long reportMillis) {}
