package io.isobardb.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertLinesMatch;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.TestInputTopic;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.kstream.CogroupedKStream;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.EmitStrategy;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.JoinWindows;
import org.apache.kafka.streams.kstream.Joined;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.SessionWindows;
import org.apache.kafka.streams.kstream.SlidingWindows;
import org.apache.kafka.streams.kstream.StreamJoined;
import org.apache.kafka.streams.kstream.Suppressed;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.kstream.UnlimitedWindows;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.api.ContextualFixedKeyProcessor;
import org.apache.kafka.streams.processor.api.FixedKeyRecord;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.ReadOnlyKeyValueStore;
import org.apache.kafka.streams.state.ReadOnlySessionStore;
import org.apache.kafka.streams.state.ReadOnlyWindowStore;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.VersionedBytesStoreSupplier;
import org.apache.kafka.streams.test.TestRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Each stateful operator of the DSL, with windows, times and sizes of the cache drawn at random,
 * gives the same on Isobar as on Kafka's stores: what comes out, the changelogs, and what the state
 * stores show. Times lie on the bounds of windows, grace and retention, and a millisecond beside
 * them. Some records become several within one transaction, which Kafka's cache holds back.
 *
 * <p>{@code -Disobar.streams.seeds=100} runs as many seeds for each operator, and {@code
 * -Disobar.streams.first=N} begins with the N-th.
 */
@Tag("any-jdk")
class OperatorsTest {
  private static final int FIRST = Integer.getInteger("isobar.streams.first", 0);
  private static final int SEEDS = Integer.getInteger("isobar.streams.seeds", 1);
  private static final int[] CACHES = {2_500, 0, 600, 1_000_000};
  private static final int RECORDS = 60;
  private static final Serde<String> TEXT = Serdes.String();
  private static final Duration SIZE = Duration.ofSeconds(10);
  private static final int[] BOUNDS = {0, 1, 5, 10, 10, 20, 60, 70, 190};

  @TempDir Path directory;

  @AfterEach
  void close() {
    assertEquals(0, IsobarStores.close(), "all state stores are closed");
  }

  /** A topology that is being built, the same way for both kinds of stores. */
  private static final class Building {
    final StreamsBuilder builder = new StreamsBuilder();
    final boolean isobar;
    final Random random;
    private int outputs;

    Building(boolean isobar, int seed) {
      this.isobar = isobar;
      this.random = new Random(seed);
    }

    KStream<String, String> stream(String topic) {
      return builder.stream(topic, Consumed.with(TEXT, TEXT)).processValues(Several::new);
    }

    KGroupedStream<String, String> grouped(String topic) {
      return stream(topic).groupByKey(Grouped.with(TEXT, TEXT));
    }

    KTable<String, String> table(String topic) {
      return stream(topic).toTable(Materialized.with(TEXT, TEXT));
    }

    KTable<String, String> versioned(String topic, String name) {
      Duration retention = Duration.ofMinutes(1);
      VersionedBytesStoreSupplier supplier =
          isobar
              ? IsobarStores.versionedKeyValueStore(name, retention)
              : Stores.persistentVersionedKeyValueStore(name, retention);
      return stream(topic)
          .toTable(
              Materialized.<String, String>as(supplier).withKeySerde(TEXT).withValueSerde(TEXT));
    }

    Duration grace() {
      return Duration.ofMillis(new int[] {0, 1, 5_000, 10_000, 60_000}[random.nextInt(5)]);
    }

    TimeWindows windows() {
      TimeWindows windows = TimeWindows.ofSizeAndGrace(SIZE, grace());
      return random.nextBoolean() ? windows : windows.advanceBy(Duration.ofSeconds(3));
    }

    SlidingWindows sliding() {
      return SlidingWindows.ofTimeDifferenceAndGrace(SIZE, grace());
    }

    SessionWindows sessions() {
      return SessionWindows.ofInactivityGapAndGrace(SIZE, grace());
    }

    JoinWindows joinWindows() {
      JoinWindows windows = JoinWindows.ofTimeDifferenceAndGrace(SIZE, grace());
      return switch (random.nextInt(3)) {
        case 0 -> windows.before(Duration.ZERO);
        case 1 -> windows.after(Duration.ZERO);
        default -> windows;
      };
    }

    void out(KStream<String, ?> stream) {
      int output = outputs++;
      stream
          .map((key, value) -> KeyValue.pair(output + " " + key, String.valueOf(value)))
          .to("output", Produced.with(TEXT, TEXT));
    }

    void out(KTable<String, ?> table) {
      out(table.toStream());
    }

    void windowed(KTable<Windowed<String>, ?> table) {
      out(table.toStream((key, value) -> key.toString()));
    }
  }

  /** Makes several records of one whose value is {@code time=value,time=value}. */
  private static final class Several extends ContextualFixedKeyProcessor<String, String, String> {
    @Override
    public void process(FixedKeyRecord<String, String> record) {
      if (record.value() == null || !record.value().contains("=")) {
        context().forward(record);
        return;
      }
      for (String part : record.value().split(",")) {
        String[] at = part.split("=");
        context().forward(record.withTimestamp(Long.parseLong(at[0])).withValue(at[1]));
      }
    }
  }

  private static final StreamJoined<String, String, String> JOINED =
      StreamJoined.with(TEXT, TEXT, TEXT);

  @Test
  void aggregatesOfStreams() {
    assertSame(
        at -> {
          KGroupedStream<String, String> grouped = at.grouped("left");
          at.out(grouped.count());
          at.out(grouped.reduce((a, b) -> a + b));
          at.out(
              grouped.aggregate(
                  () -> "",
                  (key, value, all) -> value.length() % 3 == 0 ? null : all + value,
                  Materialized.with(TEXT, TEXT)));
          CogroupedKStream<String, String> cogrouped =
              grouped
                  .<String>cogroup((key, value, all) -> all + value)
                  .cogroup(at.grouped("right"), (key, value, all) -> all + "/" + value);
          at.out(cogrouped.aggregate(() -> "", Materialized.with(TEXT, TEXT)));
        });
  }

  @Test
  void windows() {
    assertSame(at -> at.windowed(at.grouped("left").windowedBy(at.windows()).count()));
    assertSame(at -> at.windowed(at.grouped("left").windowedBy(at.sliding()).count()));
    assertSame(at -> at.windowed(at.grouped("left").windowedBy(at.sessions()).count()));
    assertSame(
        at ->
            at.windowed(
                at.grouped("left")
                    .windowedBy(UnlimitedWindows.of().startOn(Instant.ofEpochMilli(20_000)))
                    .reduce((a, b) -> a + b)));
  }

  @Test
  void finalResults() {
    EmitStrategy onClose = EmitStrategy.onWindowClose();
    assertSameUncached(
        at -> {
          KGroupedStream<String, String> grouped = at.grouped("left");
          at.windowed(grouped.windowedBy(at.windows()).emitStrategy(onClose).count());
          at.windowed(grouped.windowedBy(at.sliding()).emitStrategy(onClose).count());
          at.windowed(grouped.windowedBy(at.sessions()).emitStrategy(onClose).count());
        });
    assertSame(
        at ->
            at.windowed(
                at.grouped("left")
                    .windowedBy(at.windows())
                    .count()
                    .suppress(Suppressed.untilWindowCloses(Suppressed.BufferConfig.unbounded()))));
  }

  /** Old values are read for these when the cache is flushed. */
  @Test
  void tablesOfWindows() {
    assertSame(
        at ->
            at.out(
                at.grouped("left")
                    .windowedBy(at.windows())
                    .count()
                    .groupBy(
                        (window, count) -> KeyValue.pair(window.key(), count),
                        Grouped.with(TEXT, Serdes.Long()))
                    .reduce(Long::sum, (all, old) -> all - old)));
    assertSame(
        at ->
            at.out(
                at.grouped("left")
                    .windowedBy(at.sessions())
                    .reduce((a, b) -> a + b)
                    .groupBy(
                        (window, value) -> KeyValue.pair(window.key(), value),
                        Grouped.with(TEXT, TEXT))
                    .reduce((a, b) -> a + b, (all, old) -> all.replace(old, ""))));
  }

  @Test
  void joinsOfStreams() {
    assertSame(
        at -> {
          KStream<String, String> left = at.stream("left");
          KStream<String, String> right = at.stream("right");
          at.out(left.join(right, (a, b) -> a + "+" + b, at.joinWindows(), JOINED));
          at.out(left.leftJoin(right, (a, b) -> a + "-" + b, at.joinWindows(), JOINED));
          at.out(left.outerJoin(right, (a, b) -> a + "|" + b, at.joinWindows(), JOINED));
          at.out(left.join(left, (a, b) -> a + "*" + b, at.joinWindows(), JOINED));
        });
  }

  @Test
  void joinsWithTables() {
    assertSame(
        at -> {
          KStream<String, String> left = at.stream("left");
          Joined<String, String, String> joined = Joined.with(TEXT, TEXT, TEXT);
          at.out(left.leftJoin(at.table("right"), (a, b) -> a + "-" + b, joined));
        });
    assertSame(
        at -> {
          Joined<String, String, String> joined = Joined.with(TEXT, TEXT, TEXT);
          at.out(
              at.stream("left")
                  .filter((key, value) -> key != null) // Kafka's buffer takes no others
                  .leftJoin(
                      at.versioned("right", "versions"),
                      (a, b) -> a + "-" + b,
                      joined.withGracePeriod(at.grace())));
        });
  }

  @Test
  void tables() {
    assertSame(
        at -> {
          KTable<String, String> left = at.table("left");
          KTable<String, String> right = at.table("right");
          at.out(left.outerJoin(right, (a, b) -> a + "|" + b));
          at.out(left.leftJoin(right, OperatorsTest::foreignKey, (a, b) -> a + "-" + b));
          at.out(left.filter((key, value) -> value.length() % 2 == 0, Materialized.as("even")));
        });
    assertSame(
        at -> {
          KTable<String, String> left = at.versioned("left", "versions");
          KTable<String, String> right = at.versioned("right", "others");
          at.out(left.outerJoin(right, (a, b) -> a + "|" + b));
          at.out(left.leftJoin(right, OperatorsTest::foreignKey, (a, b) -> a + "-" + b));
        });
  }

  private static String foreignKey(String value) {
    return value == null || value.length() % 5 == 4 ? null : "k" + value.length() % 4;
  }

  private void assertSame(Consumer<Building> topology) {
    for (int seed = FIRST; seed < FIRST + SEEDS; seed++) {
      assertSame(topology, seed, CACHES[seed % CACHES.length]);
    }
  }

  /** Behind the cache final results come in another order than from Kafka's stores. */
  private void assertSameUncached(Consumer<Building> topology) {
    for (int seed = FIRST; seed < FIRST + SEEDS; seed++) {
      assertSame(topology, seed, 0);
    }
  }

  private void assertSame(Consumer<Building> topology, int seed, int cache) {
    List<String> kafkas = run(topology, seed, cache, false);
    assertFalse(kafkas.isEmpty());
    assertLinesMatch(
        kafkas, run(topology, seed, cache, true), "seed " + seed + ", cache of " + cache);
  }

  private Properties properties(boolean isobar, int cache) {
    Properties properties = new Properties();
    // Names of topics count in the cache: both are of one length.
    properties.put("application.id", isobar ? "ours" : "kafk");
    properties.put("bootstrap.servers", "none:1");
    properties.put("state.dir", directory.toString());
    properties.put("default.key.serde", Serdes.StringSerde.class);
    properties.put("default.value.serde", Serdes.StringSerde.class);
    properties.put("statestore.cache.max.bytes", cache);
    properties.put("__emit.interval.ms.kstreams.windowed.aggregation__", 0L);
    if (isobar) {
      properties.put("dsl.store.suppliers.class", IsobarDslStoreSuppliers.class.getName());
      properties.put("isobar.memoryBudget", "16MB");
      properties.put("isobar.ioMode", "BUFFERED");
    }
    return properties;
  }

  private List<String> run(Consumer<Building> topology, int seed, int cache, boolean isobar) {
    Building building = new Building(isobar, seed);
    topology.accept(building);
    building.stream("right");
    List<String> shown = new ArrayList<>();
    Properties properties = properties(isobar, cache);
    try (TopologyTestDriver driver =
        new TopologyTestDriver(building.builder.build(), properties, Instant.EPOCH)) {
      feed(driver, new Random(seed));
      for (TestRecord<String, String> record :
          driver
              .createOutputTopic("output", new StringDeserializer(), new StringDeserializer())
              .readRecordsToList()) {
        shown.add(record.key() + "=" + record.value() + "@" + record.timestamp());
      }
      for (Map.Entry<String, StateStore> store :
          new TreeMap<>(driver.getAllStateStores()).entrySet()) {
        shown.add(store.getKey() + ": " + show(store.getValue()));
      }
      for (String topic : new TreeSet<>(driver.producedTopicNames())) {
        if (topic.endsWith("-changelog")) {
          changelog(driver, topic).forEach(line -> shown.add(topic.substring(4) + line));
        }
      }
    }
    return shown;
  }

  private static List<String> changelog(TopologyTestDriver driver, String topic) {
    ByteArrayDeserializer bytes = new ByteArrayDeserializer();
    List<String> shown = new ArrayList<>();
    for (TestRecord<byte[], byte[]> record :
        driver.createOutputTopic(topic, bytes, bytes).readRecordsToList()) {
      shown.add(
          Arrays.toString(record.key())
              + "="
              + Arrays.toString(record.value())
              + "@"
              + record.timestamp());
    }
    return shown;
  }

  private static void feed(TopologyTestDriver driver, Random random) {
    List<TestInputTopic<String, String>> topics = new ArrayList<>();
    for (String name : List.of("left", "right")) {
      topics.add(driver.createInputTopic(name, new StringSerializer(), new StringSerializer()));
    }
    long now = random.nextInt(2) * 50_000L;
    for (int i = 0; i < RECORDS; i++) {
      now += random.nextBoolean() ? random.nextInt(15_000) : bound(random);
      String value = "v" + "x".repeat(random.nextInt(4)) + i;
      if (random.nextInt(9) == 0) {
        value = null;
      } else if (random.nextInt(3) == 0) {
        value = late(now, random) + "=" + value + "a," + late(now, random) + "=" + value + "b";
      }
      String key = random.nextInt(30) == 0 ? null : "k" + random.nextInt(4);
      topics.get(random.nextInt(2)).pipeInput(key, value, late(now, random));
    }
  }

  private static long bound(Random random) {
    return 1_000L * BOUNDS[random.nextInt(BOUNDS.length)];
  }

  /** A time that may come late, by the length of a window or so, and a millisecond more or less. */
  private static long late(long now, Random random) {
    long late = random.nextBoolean() ? 0 : bound(random);
    long at = random.nextBoolean() ? now : now / 1_000 * 1_000;
    return Math.max(0, at - late + random.nextInt(3) - 1);
  }

  private static String show(StateStore store) {
    try {
      if (store instanceof ReadOnlyWindowStore<?, ?> windows) {
        return show(windows.all()) + show(windows.backwardAll());
      }
      if (store instanceof ReadOnlySessionStore<?, ?> sessions) {
        return show(sessions.fetch(null, null));
      }
      if (store instanceof ReadOnlyKeyValueStore<?, ?> values) {
        return show(values.all()) + show(values.reverseAll());
      }
    } catch (UnsupportedOperationException e) {
      return "lists of values";
    }
    return "versions";
  }

  private static String show(KeyValueIterator<?, ?> iterator) {
    StringBuilder shown = new StringBuilder();
    try (iterator) {
      iterator.forEachRemaining(entry -> shown.append(entry).append(' '));
    }
    return shown.toString();
  }
}
