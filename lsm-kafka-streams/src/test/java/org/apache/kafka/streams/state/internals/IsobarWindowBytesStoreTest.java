package org.apache.kafka.streams.state.internals;

import io.isobardb.kafka.TestSuppliers;
import java.io.IOException;
import java.time.Duration;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.WindowBytesStoreSupplier;
import org.apache.kafka.streams.state.WindowStore;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;

/** Kafka's own tests of window stores, whose hooks can only be reached from their package. */
@Tag("any-jdk")
class IsobarWindowBytesStoreTest extends AbstractWindowBytesStoreTest {
  @AfterAll
  static void deleteStore() throws IOException {
    TestSuppliers.delete();
  }

  WindowBytesStoreSupplier supplier(Duration retention, Duration size, boolean duplicates) {
    return TestSuppliers.windows(retention, size, duplicates, false);
  }

  @Override
  <K, V> WindowStore<K, V> buildWindowStore(
      long retentionPeriod,
      long windowSize,
      boolean retainDuplicates,
      Serde<K> keySerde,
      Serde<V> valueSerde) {
    return Stores.windowStoreBuilder(
            supplier(
                Duration.ofMillis(retentionPeriod),
                Duration.ofMillis(windowSize),
                retainDuplicates),
            keySerde,
            valueSerde)
        .build();
  }
}
