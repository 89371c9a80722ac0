package io.isobardb.bench.streams;

import io.isobardb.bench.drive.Dataset;
import io.isobardb.bench.engine.Directories;
import io.isobardb.bench.process.Events;
import io.isobardb.bench.streams.StateStores.Held;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.state.KeyValueStore;

/** Makes state stores, closes and opens them, and drops them, one by one in one thread. */
final class LifecycleLoad {
  private static final int KEY_BYTES = 16;
  private static final int DIGITS = 3;
  private static final int TOLD_EVERY = 100;

  private final StreamsSpec spec;
  private final Events events;
  private final StateStores stores;

  LifecycleLoad(StreamsSpec spec, Events events) {
    this.spec = spec;
    this.events = events;
    stores = new StateStores(spec);
  }

  private interface Act<T> {
    void on(T one) throws IOException;
  }

  void run() throws IOException {
    List<Held<KeyValueStore<Bytes, byte[]>>> first = named();
    step("create", first, Held::open);
    step("put and commit", first, this::put);
    step("close", first, Held::close);
    openAndClose(" again");
    stores.closeShared();
    // As after the process ended.
    openAndClose(", the store was closed");
    stores.closeShared();
    drop();
  }

  private void openAndClose(String when) throws IOException {
    List<Held<KeyValueStore<Bytes, byte[]>>> held = named();
    step("open" + when, held, Held::open);
    step("close" + when, held, Held::close);
  }

  private List<Held<KeyValueStore<Bytes, byte[]>>> named() {
    List<Held<KeyValueStore<Bytes, byte[]>>> held = new ArrayList<>();
    for (int i = 0; i < spec.stores(); i++) {
      held.add(stores.tasks().get(i % spec.partitions()).keyValues("values-" + i));
    }
    return held;
  }

  private void put(Held<KeyValueStore<Bytes, byte[]>> held) {
    Dataset data = new Dataset(KEY_BYTES, spec.valueBytes());
    for (long record = 0; record < spec.records() / spec.stores(); record++) {
      byte[] key = new byte[KEY_BYTES];
      byte[] value = new byte[spec.valueBytes()];
      data.key(record, key);
      data.value(record, spec.seed(), value);
      held.next();
      held.store().put(Bytes.wrap(key), value);
    }
    held.commit();
  }

  /** Kafka deletes the directories of tasks; Isobar's trees go in the background then. */
  private void drop() throws IOException {
    if (spec.engine() != StreamsEngine.ISOBAR) {
      step("drop", stores.tasks(), task -> Directories.delete(task.directory()));
      return;
    }
    StoreOptions.Builder options = StoreOptions.builder();
    if (spec.memoryBytes() > 0) {
      options.memoryBudget(spec.memoryBytes());
    }
    try (Store store = Store.open(stores.sharedDirectory(), options.build())) {
      // The ledger of all has no identity in its name.
      List<String> trees = store.treeNames().stream().filter(name -> name.contains(".")).toList();
      step("drop", trees, store::dropTree);
    }
  }

  private <T> void step(String name, List<T> all, Act<T> act) throws IOException {
    Histogram latencies = new Histogram(DIGITS);
    StepMeter meter = new StepMeter(spec);
    for (int i = 0; i < all.size(); i++) {
      long begin = System.nanoTime();
      act.on(all.get(i));
      latencies.recordValue(System.nanoTime() - begin);
      if (i % TOLD_EVERY == 0) {
        events.at(name, i, all.size());
      }
    }
    events.send("step", meter.end(name, spec.stores(), latencies).toMap());
  }
}
