package org.apache.kafka.streams.state.internals;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.isobardb.kafka.TestSuppliers;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.apache.kafka.common.serialization.LongSerializer;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.errors.InvalidStateStoreException;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.kstream.internals.SessionWindow;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.SessionBytesStoreSupplier;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.Stores;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Kafka's own tests of session stores, whose hooks can only be reached from their package. */
@Tag("any-jdk")
class IsobarSessionBytesStoreTest extends AbstractSessionBytesStoreTest {
  @AfterAll
  static void deleteStore() throws IOException {
    TestSuppliers.delete();
  }

  SessionBytesStoreSupplier supplier(Duration retention) {
    return TestSuppliers.sessions(retention, false);
  }

  @Override
  StoreType storeType() {
    return StoreType.RocksDBSessionStore;
  }

  @Override
  <K, V> SessionStore<K, V> buildSessionStore(
      long retentionPeriod, Serde<K> keySerde, Serde<V> valueSerde) {
    return Stores.sessionStoreBuilder(
            supplier(Duration.ofMillis(retentionPeriod)), keySerde, valueSerde)
        .build();
  }

  /**
   * Kafka's reads from a store that is closed, which finds nothing there, and restores into it.
   * Here calls on a closed store throw, so it is opened again.
   */
  @Override
  @Test
  public void shouldRestore() {
    Windowed<String> first = new Windowed<>("a", new SessionWindow(0, 0));
    Windowed<String> second = new Windowed<>("a", new SessionWindow(1000, 1000));
    sessionStore.put(first, 1L);
    sessionStore.close();
    assertThrows(InvalidStateStoreException.class, () -> sessionStore.fetch("a"));

    sessionStore.init(context, sessionStore);
    context.restore(
        sessionStore.name(),
        List.of(
            KeyValue.pair(
                SessionKeySchema.toBinary(Bytes.wrap("a".getBytes(UTF_8)), 1000, 1000).get(),
                new LongSerializer().serialize("", 4L))));
    try (KeyValueIterator<Windowed<String>, Long> values = sessionStore.fetch("a")) {
      assertEquals(KeyValue.pair(first, 1L), values.next());
      assertEquals(KeyValue.pair(second, 4L), values.next());
      assertFalse(values.hasNext());
    }
  }
}
