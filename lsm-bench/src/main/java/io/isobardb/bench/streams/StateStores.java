package io.isobardb.bench.streams;

import io.isobardb.kafka.IsobarDslStoreSuppliers;
import io.isobardb.kafka.IsobarStores;
import io.isobardb.lsm.Store;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.streams.DslStoreFormat;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.kstream.EmitStrategy;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.internals.ProcessorRecordContext;
import org.apache.kafka.streams.processor.internals.metrics.StreamsMetricsImpl;
import org.apache.kafka.streams.state.BuiltInDslStoreSuppliers.RocksDBDslStoreSuppliers;
import org.apache.kafka.streams.state.DslKeyValueParams;
import org.apache.kafka.streams.state.DslStoreSuppliers;
import org.apache.kafka.streams.state.DslWindowParams;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.WindowStore;
import org.apache.kafka.test.InternalMockProcessorContext;
import org.apache.kafka.test.MockRecordCollector;
import org.jspecify.annotations.Nullable;

/**
 * Tasks, and what makes their state stores. What Kafka puts around a state store (serializers,
 * metrics, its own cache) is left out: it is the same for all engines.
 *
 * <p>Thread rule: a task and its state stores belong to one thread.
 */
final class StateStores {
  private static final String APPLICATION = "bench";
  private static final String INPUT = "input";

  private final StreamsSpec spec;
  private final DslStoreSuppliers suppliers;
  private final StreamsConfig config;
  private final StreamsMetricsImpl metrics =
      new StreamsMetricsImpl(new Metrics(), APPLICATION, Time.SYSTEM);
  private final List<Task> tasks = new ArrayList<>();

  StateStores(StreamsSpec spec) {
    this.spec = spec;
    Properties properties = new Properties();
    properties.putAll(spec.properties());
    properties.put(StreamsConfig.APPLICATION_ID_CONFIG, APPLICATION);
    properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
    properties.put(StreamsConfig.STATE_DIR_CONFIG, spec.dir().toString());
    switch (spec.engine()) {
      case ISOBAR -> {
        suppliers = new IsobarDslStoreSuppliers();
        if (spec.memoryBytes() > 0) {
          properties.put("isobar.memoryBudget", String.valueOf(spec.memoryBytes()));
        }
      }
      case ROCKSDB -> suppliers = new RocksDBDslStoreSuppliers();
      case ROCKSDB_LIMITED -> {
        suppliers = new RocksDBDslStoreSuppliers();
        properties.put(StreamsConfig.ROCKSDB_CONFIG_SETTER_CLASS_CONFIG, SharedLimit.class);
        properties.put(SharedLimit.MEMORY, String.valueOf(spec.memoryBytes()));
      }
      default -> throw new IllegalStateException(spec.engine().label());
    }
    config = new StreamsConfig(properties);
    for (int i = 0; i < spec.partitions(); i++) {
      tasks.add(new Task(i));
    }
  }

  List<Task> tasks() {
    return tasks;
  }

  /** A task of the one subtopology there is. */
  final class Task {
    private final InternalMockProcessorContext<?, ?> context;
    private final TaskId id;
    private final RecordHeaders headers = new RecordHeaders();
    private long offset;

    Task(int partition) {
      id = new TaskId(0, partition);
      MockRecordCollector collector = new MockRecordCollector();
      context =
          new InternalMockProcessorContext<>(
              directory().toFile(),
              Serdes.Bytes(),
              Serdes.ByteArray(),
              metrics,
              config,
              () -> collector,
              null,
              Time.SYSTEM,
              id);
    }

    Path directory() {
      return spec.dir().resolve(APPLICATION).resolve(id.toString());
    }

    InternalMockProcessorContext<?, ?> context() {
      return context;
    }

    /** Goes on to the next record of the input: what is written then comes of it. */
    void next() {
      context.setRecordContext(
          new ProcessorRecordContext(0, offset++, id.partition(), INPUT, headers));
    }

    Held<KeyValueStore<Bytes, byte[]>> keyValues(String name) {
      return new Held<>(
          this, suppliers.keyValueStore(new DslKeyValueParams(name, DslStoreFormat.PLAIN)).get());
    }

    Held<WindowStore<Bytes, byte[]>> windows(String name, Duration retention, Duration size) {
      return new Held<>(
          this,
          suppliers
              .windowStore(
                  new DslWindowParams(
                      name,
                      retention,
                      size,
                      false,
                      EmitStrategy.onWindowUpdate(),
                      false,
                      DslStoreFormat.PLAIN))
              .get());
    }
  }

  /** A state store and how far its changelog is. */
  static final class Held<S extends StateStore> {
    private final Task task;
    private final S store;
    private final TopicPartition changelog;
    private long written;

    private Held(Task task, S store) {
      this.task = task;
      this.store = store;
      changelog =
          new TopicPartition(APPLICATION + "-" + store.name() + "-changelog", task.id.partition());
    }

    S store() {
      return store;
    }

    Task task() {
      return task;
    }

    TopicPartition changelog() {
      return changelog;
    }

    /** Goes on to the next record of the input, which adds one to the changelog. */
    void next() {
      task.next();
      written++;
    }

    void open() throws IOException {
      Files.createDirectories(task.directory());
      store.init(task.context(), store);
    }

    void commit() {
      store.commit(Map.of(changelog, written));
    }

    void close() {
      store.close();
    }
  }

  /** Isobar's open store, null if there is none; its handle is nothing that users have. */
  static @Nullable Store shared() {
    try {
      Class<?> shared = Class.forName("io.isobardb.kafka.SharedStore");
      Method onlyOne = shared.getDeclaredMethod("onlyOne");
      Method store = shared.getDeclaredMethod("store");
      onlyOne.setAccessible(true);
      store.setAccessible(true);
      return (Store) store.invoke(onlyOne.invoke(null));
    } catch (InvocationTargetException e) {
      return null;
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("lsm-kafka-streams has changed", e);
    }
  }

  /** Waits until Isobar's store has flushed and merged what it is going to. */
  void awaitQuiet() {
    Store store = spec.engine() == StreamsEngine.ISOBAR ? shared() : null;
    if (store != null) {
      store.awaitQuiet();
    }
  }

  /** Closes Isobar's store, whose state stores are closed. */
  void closeShared() {
    if (spec.engine() == StreamsEngine.ISOBAR && IsobarStores.close() > 0) {
      throw new IllegalStateException("state stores are still open");
    }
  }

  /** The directory of Isobar's store. */
  Path sharedDirectory() {
    return spec.dir().resolve(APPLICATION).resolve("isobar");
  }
}
