package io.isobardb.bench.latency;

import io.isobardb.bench.drive.Dataset;
import io.isobardb.bench.engine.Session;
import io.isobardb.bench.latency.Arrivals.Arrival;
import io.isobardb.bench.record.Replay;
import io.isobardb.lsm.store.RecordingLayout;
import java.util.Arrays;

/** Serves the requests of a recording, as they were. */
final class ReplayClient implements Server {
  private static final int MOST_VALUE_BYTES = 1 << 20;

  private final Client.Timer timer;
  private final Session session;
  private final Replay replay;
  private final Dataset data = new Dataset(Client.KEY_BYTES, MOST_VALUE_BYTES);
  private final byte[] full = new byte[MOST_VALUE_BYTES];
  private final byte[] into = new byte[MOST_VALUE_BYTES];
  private final Latencies latencies = new Latencies();

  ReplayClient(Client.Timer timer, Session session, Replay replay) {
    this.timer = timer;
    this.session = session;
    this.replay = replay;
    // Values are pieces of this: what they hold is of no matter, and nothing of it compresses.
    data.value(0, 0, full);
  }

  @Override
  public void load(long from, long to, int step) {
    for (long record = from; record < to; record += step) {
      timer.begins(1);
      int at = (int) record;
      session.put(0, replay.recordKey(at), value(record, replay.recordBytes(at)));
      timer.ends();
    }
  }

  private byte[] value(long number, int bytes) {
    int spare = full.length - bytes;
    int from = spare == 0 ? 0 : (int) Long.remainderUnsigned(Dataset.mix(number), spare);
    return Arrays.copyOfRange(full, from, from + bytes);
  }

  @Override
  public void serve(Arrivals arrivals) {
    Arrival arrival = new Arrival();
    while (arrivals.next(timer.nanos(), arrival)) {
      timer.until(arrival.dueNanos);
      // A wait that is too short may be left out.
      long from = Math.min(arrival.dueNanos, timer.nanos());
      Kind kind = serve((int) arrival.number);
      timer.ends();
      latencies.record(kind, from, timer.nanos());
    }
  }

  private Kind serve(int operation) {
    byte[] key = replay.key(operation);
    int size = replay.size(operation);
    switch (replay.kind(operation)) {
      case RecordingLayout.GET -> {
        timer.begins(1);
        session.get(0, key, into);
        return Kind.READ;
      }
      case RecordingLayout.SCAN -> {
        timer.begins(Math.max(1, size));
        session.scan(0, key, Math.max(1, size), (k, keyLength, v, valueLength) -> {});
        return Kind.SCAN;
      }
      case RecordingLayout.DELETE -> {
        timer.begins(1);
        session.delete(0, key);
        return Kind.WRITE;
      }
      default -> {
        timer.begins(1);
        session.put(0, key, value(replay.number(operation) + operation, size));
        return Kind.WRITE;
      }
    }
  }

  @Override
  public Latencies latencies() {
    return latencies;
  }
}
