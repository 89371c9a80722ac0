package io.isobardb.kafka;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.metrics.Sensor;
import org.apache.kafka.streams.StreamsConfig.InternalConfig;
import org.apache.kafka.streams.processor.StateRestoreCallback;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.apache.kafka.streams.processor.internals.ChangelogRecordDeserializationHelper;
import org.apache.kafka.streams.processor.internals.RecordBatchingStateRestoreCallback;
import org.apache.kafka.streams.processor.internals.metrics.StreamsMetricsImpl;
import org.apache.kafka.streams.processor.internals.metrics.TaskMetrics;
import org.apache.kafka.streams.state.internals.CachingWindowStore;
import org.apache.kafka.streams.state.internals.KeyValueToTimestampedKeyValueByteStoreAdapter;
import org.apache.kafka.streams.state.internals.WrappedStateStore;
import org.jspecify.annotations.Nullable;

/**
 * What is not in Kafka's public packages: timestamps and positions of restored records, the metric
 * of dropped ones, and what lies before a state store. The one class that uses those packages. A
 * Kafka in which they are otherwise throws {@link LinkageError}; all works without but versioned
 * stores.
 */
final class KafkaInternals {
  private static final byte[] NOTHING = new byte[0];

  private KafkaInternals() {}

  static StateRestoreCallback restoring(
      AbstractStore store, StateTree tree, Map<String, ?> config) {
    boolean positions =
        InternalConfig.getBoolean(
            new HashMap<>(config), InternalConfig.IQ_CONSISTENCY_OFFSET_VECTOR_ENABLED, false);
    // It does nothing, and shows now whether it is there.
    ChangelogRecordDeserializationHelper.applyChecksAndUpdatePosition(
        new ConsumerRecord<>("", 0, 0, NOTHING, NOTHING), false, tree.position());
    RecordBatchingStateRestoreCallback callback =
        records -> {
          List<AbstractStore.Restored> restored = new ArrayList<>(records.size());
          records.forEach(
              record ->
                  restored.add(
                      new AbstractStore.Restored(
                          record.key(), record.value(), record.timestamp())));
          synchronized (tree.position()) {
            store.restoreAll(restored);
            records.forEach(
                record ->
                    ChangelogRecordDeserializationHelper.applyChecksAndUpdatePosition(
                        record, positions, tree.position()));
          }
        };
    return callback;
  }

  /** Whether Kafka's cache of windows lies before a state store. */
  static boolean isCached(@Nullable StateStore root) {
    for (StateStore at = root;
        at instanceof WrappedStateStore<?, ?, ?> outer;
        at = outer.wrapped()) {
      if (at instanceof CachingWindowStore) {
        return true;
      }
    }
    return false;
  }

  /** Whether Kafka adds a timestamp to each value that a state store returns. */
  static boolean addsTimestamps(@Nullable StateStore root) {
    StateStore at = root;
    while (at instanceof WrappedStateStore<?, ?, ?> outer) {
      at = outer.wrapped();
    }
    return at instanceof KeyValueToTimestampedKeyValueByteStoreAdapter;
  }

  /** What counts a record that came too late. */
  static Runnable dropped(StateStoreContext context) {
    Sensor sensor =
        TaskMetrics.droppedRecordsSensor(
            Thread.currentThread().getName(),
            context.taskId().toString(),
            (StreamsMetricsImpl) context.metrics());
    return sensor::record;
  }
}
