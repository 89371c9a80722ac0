package io.isobardb.bench.latency;

import java.util.Locale;

/** What a request does. */
enum Kind {
  WRITE,
  READ,
  SCAN,
  /** Reads a record, and writes it then. */
  UPDATE;

  /** Its name in reports. */
  String label() {
    return this == UPDATE ? "read and write" : name().toLowerCase(Locale.ROOT);
  }
}
