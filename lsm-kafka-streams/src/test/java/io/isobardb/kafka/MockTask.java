package io.isobardb.kafka;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.api.MockProcessorContext;
import org.apache.kafka.streams.state.KeyValueStore;

/** A task by Kafka's public packages: it is the same in both releases. */
final class MockTask {
  private final MockProcessorContext<Void, Void> context;
  private final Path state;
  private final Path directory;

  /**
   * Makes a task.
   *
   * @param state the directory of all state
   * @param partition the number of the task
   * @param options beside those that all tests have
   */
  MockTask(Path state, int partition, Map<String, Object> options) {
    this.state = state;
    Map<String, Object> all = new HashMap<>();
    all.put("application.id", "app");
    all.put("bootstrap.servers", "none:1");
    all.put("state.dir", state.toString());
    all.put("isobar.memoryBudget", "16MB");
    all.put("isobar.ioMode", "BUFFERED");
    // A process that was stopped for a while still finds the store open.
    all.put("isobar.streams.linger.ms", "60000");
    all.putAll(options);
    Properties properties = new Properties();
    properties.putAll(all);
    TaskId id = new TaskId(0, partition);
    directory = state.resolve(all.get("application.id").toString()).resolve(id.toString());
    context = new MockProcessorContext<>(properties, id, directory.toFile());
  }

  MockProcessorContext<Void, Void> context() {
    return context;
  }

  /** Where Kafka keeps the task's state. */
  Path directory() {
    return directory;
  }

  /** Where the store of all tasks lies, if nothing else was asked for. */
  Path storeDirectory() {
    return state.resolve("app").resolve("isobar").toAbsolutePath().normalize();
  }

  <S extends StateStore> S open(S store) {
    store.init(context.getStateStoreContext(), store);
    return store;
  }

  KeyValueStore<Bytes, byte[]> openCounts() {
    return open(IsobarStores.keyValueStore("counts").get());
  }

  /** Deletes the task's directory, as Kafka does. */
  void wipe() throws IOException {
    Utils.delete(directory.toFile());
  }
}
