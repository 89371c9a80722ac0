package io.isobardb.bench.latency;

/**
 * A flush or a merge.
 *
 * @param name what it was
 * @param beginSeconds since the run began
 * @param endSeconds the same
 * @param bytes that it wrote
 */
record JobSpan(String name, double beginSeconds, double endSeconds, long bytes) {}
