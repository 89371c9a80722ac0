package io.isobardb.bench.streams;

import io.isobardb.cli.console.UsageException;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** What keeps the state. */
enum StreamsEngine {
  /** All state stores in one store, with one budget. */
  ISOBAR,
  /** Kafka's RocksDB as Kafka configures it: no limit over all state stores. */
  ROCKSDB,
  /** The same with one cache and one write buffer manager, as Kafka's documentation describes. */
  ROCKSDB_LIMITED;

  /** The name on the command line and in reports. */
  String label() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** The engine of that name; the error lists the names there are. */
  static StreamsEngine of(String label) {
    for (StreamsEngine engine : values()) {
      if (engine.label().equalsIgnoreCase(label.strip())) {
        return engine;
      }
    }
    throw new UsageException(
        "no engine named '"
            + label
            + "'; there are "
            + Arrays.stream(values()).map(StreamsEngine::label).collect(Collectors.joining(", ")));
  }
}
