package io.isobardb.lsm.wal;

import io.isobardb.memory.page.Memory;

/** Receives the records of a log in the order of their LSNs while the log is opened. */
@FunctionalInterface
public interface LogHandler {
  /** A record written through {@link LogRecord}. */
  byte BATCH = RecordLayout.BATCH;

  /** The place of an unlogged write in the order; it has no payload. */
  byte MARKER = RecordLayout.MARKER;

  /**
   * A record, or a part of one that is larger than the memory it is read with. The parts of a
   * record come one after another, and the first only when the checksums of all of them were right.
   * Called by the opening thread.
   *
   * @param lsn the record's LSN
   * @param kind {@link #BATCH} or {@link #MARKER}
   * @param payload the region that holds the payload, valid during the call
   * @param offset where in {@code payload} it starts
   * @param length bytes of payload
   * @param rest bytes of the record's payload that follow in later calls; 0 in the last one
   */
  void record(long lsn, byte kind, Memory payload, int offset, int length, int rest);
}
