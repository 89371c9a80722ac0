package io.isobardb.bench.engine;

/** When a write or a commit may return, as the command line has it. */
public enum Durability {
  sync,
  async
}
