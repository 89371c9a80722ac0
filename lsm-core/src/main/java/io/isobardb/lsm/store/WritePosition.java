package io.isobardb.lsm.store;

import io.isobardb.lsm.Savepoint;

/** A place among a transaction's writes. Equal to itself alone. */
final class WritePosition implements Savepoint {
  private final int depth;

  WritePosition(int depth) {
    this.depth = depth;
  }

  int depth() {
    return depth;
  }
}
