package io.isobardb.bench.phases;

/**
 * A part of a workload.
 *
 * @param name for people
 * @param operations how many, 1 or more
 */
record Phase(String name, long operations, Mix mix) {}
