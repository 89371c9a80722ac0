package io.isobardb.bench.latency;

import io.isobardb.bench.engine.Session;

/**
 * What a client sends its requests to.
 *
 * @param session gets, puts and scans
 * @param batches writes at once; not called if no requests write batches
 */
record Target(Session session, Batches batches) {
  /** Writes records at once. */
  interface Batches {
    /** They are on the device when it returns. Arrays are not kept. */
    void write(byte[][] keys, byte[][] values);
  }
}
