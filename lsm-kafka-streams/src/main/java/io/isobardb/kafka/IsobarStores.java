package io.isobardb.kafka;

import java.util.Objects;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.state.HeadersBytesStoreSupplier;
import org.apache.kafka.streams.state.KeyValueBytesStoreSupplier;
import org.apache.kafka.streams.state.KeyValueStore;

/**
 * Suppliers of state stores, as those of {@link org.apache.kafka.streams.state.Stores}, for what is
 * not made by the DSL.
 *
 * <pre>{@code
 * builder.addStateStore(
 *     Stores.keyValueStoreBuilder(
 *         IsobarStores.keyValueStore("visits"), Serdes.String(), Serdes.Long()));
 * }</pre>
 *
 * <p>All state stores of a process whose configuration names the same directory lie in one store.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class IsobarStores {
  private IsobarStores() {}

  /** As {@link org.apache.kafka.streams.state.Stores#persistentKeyValueStore}. */
  public static KeyValueBytesStoreSupplier keyValueStore(String name) {
    return new KeyValueSupplier(name, false);
  }

  /** As {@link org.apache.kafka.streams.state.Stores#persistentTimestampedKeyValueStore}. */
  public static KeyValueBytesStoreSupplier timestampedKeyValueStore(String name) {
    return new KeyValueSupplier(name, true);
  }

  /**
   * As {@link org.apache.kafka.streams.state.Stores#persistentTimestampedKeyValueStoreWithHeaders}.
   */
  public static KeyValueBytesStoreSupplier timestampedKeyValueStoreWithHeaders(String name) {
    return new KeyValueWithHeadersSupplier(name);
  }

  /**
   * Closes the stores that no state store uses. They would be closed a while after their last user,
   * and when the JVM ends.
   *
   * @return how many stores are in use, and stay open
   */
  public static int close() {
    return SharedStore.closeAllUnused();
  }

  private static final String SCOPE = "isobar";

  private record KeyValueSupplier(String name, boolean isTimestamped)
      implements KeyValueBytesStoreSupplier {
    private KeyValueSupplier {
      Objects.requireNonNull(name, "name cannot be null");
    }

    @Override
    public KeyValueStore<Bytes, byte[]> get() {
      return isTimestamped
          ? new IsobarKeyValueStore.Timestamped(name)
          : new IsobarKeyValueStore(name);
    }

    @Override
    public String metricsScope() {
      return SCOPE;
    }
  }

  private record KeyValueWithHeadersSupplier(String name)
      implements KeyValueBytesStoreSupplier, HeadersBytesStoreSupplier {
    private KeyValueWithHeadersSupplier {
      Objects.requireNonNull(name, "name cannot be null");
    }

    @Override
    public KeyValueStore<Bytes, byte[]> get() {
      return new IsobarKeyValueStore.WithHeaders(name);
    }

    @Override
    public String metricsScope() {
      return SCOPE;
    }
  }
}
