package io.isobardb.lsm.wal;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.event.StallSpan;
import io.isobardb.lsm.event.SyncSpan;
import io.isobardb.lsm.observe.StallReason;
import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedScheduler;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.memory.pool.PagePool;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.UUID;

/** A simulated disk and scheduler with logs that are opened in them, and what they replayed. */
final class LogWorld {
  static final UUID STORE = new UUID(0x1234_5678_9ABC_DEF0L, 42);
  static final LogOptions SMALL = new LogOptions(64 << 10, 16 << 10, true, 100_000_000L, 2);
  static final LogOptions SMALL_BUFFERED =
      new LogOptions(64 << 10, 16 << 10, false, 100_000_000L, 2);

  /** Is told what a log does, and does nothing about it. */
  static final LogListener QUIET =
      new LogListener() {
        @Override
        public void beforeSync() {}

        @Override
        public void onSynced(SyncSpan span, StoreListener.Sync sync) {}

        @Override
        public StallSpan beginStall(StallReason reason) {
          return StallSpan.start(reason, 0);
        }

        @Override
        public void endStall(StallSpan span) {}

        @Override
        public void countRefusal() {}

        @Override
        public void onFailed(Throwable cause) {}
      };

  /** One record, as written or as replayed. */
  record Entry(long lsn, byte kind, byte[] payload) {
    @Override
    public boolean equals(Object other) {
      return other instanceof Entry e
          && e.lsn == lsn
          && e.kind == kind
          && Arrays.equals(e.payload, payload);
    }

    @Override
    public int hashCode() {
      return Long.hashCode(lsn);
    }

    @Override
    public String toString() {
      return kind + "@" + lsn + "+" + payload.length;
    }
  }

  final SimulatedClock clock = new SimulatedClock();
  final SimulatedScheduler scheduler;
  final PagePool pool = new PagePool(64 << 20, 4096);
  final LogOptions options;
  SimulatedStorage storage;
  List<Entry> replayed = new ArrayList<>();

  LogWorld(LogOptions options, long seed) {
    this(options, seed, null);
  }

  LogWorld(LogOptions options, long seed, SimulatedStorage storage) {
    this.options = options;
    this.scheduler = new SimulatedScheduler(clock, seed);
    this.storage = storage == null ? new SimulatedStorage(clock) : storage;
  }

  Environment environment() {
    return new Environment(storage, clock, scheduler, new SplittableRandom(1));
  }

  Log open() throws IOException {
    return open(Lsn.FIRST);
  }

  Log open(long start) throws IOException {
    replayed = new ArrayList<>();
    Log.deleteSpares(storage);
    return new Log()
        .open(
            site(),
            options,
            LogExtent.from(start),
            whole((lsn, kind, bytes) -> replayed.add(new Entry(lsn, kind, bytes))));
  }

  /** Where the log is, of which nobody hears. */
  LogSite site() {
    return new LogSite(environment(), pool, STORE, QUIET);
  }

  /** Receives whole records, and markers, which have no payload. */
  @FunctionalInterface
  interface WholeRecords {
    void record(long lsn, byte kind, byte[] payload);
  }

  /** Puts the parts of records together. */
  static LogHandler whole(WholeRecords records) {
    ByteArrayOutputStream parts = new ByteArrayOutputStream();
    return (lsn, kind, payload, offset, length, rest) -> {
      byte[] part = new byte[length];
      payload.get(offset, part, 0, length);
      parts.writeBytes(part);
      if (rest == 0) {
        records.record(lsn, kind, parts.toByteArray());
        parts.reset();
      }
    };
  }

  /** Whether everything that was opened is closed and given back. */
  void close() {
    assertEquals(0, storage.openFiles());
    pool.close();
  }

  static Entry append(LogRecord record, byte[] payload) {
    long lsn = record.begin(payload.length);
    record.put(payload, 0, payload.length);
    record.complete();
    record.publish();
    return new Entry(lsn, LogHandler.BATCH, payload);
  }

  static Entry marker(Log log) {
    long lsn = log.reserveMarker();
    log.publishMarker(lsn);
    return new Entry(lsn, LogHandler.MARKER, new byte[0]);
  }

  static byte[] bytes(SplittableRandom random, int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    // Zeros are what torn and recycled blocks are full of.
    if (length > 8 && random.nextInt(3) == 0) {
      Arrays.fill(bytes, random.nextInt(length), length, (byte) 0);
    }
    return bytes;
  }

  /** Mostly small, sometimes larger than the ring of {@link #SMALL}. */
  static int length(SplittableRandom random) {
    return switch (random.nextInt(20)) {
      case 0 -> 0;
      case 1 -> random.nextInt(60_000);
      case 2, 3 -> random.nextInt(6_000);
      default -> random.nextInt(200);
    };
  }
}
