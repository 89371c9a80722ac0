package io.isobardb.kafka;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.internals.ProcessorRecordContext;
import org.apache.kafka.test.InternalMockProcessorContext;
import org.apache.kafka.test.MockRecordCollector;

/** A task of Kafka's, as far as state stores see it. */
final class TestTask {
  static final String APPLICATION = "app";

  private final InternalMockProcessorContext<?, ?> context;
  private final Path state;

  TestTask(Path directory, Map<String, Object> options) {
    this.state = directory.resolve("state");
    Map<String, Object> all = new HashMap<>();
    all.put("application.id", APPLICATION);
    all.put("bootstrap.servers", "none:1");
    all.put("state.dir", state.toString());
    all.put("isobar.memoryBudget", "16MB");
    all.put("isobar.ioMode", "BUFFERED");
    // A process that was stopped for a while still finds the store open.
    all.put("isobar.streams.linger.ms", "60000");
    all.putAll(options);
    Properties properties = new Properties();
    properties.putAll(all);
    Path task = state.resolve(all.get("application.id").toString()).resolve("0_0");
    context =
        new InternalMockProcessorContext<>(
            task.toFile(), new StreamsConfig(properties), new MockRecordCollector());
  }

  InternalMockProcessorContext<?, ?> context() {
    return context;
  }

  TaskId id() {
    return context.taskId();
  }

  /** Where Kafka keeps the task's state. */
  Path directory() {
    return context.stateDir().toPath();
  }

  Path storeDirectory() {
    return state.resolve(APPLICATION).resolve("isobar").toAbsolutePath().normalize();
  }

  <S extends StateStore> S open(S store) {
    store.init(context, store);
    return store;
  }

  /** What is written now comes of this record. */
  void at(String topic, int partition, long offset) {
    context.setRecordContext(
        new ProcessorRecordContext(0, offset, partition, topic, new RecordHeaders()));
  }
}
