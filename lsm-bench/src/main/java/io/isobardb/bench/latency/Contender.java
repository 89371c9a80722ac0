package io.isobardb.bench.latency;

import io.isobardb.cli.console.UsageException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** The engines whose latencies are measured here. */
enum Contender {
  ISOBAR,
  /** Isobar, whose flushes and merges take neither processor time nor the device: what is left. */
  ISOBAR_FREE,
  /** Isobar, whose flushes and merges run one after the other, none before another. */
  ISOBAR_FAIR,
  /** RocksDB; if the device has a limit, so have its flushes and merges. */
  ROCKSDB,
  /** RocksDB, whose limiter moves below the device's limit by itself. */
  ROCKSDB_AUTOTUNED,
  /** None: what the machine takes from the clients, whatever engine they use. */
  NONE;

  /** Its name on the command line. */
  String label() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  boolean isIsobar() {
    return this == ISOBAR || isVirtual();
  }

  /** Whether it is there in virtual time alone. */
  boolean isVirtual() {
    return this == ISOBAR_FREE || this == ISOBAR_FAIR;
  }

  /** How its flushes and merges run in virtual time. */
  Jobs jobs() {
    return switch (this) {
      case ISOBAR_FREE -> Jobs.FREE;
      case ISOBAR_FAIR -> Jobs.FAIR;
      default -> Jobs.ORDERED;
    };
  }

  /** Those named, separated by commas. */
  static List<Contender> parse(String text) {
    List<Contender> found = new ArrayList<>();
    List<String> labels = Arrays.stream(values()).map(Contender::label).toList();
    for (String word : text.split(",", -1)) {
      String label = word.strip().toLowerCase(Locale.ROOT);
      if (!labels.contains(label)) {
        throw new UsageException(
            "no engine named '" + word + "'; there are " + String.join(", ", labels));
      }
      Contender contender = values()[labels.indexOf(label)];
      if (found.contains(contender)) {
        throw new UsageException("--engine names " + label + " twice");
      }
      found.add(contender);
    }
    return found;
  }
}
