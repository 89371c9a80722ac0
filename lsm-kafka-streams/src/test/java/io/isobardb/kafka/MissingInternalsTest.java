package io.isobardb.kafka;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.errors.InvalidStateStoreException;
import org.apache.kafka.streams.processor.BatchingStateRestoreCallback;
import org.apache.kafka.streams.processor.StateRestoreCallback;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.WindowStore;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A Kafka without one of the classes that are not public: all but versioned stores work. */
class MissingInternalsTest {
  @TempDir Path temp;

  /** What such an application does. */
  public static final class Application implements Consumer<Path> {
    @Override
    public void accept(Path directory) {
      SharedStore.openIn(new ManualSurroundings());
      List<StateRestoreCallback> restoring = new ArrayList<>();
      MockTask task = new MockTask(directory, 0, Map.of());
      KeyValueStore<Bytes, byte[]> counts = IsobarStores.keyValueStore("counts").get();
      counts.init(noting(task.context().getStateStoreContext(), restoring), counts);
      Bytes key = Bytes.wrap(new byte[] {1});
      restore(restoring.get(0), key.get(), new byte[] {2});
      assertArrayEquals(new byte[] {2}, counts.get(key));

      Duration retention = Duration.ofMinutes(4);
      WindowStore<Bytes, byte[]> windows =
          IsobarStores.windowStore("windows", retention, Duration.ofSeconds(1), false).get();
      task.open(windows);
      windows.put(key, new byte[] {3}, Duration.ofHours(1).toMillis());
      windows.put(key, new byte[] {4}, 0);
      assertEquals(null, windows.fetch(key, 0), "it came too late");

      KeyValueStore<Bytes, byte[]> versions =
          IsobarStores.versionedKeyValueStore("versions", retention).get();
      InvalidStateStoreException told =
          assertThrows(InvalidStateStoreException.class, () -> task.open(versions));
      assertTrue(told.getMessage().contains("versioned"), told.getMessage());
      windows.close();
      counts.close();
      assertEquals(0, IsobarStores.close());
    }
  }

  private static void restore(StateRestoreCallback callback, byte[] key, byte[] value) {
    ((BatchingStateRestoreCallback) callback).restoreAll(List.of(KeyValue.pair(key, value)));
  }

  /** A context that notes what restores a state store. */
  private static StateStoreContext noting(
      StateStoreContext of, List<StateRestoreCallback> restoring) {
    return (StateStoreContext)
        Proxy.newProxyInstance(
            StateStoreContext.class.getClassLoader(),
            new Class<?>[] {StateStoreContext.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("register")) {
                restoring.add((StateRestoreCallback) arguments[1]);
                return null;
              }
              return method.invoke(of, arguments);
            });
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "io.isobardb.kafka.KafkaInternals",
        "org.apache.kafka.streams.processor.internals.RecordBatchingStateRestoreCallback",
        "org.apache.kafka.streams.processor.internals.ChangelogRecordDeserializationHelper"
      })
  void allButVersionedStoresWorkWithout(String missing) throws Exception {
    Class<?> type = new Apart(missing).loadClass(Application.class.getName());
    @SuppressWarnings("unchecked")
    Consumer<Path> application = (Consumer<Path>) type.getConstructor().newInstance();
    application.accept(temp);
  }
}
