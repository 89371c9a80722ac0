package io.isobardb.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.observe.Figure;
import io.isobardb.memory.stats.Metric.Kind;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsMetrics;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Materialized;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The figures of a store and of its trees are among the metrics of Kafka Streams. */
@Tag("any-jdk")
class KafkaFiguresTest {
  @TempDir Path directory;

  @AfterEach
  void close() {
    assertEquals(0, IsobarStores.close(), "all state stores are closed");
  }

  private TopologyTestDriver driver(String level) {
    StreamsBuilder builder = new StreamsBuilder();
    builder.table(
        "input",
        Consumed.with(Serdes.String(), Serdes.String()),
        Materialized.as(IsobarStores.keyValueStore("latest")));
    Properties properties = new Properties();
    properties.put("application.id", "app");
    properties.put("bootstrap.servers", "none:1");
    properties.put("state.dir", directory.toString());
    properties.put("metrics.recording.level", level);
    properties.put("isobar.memoryBudget", "16MB");
    properties.put("isobar.ioMode", "BUFFERED");
    return new TopologyTestDriver(builder.build(), properties);
  }

  /** Those of a group, by name and tags. */
  private static Map<MetricName, Object> of(
      Map<MetricName, ? extends Metric> metrics, String group) {
    Map<MetricName, Object> found = new TreeMap<>((a, b) -> a.toString().compareTo(b.toString()));
    metrics.forEach(
        (name, metric) -> {
          if (name.group().equals(group)) {
            found.put(name, metric.metricValue());
          }
        });
    return found;
  }

  private static Set<String> names(List<? extends Figure<?>> figures) {
    return figures.stream()
        .filter(figure -> figure.metric().kind() != Kind.TEXT)
        .map(KafkaFigures::name)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static Set<String> names(Map<MetricName, Object> metrics) {
    return metrics.keySet().stream()
        .map(MetricName::name)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static Object value(Map<MetricName, Object> metrics, String name) {
    return metrics.entrySet().stream()
        .filter(entry -> entry.getKey().name().equals(name))
        .map(Map.Entry::getValue)
        .findAny()
        .orElseThrow();
  }

  @Test
  void aClientHasTheFiguresOfTheStoreAndThoseOfTreesIfItRecordsAtDebug() {
    try (TopologyTestDriver driver = driver("DEBUG")) {
      driver
          .createInputTopic("input", new StringSerializer(), new StringSerializer())
          .pipeInput("key", "value");
      Map<MetricName, Object> ofStore = of(driver.metrics(), KafkaFigures.OF_STORE);
      assertEquals(names(Figure.ofStore()), names(ofStore));
      assertEquals(16.0 * (1 << 20), value(ofStore, "memory-budget"));
      assertTrue(
          ofStore.keySet().stream()
              .anyMatch(
                  name ->
                      name.name().equals("memory-used")
                          && "WRITE".equals(name.tags().get("purpose"))));
      Map<MetricName, Object> ofTree = of(driver.metrics(), KafkaFigures.OF_STATE_STORE);
      assertEquals(names(Figure.ofTree()), names(ofTree));
      // What is read may be a second old.
      while (!value(of(driver.metrics(), KafkaFigures.OF_STATE_STORE), "tree-puts-total")
          .equals(1.0)) {
        LockSupport.parkNanos(20_000_000);
      }
      MetricName any = ofTree.keySet().iterator().next();
      assertEquals(Map.of("task-id", "0_0", "state-id", "latest"), any.tags());
    }
  }

  @Test
  void atInfoThereAreNoneOfTrees() {
    try (TopologyTestDriver driver = driver("INFO")) {
      assertEquals(names(Figure.ofStore()), names(of(driver.metrics(), KafkaFigures.OF_STORE)));
      assertEquals(Map.of(), of(driver.metrics(), KafkaFigures.OF_STATE_STORE));
    }
  }

  @Test
  void theyGoWithTheLastStateStoreOfTheClient() {
    MockTask task = new MockTask(directory, 0, Map.of());
    MockTask otherClient = new MockTask(directory, 1, Map.of());
    IsobarKeyValueStore one = task.open(new IsobarKeyValueStore("one"));
    IsobarKeyValueStore two = task.open(new IsobarKeyValueStore("two"));
    IsobarKeyValueStore other = otherClient.open(new IsobarKeyValueStore("one"));
    int ofStore = shown(task, KafkaFigures.OF_STORE);
    int ofTree = shown(task, KafkaFigures.OF_STATE_STORE) / 2;
    assertTrue(ofStore > 0 && ofTree > 0);
    assertEquals(ofStore, shown(otherClient, KafkaFigures.OF_STORE));
    one.close();
    assertEquals(ofStore, shown(task, KafkaFigures.OF_STORE));
    assertEquals(ofTree, shown(task, KafkaFigures.OF_STATE_STORE));
    two.close();
    assertEquals(0, shown(task, KafkaFigures.OF_STORE));
    assertEquals(0, shown(task, KafkaFigures.OF_STATE_STORE));
    assertEquals(ofStore, shown(otherClient, KafkaFigures.OF_STORE));
    other.close();
    assertEquals(0, shown(otherClient, KafkaFigures.OF_STORE));
  }

  private static int shown(MockTask task, String group) {
    StreamsMetrics metrics = task.context().metrics();
    return of(metrics.metrics(), group).size();
  }
}
