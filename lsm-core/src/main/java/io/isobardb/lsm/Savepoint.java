package io.isobardb.lsm;

/** A place in a transaction to go back to: see {@link Transaction#savepoint}. */
public final class Savepoint {
  private final int depth;

  Savepoint(int depth) {
    this.depth = depth;
  }

  int depth() {
    return depth;
  }
}
