package io.isobardb.bench.streams;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * What one child does.
 *
 * @param mixes steps of calls that are measured, after state stores were loaded
 * @param properties of the application, beside those that follow from the rest
 * @param dir where the state lies
 * @param stores state stores of all tasks together; of four, one is a window store
 * @param partitions tasks that they are spread over
 * @param threads of Kafka Streams, each with tasks of its own
 * @param memoryBytes Isobar's budget, or what RocksDB's cache and write buffers share; 0 for what
 *     is there by default
 * @param heapBytes the child's heap, all of it resident
 * @param records of all state stores together
 * @param durationSeconds of each step that is measured
 * @param commitSeconds between commits
 */
record StreamsSpec(
    StreamsEngine engine,
    Profile profile,
    List<Mix> mixes,
    Map<String, String> properties,
    Path dir,
    int stores,
    int partitions,
    int threads,
    long memoryBytes,
    long heapBytes,
    long records,
    int valueBytes,
    double durationSeconds,
    double commitSeconds,
    long seed) {}
