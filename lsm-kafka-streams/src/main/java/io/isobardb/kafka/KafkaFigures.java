package io.isobardb.kafka;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.error.StoreClosedException;
import io.isobardb.lsm.observe.Figure;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.observe.StoreStats.TreeStats;
import io.isobardb.memory.stats.Metric;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.metrics.MeasurableStat;
import org.apache.kafka.common.metrics.MetricConfig;
import org.apache.kafka.common.metrics.Sensor;
import org.apache.kafka.streams.StreamsMetrics;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The figures of a store, or those of one tree, among the metrics of a client of Kafka Streams.
 * Their names are those of {@link Figure}, with dashes; counters end with {@code -total}. Nothing
 * is recorded: the store is asked when a metric is read, at most once a second.
 *
 * <p>Thread rule: any thread may read the metrics; one thread adds and removes them.
 */
final class KafkaFigures {
  private static final Logger LOG = LoggerFactory.getLogger(KafkaFigures.class);

  /** The group of the metrics of a store. */
  static final String OF_STORE = "isobar-store-metrics";

  /** The group of the metrics of a state store. */
  static final String OF_STATE_STORE = "isobar-state-metrics";

  private final StreamsMetrics metrics;
  private final Sensor sensor;

  private KafkaFigures(StreamsMetrics metrics, Sensor sensor) {
    this.metrics = metrics;
    this.sensor = sensor;
  }

  /** Adds the figures of a store. */
  static KafkaFigures ofStore(StreamsMetrics metrics, Store store, Map<String, String> tags) {
    KafkaFigures added =
        new KafkaFigures(
            metrics, metrics.addSensor("isobar." + store.path(), Sensor.RecordingLevel.INFO));
    for (Figure<StoreStats> figure : Figure.ofStore()) {
      added.add(OF_STORE, figure, store::metrics, tags);
    }
    return added;
  }

  /**
   * Adds the figures of a tree, if the client records at level {@code DEBUG}; null if not.
   *
   * @param stats those of the tree; null if it is gone
   */
  static @Nullable KafkaFigures ofTree(
      StreamsMetrics metrics,
      String tree,
      Supplier<@Nullable TreeStats> stats,
      Map<String, String> tags) {
    Sensor sensor = metrics.addSensor("isobar." + tree, Sensor.RecordingLevel.DEBUG);
    KafkaFigures added = new KafkaFigures(metrics, sensor);
    if (!sensor.shouldRecord()) {
      added.remove();
      return null;
    }
    for (Figure<TreeStats> figure : Figure.ofTree()) {
      added.add(OF_STATE_STORE, figure, stats, tags);
    }
    return added;
  }

  private <S> void add(
      String group,
      Figure<S> figure,
      Supplier<? extends @Nullable S> stats,
      Map<String, String> tags) {
    Metric metric = figure.metric();
    if (metric.kind() == Metric.Kind.TEXT) {
      return;
    }
    if (metric.tag().isEmpty()) {
      add(group, figure, tags, () -> read(figure, stats));
      return;
    }
    for (Object key : map(read(figure, stats)).keySet()) {
      Map<String, String> one = new TreeMap<>(tags);
      one.put(metric.tag(), key.toString());
      add(group, figure, one, () -> map(read(figure, stats)).get(key));
    }
  }

  private void add(
      String group, Figure<?> figure, Map<String, String> tags, Supplier<@Nullable Object> value) {
    MetricName name = new MetricName(name(figure), group, figure.metric().value(), tags);
    try {
      sensor.add(name, new Reading(value));
    } catch (IllegalArgumentException e) {
      LOG.warn("the metric {} is there already", name, e);
    }
  }

  /** What Kafka calls a figure. */
  static String name(Figure<?> figure) {
    String dashed = figure.name().replace('.', '-');
    return figure.metric().kind() == Metric.Kind.COUNTER ? dashed + "-total" : dashed;
  }

  /** Removes them. */
  void remove() {
    metrics.removeSensor(sensor);
  }

  /** Reads a value when it is asked for. */
  private record Reading(Supplier<@Nullable Object> value) implements MeasurableStat {
    @Override
    public void record(MetricConfig config, double recorded, long timeMillis) {}

    @Override
    public double measure(MetricConfig config, long now) {
      return value.get() instanceof Number number ? number.doubleValue() : Double.NaN;
    }
  }

  /** The values of a figure that has a tag; empty if it could not be read. */
  private static Map<?, ?> map(@Nullable Object value) {
    return value instanceof Map<?, ?> map ? map : Map.of();
  }

  /** The value of a figure; null if the store was closed, or the tree dropped. */
  private static <S> @Nullable Object read(
      Figure<S> figure, Supplier<? extends @Nullable S> stats) {
    try {
      S now = stats.get();
      return now == null ? null : figure.of(now);
    } catch (StoreClosedException e) {
      return null;
    }
  }
}
