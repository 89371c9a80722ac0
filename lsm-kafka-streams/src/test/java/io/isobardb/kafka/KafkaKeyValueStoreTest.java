package io.isobardb.kafka;

import java.io.IOException;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.internals.AbstractKeyValueStoreTest;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;

/** Kafka's own tests of key-value stores. */
@Tag("any-jdk")
class KafkaKeyValueStoreTest extends AbstractKeyValueStoreTest {
  @AfterAll
  static void deleteStore() throws IOException {
    TestSuppliers.delete();
  }

  @Override
  @SuppressWarnings("unchecked")
  protected <K, V> KeyValueStore<K, V> createKeyValueStore(StateStoreContext context) {
    KeyValueStore<K, V> store =
        Stores.keyValueStoreBuilder(
                TestSuppliers.keyValues("my-store"),
                (Serde<K>) context.keySerde(),
                (Serde<V>) context.valueSerde())
            .build();
    store.init(context, store);
    return store;
  }
}
