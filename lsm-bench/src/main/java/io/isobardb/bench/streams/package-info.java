/**
 * Drives state stores of Kafka Streams as its tasks do, without a broker: those of Isobar and those
 * of Kafka's RocksDB. Each engine runs in a process of its own, which has Kafka's libraries on its
 * class path, its RocksDB among them. The command's own process has none of them.
 */
@NullMarked
package io.isobardb.bench.streams;

import org.jspecify.annotations.NullMarked;
