package io.isobardb.kafka;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.state.HeadersBytesStoreSupplier;
import org.apache.kafka.streams.state.KeyValueBytesStoreSupplier;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.SessionBytesStoreSupplier;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.VersionedBytesStoreSupplier;
import org.apache.kafka.streams.state.WindowBytesStoreSupplier;
import org.apache.kafka.streams.state.WindowStore;

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

  /**
   * As {@link org.apache.kafka.streams.state.Stores#persistentKeyValueStore}.
   *
   * @param name of the store; one of the topology has it
   * @return what {@code Stores} builds a store with
   */
  public static KeyValueBytesStoreSupplier keyValueStore(String name) {
    return new KeyValueSupplier(name, false);
  }

  /**
   * As {@link org.apache.kafka.streams.state.Stores#persistentTimestampedKeyValueStore}.
   *
   * @param name of the store; one of the topology has it
   * @return what {@code Stores} builds a store with
   */
  public static KeyValueBytesStoreSupplier timestampedKeyValueStore(String name) {
    return new KeyValueSupplier(name, true);
  }

  /**
   * As {@link org.apache.kafka.streams.state.Stores#persistentTimestampedKeyValueStoreWithHeaders}.
   *
   * @param name of the store; one of the topology has it
   * @return what {@code Stores} builds a store with
   */
  public static KeyValueBytesStoreSupplier timestampedKeyValueStoreWithHeaders(String name) {
    return new KeyValueWithHeadersSupplier(name);
  }

  /**
   * As {@link org.apache.kafka.streams.state.Stores#persistentWindowStore}.
   *
   * @param name of the store; one of the topology has it
   * @param retentionPeriod how long entries are kept by stream time, in whole milliseconds
   * @param windowSize of the windows, in whole milliseconds, no longer than they are kept
   * @param retainDuplicates whether equal keys of a window are all kept, as joins want it
   * @return what {@code Stores} builds a store with
   */
  public static WindowBytesStoreSupplier windowStore(
      String name, Duration retentionPeriod, Duration windowSize, boolean retainDuplicates) {
    return windows(name, retentionPeriod, windowSize, retainDuplicates, false, Format.PLAIN);
  }

  /**
   * As {@link org.apache.kafka.streams.state.Stores#persistentTimestampedWindowStore}.
   *
   * @param name of the store; one of the topology has it
   * @param retentionPeriod how long entries are kept by stream time, in whole milliseconds
   * @param windowSize of the windows, in whole milliseconds, no longer than they are kept
   * @param retainDuplicates whether equal keys of a window are all kept, as joins want it
   * @return what {@code Stores} builds a store with
   */
  public static WindowBytesStoreSupplier timestampedWindowStore(
      String name, Duration retentionPeriod, Duration windowSize, boolean retainDuplicates) {
    return windows(name, retentionPeriod, windowSize, retainDuplicates, false, Format.TIMESTAMPED);
  }

  /**
   * As {@link org.apache.kafka.streams.state.Stores#persistentTimestampedWindowStoreWithHeaders}.
   *
   * @param name of the store; one of the topology has it
   * @param retentionPeriod how long entries are kept by stream time, in whole milliseconds
   * @param windowSize of the windows, in whole milliseconds, no longer than they are kept
   * @param retainDuplicates whether equal keys of a window are all kept, as joins want it
   * @return what {@code Stores} builds a store with
   */
  public static WindowBytesStoreSupplier timestampedWindowStoreWithHeaders(
      String name, Duration retentionPeriod, Duration windowSize, boolean retainDuplicates) {
    return windows(name, retentionPeriod, windowSize, retainDuplicates, false, Format.HEADERS);
  }

  /**
   * As {@link org.apache.kafka.streams.state.Stores#persistentSessionStore}.
   *
   * @param name of the store; one of the topology has it
   * @param retentionPeriod how long entries are kept by stream time, in whole milliseconds
   * @return what {@code Stores} builds a store with
   */
  public static SessionBytesStoreSupplier sessionStore(String name, Duration retentionPeriod) {
    return sessions(name, retentionPeriod, false, Format.PLAIN);
  }

  /**
   * As {@link org.apache.kafka.streams.state.Stores#persistentSessionStoreWithHeaders}.
   *
   * @param name of the store; one of the topology has it
   * @param retentionPeriod how long entries are kept by stream time, in whole milliseconds
   * @return what {@code Stores} builds a store with
   */
  public static SessionBytesStoreSupplier sessionStoreWithHeaders(
      String name, Duration retentionPeriod) {
    return sessions(name, retentionPeriod, false, Format.HEADERS);
  }

  /**
   * As {@link org.apache.kafka.streams.state.Stores#persistentVersionedKeyValueStore}.
   *
   * @param name of the store; one of the topology has it
   * @param historyRetention how long former versions of a key are kept, in whole milliseconds
   * @return what {@code Stores} builds a store with
   */
  public static VersionedBytesStoreSupplier versionedKeyValueStore(
      String name, Duration historyRetention) {
    long retention = millis(historyRetention, "historyRetention");
    return new VersionedSupplier(
        Objects.requireNonNull(name, "name cannot be null"),
        retention,
        IsobarVersionedStore.segmentInterval(retention));
  }

  /**
   * As {@link org.apache.kafka.streams.state.Stores#persistentVersionedKeyValueStore}, with a span
   * of segments.
   *
   * @param name of the store; one of the topology has it
   * @param historyRetention how long former versions of a key are kept, in whole milliseconds
   * @param segmentInterval by which spans of time former versions are dropped, 1 ms or more
   * @return what {@code Stores} builds a store with
   */
  public static VersionedBytesStoreSupplier versionedKeyValueStore(
      String name, Duration historyRetention, Duration segmentInterval) {
    long interval = millis(segmentInterval, "segmentInterval");
    if (interval < 1) {
      throw new IllegalArgumentException("segmentInterval cannot be zero or negative");
    }
    return new VersionedSupplier(
        Objects.requireNonNull(name, "name cannot be null"),
        millis(historyRetention, "historyRetention"),
        interval);
  }

  /** What comes before the value proper. */
  enum Format {
    PLAIN,
    TIMESTAMPED,
    HEADERS
  }

  static KeyValueBytesStoreSupplier keyValues(String name, Format format) {
    return switch (format) {
      case PLAIN -> keyValueStore(name);
      case TIMESTAMPED -> timestampedKeyValueStore(name);
      case HEADERS -> timestampedKeyValueStoreWithHeaders(name);
    };
  }

  static WindowBytesStoreSupplier windows(
      String name,
      Duration retentionPeriod,
      Duration windowSize,
      boolean retainDuplicates,
      boolean byTime,
      Format format) {
    Objects.requireNonNull(name, "name cannot be null");
    long retention = millis(retentionPeriod, "retentionPeriod");
    long size = millis(windowSize, "windowSize");
    if (size > retention) {
      throw new IllegalArgumentException(
          "the retention of window store "
              + name
              + ", "
              + retention
              + " ms, must not be less than the size of its windows, "
              + size
              + " ms");
    }
    IsobarWindowStore.Kind kind =
        new IsobarWindowStore.Kind(name, retention, size, retainDuplicates, byTime);
    return format == Format.HEADERS
        ? new WindowWithHeadersSupplier(kind)
        : new WindowSupplier(kind, format == Format.TIMESTAMPED);
  }

  static SessionBytesStoreSupplier sessions(
      String name, Duration retentionPeriod, boolean byTime, Format format) {
    Objects.requireNonNull(name, "name cannot be null");
    long retention = millis(retentionPeriod, "retentionPeriod");
    return format == Format.HEADERS
        ? new SessionWithHeadersSupplier(name, retention, byTime)
        : new SessionSupplier(name, retention, byTime);
  }

  private static long millis(Duration duration, String what) {
    long millis;
    try {
      millis = Objects.requireNonNull(duration, what).toMillis();
    } catch (ArithmeticException e) {
      throw new IllegalArgumentException(what + " is too long: " + duration, e);
    }
    if (millis < 0) {
      throw new IllegalArgumentException(what + " cannot be negative: " + duration);
    }
    return millis;
  }

  /**
   * Copies all state of the one store that is open, as it is at one moment; see {@link
   * io.isobardb.lsm.Store#checkpointTo}. What Kafka has not committed to transactional state stores
   * is not in it. Another process may read the copy by {@link io.isobardb.lsm.Store#openReadOnly}.
   *
   * @param directory empty or not there yet
   * @throws IllegalStateException if none is open, or several are, with their directories
   */
  public static void checkpointTo(Path directory) {
    SharedStore.onlyOne().store().checkpointTo(directory);
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

  static class WindowSupplier implements WindowBytesStoreSupplier {
    final IsobarWindowStore.Kind kind;
    private final boolean isTimestamped;

    WindowSupplier(IsobarWindowStore.Kind kind, boolean isTimestamped) {
      this.kind = kind;
      this.isTimestamped = isTimestamped;
    }

    @Override
    public WindowStore<Bytes, byte[]> get() {
      return ToldRetention.of(store(), kind.retention());
    }

    WindowStore<Bytes, byte[]> store() {
      return isTimestamped ? new IsobarWindowStore.Timestamped(kind) : new IsobarWindowStore(kind);
    }

    @Override
    public String name() {
      return kind.name();
    }

    @Override
    public String metricsScope() {
      return SCOPE + "-window";
    }

    @Override
    public long segmentIntervalMs() {
      return SegmentedStore.segmentInterval(kind.retention());
    }

    @Override
    public long windowSize() {
      return kind.windowSize();
    }

    @Override
    public boolean retainDuplicates() {
      return kind.duplicates();
    }

    @Override
    public long retentionPeriod() {
      return kind.retention();
    }

    @Override
    public String toString() {
      return "IsobarStores: " + kind;
    }
  }

  private static final class WindowWithHeadersSupplier extends WindowSupplier
      implements HeadersBytesStoreSupplier {
    WindowWithHeadersSupplier(IsobarWindowStore.Kind kind) {
      super(kind, true);
    }

    @Override
    WindowStore<Bytes, byte[]> store() {
      return new IsobarWindowStore.WithHeaders(kind);
    }
  }

  private record VersionedSupplier(String name, long historyRetentionMs, long segmentInterval)
      implements VersionedBytesStoreSupplier {
    @Override
    public KeyValueStore<Bytes, byte[]> get() {
      return new IsobarVersionedStore(name, historyRetentionMs, segmentInterval);
    }

    @Override
    public String metricsScope() {
      return SCOPE;
    }
  }

  private record SessionSupplier(String name, long retentionPeriod, boolean byTime)
      implements SessionBytesStoreSupplier {
    @Override
    public SessionStore<Bytes, byte[]> get() {
      SessionStore<Bytes, byte[]> store = new IsobarSessionStore(name, retentionPeriod, byTime);
      return ToldRetention.of(store, retentionPeriod);
    }

    @Override
    public String metricsScope() {
      return SCOPE + "-session";
    }

    @Override
    public long segmentIntervalMs() {
      return SegmentedStore.segmentInterval(retentionPeriod);
    }
  }

  private record SessionWithHeadersSupplier(String name, long retentionPeriod, boolean byTime)
      implements SessionBytesStoreSupplier, HeadersBytesStoreSupplier {
    @Override
    public SessionStore<Bytes, byte[]> get() {
      SessionStore<Bytes, byte[]> store =
          new IsobarSessionStore.WithHeaders(name, retentionPeriod, byTime);
      return ToldRetention.of(store, retentionPeriod);
    }

    @Override
    public String metricsScope() {
      return SCOPE + "-session";
    }

    @Override
    public long segmentIntervalMs() {
      return SegmentedStore.segmentInterval(retentionPeriod);
    }
  }
}
