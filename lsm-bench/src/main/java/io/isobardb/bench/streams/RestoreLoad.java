package io.isobardb.bench.streams;

import io.isobardb.bench.drive.Dataset;
import io.isobardb.bench.process.Events;
import io.isobardb.bench.streams.StateStores.Held;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.HdrHistogram.Histogram;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.state.KeyValueStore;

/**
 * Hands records of a changelog to state stores as Kafka does that restores them, and looks at what
 * is there then. Keys are drawn from as many as there are records, so that some have several.
 */
final class RestoreLoad {
  private static final int POLLED = 1000;
  private static final int KEY_BYTES = 16;
  private static final int CHECKED = 10_000;
  private static final int DIGITS = 3;
  private static final int CALLS_A_SECOND = 1000;

  private final StreamsSpec spec;
  private final Events events;
  private final Dataset data;
  private final SplittableRandom random;

  RestoreLoad(StreamsSpec spec, Events events) {
    this.spec = spec;
    this.events = events;
    data = new Dataset(KEY_BYTES, spec.valueBytes());
    random = new SplittableRandom(spec.seed());
  }

  void run() throws IOException {
    StateStores stores = new StateStores(spec);
    List<Held<KeyValueStore<Bytes, byte[]>>> held = new ArrayList<>();
    for (int i = 0; i < spec.stores(); i++) {
      held.add(stores.tasks().get(i % spec.partitions()).keyValues("values-" + i));
      held.get(i).open();
    }
    int keys = Math.toIntExact(Math.max(1, spec.records() / spec.stores()));
    // The version of the last value of each key, from 1.
    int[][] last = new int[spec.stores()][keys];
    Histogram latencies = new Histogram(DIGITS);
    StepMeter meter = new StepMeter(spec);
    long calls = spec.records() / POLLED;
    for (int call = 0; call < calls; call++) {
      int of = call % spec.stores();
      List<ConsumerRecord<byte[], byte[]>> polled = polled(held.get(of), call, last[of]);
      long begin = System.nanoTime();
      held.get(of).task().context().restoreWithHeaders(held.get(of).store().name(), polled);
      latencies.recordValue(System.nanoTime() - begin);
      if (call % CALLS_A_SECOND == 0) {
        meter.sample();
        events.at("restoring", call, calls);
      }
    }
    held.forEach(Held::commit);
    events.send("step", meter.end("restore of a record", calls * POLLED, latencies).toMap());
    for (int i = 0; i < spec.stores(); i++) {
      check(held.get(i), last[i]);
    }
    held.forEach(Held::close);
    stores.closeShared();
  }

  private List<ConsumerRecord<byte[], byte[]>> polled(Held<?> held, int call, int[] last) {
    List<ConsumerRecord<byte[], byte[]>> polled = new ArrayList<>(POLLED);
    for (int i = 0; i < POLLED; i++) {
      int record = random.nextInt(last.length);
      int version = call * POLLED + i + 1;
      last[record] = version;
      byte[] key = new byte[KEY_BYTES];
      byte[] value = new byte[spec.valueBytes()];
      data.key(record, key);
      data.value(record, version, value);
      held.next();
      polled.add(
          new ConsumerRecord<>(
              held.changelog().topic(),
              held.changelog().partition(),
              version,
              version,
              TimestampType.CREATE_TIME,
              KEY_BYTES,
              spec.valueBytes(),
              key,
              value,
              new RecordHeaders(),
              Optional.empty()));
    }
    return polled;
  }

  private void check(Held<KeyValueStore<Bytes, byte[]>> held, int[] last) {
    byte[] expected = new byte[spec.valueBytes()];
    for (int i = 0; i < CHECKED; i++) {
      int record = random.nextInt(last.length);
      byte[] key = new byte[KEY_BYTES];
      data.key(record, key);
      byte[] value = held.store().get(Bytes.wrap(key));
      if (last[record] == 0 ? value != null : value == null) {
        throw new IllegalStateException(
            "record " + record + (value == null ? " is gone" : " came"));
      }
      if (value != null) {
        data.value(record, last[record], expected);
        if (!Arrays.equals(value, expected)) {
          throw new IllegalStateException("record " + record + " has another value than its last");
        }
      }
    }
  }
}
