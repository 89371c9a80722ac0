package io.isobardb.kafka;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.apache.kafka.streams.state.KeyValueBytesStoreSupplier;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.SessionBytesStoreSupplier;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.WindowBytesStoreSupplier;
import org.apache.kafka.streams.state.WindowStore;

/**
 * Suppliers for tests of Kafka's: what they make lies in one small store, whatever the test
 * configures, since opening one for each test takes longer than the test.
 */
public final class TestSuppliers {
  private static Path directory;

  private TestSuppliers() {}

  /** Deletes the store, once all state stores are closed. */
  public static synchronized void delete() throws IOException {
    IsobarStores.close();
    if (directory != null) {
      Utils.delete(directory.toFile());
      directory = null;
    }
  }

  private static synchronized Path directory() {
    if (directory == null) {
      try {
        directory = Files.createTempDirectory("isobar-streams");
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return directory;
  }

  private static StateStoreContext configured(StateStoreContext context) {
    Map<String, Object> options = new HashMap<>(context.appConfigs());
    options.put("isobar.streams.dir", directory().toString());
    options.put("isobar.memoryBudget", "16MB");
    options.put("isobar.ioMode", "BUFFERED");
    return (StateStoreContext)
        Proxy.newProxyInstance(
            TestSuppliers.class.getClassLoader(),
            new Class<?>[] {StateStoreContext.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("appConfigs")) {
                return options;
              }
              try {
                return method.invoke(context, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  /** Key-value stores. */
  public static KeyValueBytesStoreSupplier keyValues(String name) {
    return new KeyValueBytesStoreSupplier() {
      @Override
      public String name() {
        return name;
      }

      @Override
      public KeyValueStore<Bytes, byte[]> get() {
        return new IsobarKeyValueStore(name) {
          @Override
          public void init(StateStoreContext context, StateStore root) {
            super.init(configured(context), root);
          }
        };
      }

      @Override
      public String metricsScope() {
        return "isobar";
      }
    };
  }

  /** Windows; those by time are for what is emitted when they close. */
  public static WindowBytesStoreSupplier windows(
      Duration retention, Duration size, boolean duplicates, boolean byTime) {
    IsobarWindowStore.Kind kind =
        new IsobarWindowStore.Kind(
            "windows", retention.toMillis(), size.toMillis(), duplicates, byTime);
    return new IsobarStores.WindowSupplier(kind, false) {
      @Override
      public WindowStore<Bytes, byte[]> get() {
        return new IsobarWindowStore(kind) {
          @Override
          public void init(StateStoreContext context, StateStore root) {
            super.init(configured(context), root);
          }
        };
      }
    };
  }

  /** Sessions; those by time are for what is emitted when they close. */
  public static SessionBytesStoreSupplier sessions(Duration retention, boolean byTime) {
    return new SessionBytesStoreSupplier() {
      @Override
      public String name() {
        return "sessions";
      }

      @Override
      public SessionStore<Bytes, byte[]> get() {
        return new IsobarSessionStore("sessions", retention.toMillis(), byTime) {
          @Override
          public void init(StateStoreContext context, StateStore root) {
            super.init(configured(context), root);
          }
        };
      }

      @Override
      public String metricsScope() {
        return "isobar-session";
      }

      @Override
      public long segmentIntervalMs() {
        return SegmentedStore.segmentInterval(retention.toMillis());
      }

      @Override
      public long retentionPeriod() {
        return retention.toMillis();
      }
    };
  }
}
