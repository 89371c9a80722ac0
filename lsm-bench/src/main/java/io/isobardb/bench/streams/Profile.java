package io.isobardb.bench.streams;

import io.isobardb.cli.console.UsageException;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** What is done with the state stores, and how much of it if nothing says so. */
enum Profile {
  /** Many state stores in little memory, under skewed calls of all kinds. */
  MANY(1000, 5_000_000, 1),
  /** State that fits memory: gets, puts, both, ranges and windows, one after the other. */
  CACHED(200, 2_000_000, 1),
  /** Records of a changelog, by the batches that Kafka polls. */
  RESTORE(1, 5_000_000, 1000),
  /** State stores are made, opened, closed and dropped. */
  LIFECYCLE(1000, 10_000, 1),
  /** Segments of a window store expire, with and without a snapshot held. */
  EXPIRE(1, 1_000_000, 1000);

  final int stores;
  final long records;
  final long leastRecords;

  Profile(int stores, long records, long leastRecords) {
    this.stores = stores;
    this.records = records;
    this.leastRecords = leastRecords;
  }

  /** The name on the command line. */
  String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The profile of that name; the error lists the names there are. */
  static Profile of(String label) {
    for (Profile profile : values()) {
      if (profile.label().equalsIgnoreCase(label.strip())) {
        return profile;
      }
    }
    throw new UsageException(
        "no profile named '"
            + label
            + "'; there are "
            + Arrays.stream(values()).map(Profile::label).collect(Collectors.joining(", ")));
  }
}
