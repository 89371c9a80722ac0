package io.isobardb.bench.latency;

import io.isobardb.cli.console.UsageException;

/**
 * Shares of what requests do, in percent.
 *
 * @param writes put a record
 * @param reads get one
 * @param scans read some from a key on
 * @param updates read a record and write it then
 */
record Mix(int writes, int reads, int scans, int updates) {
  Mix {
    if (writes < 0 || reads < 0 || scans < 0 || updates < 0) {
      throw wrong(writes + ":" + reads + ":" + scans + ":" + updates);
    }
    if (writes + reads + scans + updates != 100) {
      throw wrong(writes + ":" + reads + ":" + scans + ":" + updates);
    }
  }

  /** Reads {@code 57:41:2}: writes, reads, scans, and reads with a write. */
  static Mix parse(String text) {
    String[] parts = text.strip().split(":", -1);
    int[] shares = new int[4];
    if (parts.length < 2 || parts.length > shares.length) {
      throw wrong(text);
    }
    for (int i = 0; i < parts.length; i++) {
      if (!parts[i].matches("[0-9]{1,3}")) {
        throw wrong(text);
      }
      shares[i] = Integer.parseInt(parts[i]);
    }
    return new Mix(shares[0], shares[1], shares[2], shares[3]);
  }

  private static UsageException wrong(String text) {
    return new UsageException(
        "--mix must be percentages of writes, reads, scans and read-modify-writes that make 100,"
            + " such as 57:41:2, not '"
            + text
            + "'");
  }

  /** What a request does, by a number from 0 to 99. */
  Kind kind(int percent) {
    if (percent < writes) {
      return Kind.WRITE;
    }
    if (percent < writes + reads) {
      return Kind.READ;
    }
    return percent < writes + reads + scans ? Kind.SCAN : Kind.UPDATE;
  }

  @Override
  public String toString() {
    return writes + ":" + reads + ":" + scans + (updates == 0 ? "" : ":" + updates);
  }
}
