package io.isobardb.bench.streams;

import io.isobardb.bench.drive.Dataset;
import io.isobardb.bench.process.Events;
import io.isobardb.bench.streams.StateStores.Held;
import java.io.IOException;
import java.time.Duration;
import org.HdrHistogram.Histogram;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.WindowStore;

/**
 * Lets segments of window stores expire: a small and a large one, and then one after the other with
 * few records each, without and with an iterator held since before.
 */
final class ExpireLoad {
  private static final int KEY_BYTES = 16;
  private static final int DIGITS = 3;
  private static final int SEGMENT_RECORDS = 100;
  private static final int SMALL_SHARE = 10;
  private static final int STAGES = 5;
  private static final Duration SEGMENT = Duration.ofMinutes(1);
  private static final Duration RETENTION = Duration.ofMinutes(2);
  private static final long BEGIN = Duration.ofDays(1).toMillis();

  private final StreamsSpec spec;
  private final Events events;
  private final StateStores stores;
  private final Dataset data;

  ExpireLoad(StreamsSpec spec, Events events) {
    this.spec = spec;
    this.events = events;
    stores = new StateStores(spec);
    data = new Dataset(KEY_BYTES, spec.valueBytes());
  }

  void run() throws IOException {
    expireOne("a segment of %,d records", spec.records() / SMALL_SHARE);
    expireOne("a segment of %,d records", spec.records());
    expireMany("many", false);
    expireMany("many-held", true);
    stores.closeShared();
  }

  private Held<WindowStore<Bytes, byte[]>> open(String name) throws IOException {
    Held<WindowStore<Bytes, byte[]>> held = stores.tasks().get(0).windows(name, RETENTION, SEGMENT);
    held.open();
    return held;
  }

  private void put(Held<WindowStore<Bytes, byte[]>> held, long record, long time) {
    byte[] key = new byte[KEY_BYTES];
    byte[] value = new byte[spec.valueBytes()];
    data.key(record, key);
    data.value(record, time, value);
    held.next();
    held.store().put(Bytes.wrap(key), value, time);
  }

  private void expireOne(String name, long records) throws IOException {
    Held<WindowStore<Bytes, byte[]>> held = open("one-" + records);
    for (long record = 0; record < records; record++) {
      put(held, record, BEGIN);
      if (record % (1 << 16) == 0) {
        events.at("loading", record, records);
      }
    }
    held.commit();
    // What loading leaves behind is none of this. On a busy machine a merge looks idle, too.
    stores.awaitQuiet();
    new StepMeter(spec).end("load", records, new Histogram(DIGITS));
    StepMeter meter = new StepMeter(spec);
    put(held, 0, BEGIN + 2 * RETENTION.toMillis());
    events.send(
        "step",
        meter.end("expire " + String.format(name, records), 1, new Histogram(DIGITS)).toMap());
    held.close();
  }

  private void expireMany(String name, boolean isHeld) throws IOException {
    Held<WindowStore<Bytes, byte[]>> held = open(name);
    put(held, 0, BEGIN);
    KeyValueIterator<Windowed<Bytes>, byte[]> before = held.store().all();
    if (!before.hasNext()) {
      throw new IllegalStateException("what was put is not there");
    }
    if (!isHeld) {
      before.close();
    }
    long segments = spec.records() / SEGMENT_RECORDS;
    for (int stage = 0; stage < STAGES; stage++) {
      Histogram puts = new Histogram(DIGITS);
      Histogram reads = new Histogram(DIGITS);
      StepMeter meter = new StepMeter(spec);
      long first = stage * segments / STAGES;
      long end = (stage + 1) * segments / STAGES;
      for (long segment = first; segment < end; segment++) {
        long time = BEGIN + (segment + 1) * SEGMENT.toMillis();
        for (int record = 0; record < SEGMENT_RECORDS; record++) {
          long begin = System.nanoTime();
          put(held, record, time);
          puts.recordValue(System.nanoTime() - begin);
        }
        long begin = System.nanoTime();
        read(held, segment % SEGMENT_RECORDS, time);
        reads.recordValue(System.nanoTime() - begin);
      }
      String step =
          String.format("segments %,d to %,d%s", first, end, isHeld ? ", an iterator held" : "");
      events.send("step", meter.end(step, (end - first) * SEGMENT_RECORDS, puts).toMap());
      events.send("step", new StepResult(step + ": reads", StepMeter.latencies(reads)).toMap());
    }
    before.close();
    held.close();
  }

  /** A window of a key, and the windows of a key in what has not expired. */
  private void read(Held<WindowStore<Bytes, byte[]>> held, long record, long time) {
    byte[] key = new byte[KEY_BYTES];
    data.key(record, key);
    Bytes of = Bytes.wrap(key);
    int found = held.store().fetch(of, time) == null ? 0 : 1;
    try (var windows = held.store().fetch(of, time - RETENTION.toMillis(), time)) {
      while (windows.hasNext()) {
        windows.next();
        found++;
      }
    }
    if (found < 2) {
      throw new IllegalStateException("a window that has not expired is not there");
    }
  }
}
