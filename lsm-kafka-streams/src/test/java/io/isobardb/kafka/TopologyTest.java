package io.isobardb.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertLinesMatch;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.Random;
import java.util.function.Consumer;
import java.util.function.Function;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.TestInputTopic;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.EmitStrategy;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.JoinWindows;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.SessionWindows;
import org.apache.kafka.streams.kstream.SlidingWindows;
import org.apache.kafka.streams.kstream.StreamJoined;
import org.apache.kafka.streams.kstream.Suppressed;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.test.TestRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Topologies give the same on Isobar as on Kafka's own stores, record by record. These use public
 * packages of Kafka only, and run with the next release of it, too.
 */
@Tag("any-jdk")
class TopologyTest {
  private static final Duration SIZE = Duration.ofMinutes(2);
  private static final Duration GRACE = Duration.ofSeconds(30);
  private static final Duration SECOND = Duration.ofSeconds(1);
  private static final int RECORDS = 100;

  @TempDir Path directory;

  @AfterEach
  void close() {
    assertEquals(0, IsobarStores.close(), "all state stores are closed");
  }

  @Test
  void countsWords() {
    StreamsBuilder builder = new StreamsBuilder();
    KStream<String, String> input = input(builder, "left");
    input
        .groupBy((key, value) -> value, Grouped.with(Serdes.String(), Serdes.String()))
        .count()
        .toStream()
        .mapValues(String::valueOf)
        .to("output", Produced.with(Serdes.String(), Serdes.String()));
    Properties properties = properties("at_least_once", true);
    try (TopologyTestDriver driver = new TopologyTestDriver(builder.build(), properties)) {
      TestInputTopic<String, String> topic =
          driver.createInputTopic("left", new StringSerializer(), new StringSerializer());
      for (String word : List.of("a", "b", "a", "a")) {
        topic.pipeInput("key", word);
      }
      List<String> output = read(driver);
      assertEquals(List.of("a=1@0", "b=1@0", "a=2@0", "a=3@0"), withoutTimes(output));
      assertTrue(
          directory.resolve("state").resolve("app").resolve("isobar").toFile().isDirectory());
    }
  }

  private static List<String> withoutTimes(List<String> output) {
    List<String> without = new ArrayList<>();
    output.forEach(record -> without.add(record.replaceAll("@.*", "@0")));
    return without;
  }

  @Test
  void tablesAreAsOnKafkasStores() {
    assertSame(
        builder -> {
          KTable<String, String> left = input(builder, "left").toTable();
          KTable<String, String> right = input(builder, "right").toTable();
          output(left.outerJoin(right, (a, b) -> a + "+" + b).toStream());
          output(
              left.join(right, value -> "k" + value.length() % 5, (a, b) -> a + "*" + b)
                  .toStream());
          output(
              left.groupBy(
                      (key, value) -> KeyValue.pair("n" + value.length(), value),
                      Grouped.with(Serdes.String(), Serdes.String()))
                  .reduce((a, b) -> a + b, (a, b) -> a.replaceFirst(b, ""))
                  .toStream());
        });
  }

  @Test
  void joinsOfStreamsAreAsOnKafkasStores() {
    assertSame(
        builder -> {
          KStream<String, String> left = input(builder, "left");
          KStream<String, String> right = input(builder, "right");
          JoinWindows windows = JoinWindows.ofTimeDifferenceAndGrace(Duration.ofSeconds(20), GRACE);
          StreamJoined<String, String, String> with =
              StreamJoined.with(Serdes.String(), Serdes.String(), Serdes.String());
          output(left.join(right, (a, b) -> a + "+" + b, windows, with));
          output(left.leftJoin(right, (a, b) -> a + "-" + b, windows, with));
          output(left.outerJoin(right, (a, b) -> a + "|" + b, windows, with));
        });
  }

  @Test
  void globalTablesAreAsOnKafkasStores() {
    assertSame(
        builder ->
            output(
                input(builder, "left")
                    .join(
                        builder.globalTable(
                            "right", Consumed.with(Serdes.String(), Serdes.String())),
                        (key, value) -> key,
                        (a, b) -> a + "+" + b)));
  }

  @Test
  void windowsAreAsOnKafkasStores() {
    assertSame(
        builder -> {
          KStream<String, String> input = input(builder, "left");
          input(builder, "right");
          TimeWindows windows =
              TimeWindows.ofSizeAndGrace(SIZE, GRACE).advanceBy(Duration.ofMinutes(1));
          windowed(grouped(input).windowedBy(windows).count().toStream());
          windowed(
              grouped(input)
                  .windowedBy(windows)
                  .emitStrategy(EmitStrategy.onWindowClose())
                  .count()
                  .toStream());
          windowed(
              grouped(input)
                  .windowedBy(SlidingWindows.ofTimeDifferenceAndGrace(SIZE, GRACE))
                  .reduce((a, b) -> a + b)
                  .toStream());
          windowed(
              grouped(input)
                  .windowedBy(SlidingWindows.ofTimeDifferenceAndGrace(SIZE, GRACE))
                  .emitStrategy(EmitStrategy.onWindowClose())
                  .count()
                  .toStream());
        });
  }

  /** Windows are shown until the stream's time comes to their end, and then their result is due. */
  @Test
  void finalResultsAreAsOnKafkasStores() {
    Duration size = Duration.ofSeconds(10);
    List<Function<KGroupedStream<String, String>, KTable<Windowed<String>, Long>>> windows =
        List.of(
            grouped -> onClose(grouped, TimeWindows.ofSizeWithNoGrace(size)),
            grouped -> onClose(grouped, TimeWindows.ofSizeAndGrace(size, size)),
            grouped -> onClose(grouped, TimeWindows.ofSizeWithNoGrace(size).advanceBy(SECOND)),
            grouped ->
                grouped
                    .windowedBy(SlidingWindows.ofTimeDifferenceWithNoGrace(size))
                    .emitStrategy(EmitStrategy.onWindowClose())
                    .count(),
            grouped ->
                grouped
                    .windowedBy(SessionWindows.ofInactivityGapWithNoGrace(SECOND))
                    .emitStrategy(EmitStrategy.onWindowClose())
                    .count());
    for (var each : windows) {
      Consumer<StreamsBuilder> topology =
          builder -> {
            KStream<String, String> input = input(builder, "left");
            input(builder, "right");
            windowed(each.apply(grouped(input)).toStream());
          };
      assertSameUncached(topology);
      // Behind the cache Kafka's are found in the order of time, and ours in that of keys.
      assertLinesMatch(
          runCached(topology, false).stream().sorted(),
          runCached(topology, true).stream().sorted());
    }
  }

  private static KTable<Windowed<String>, Long> onClose(
      KGroupedStream<String, String> grouped, TimeWindows windows) {
    return grouped.windowedBy(windows).emitStrategy(EmitStrategy.onWindowClose()).count();
  }

  @Test
  void sessionsAreAsOnKafkasStores() {
    assertSame(
        builder -> {
          KStream<String, String> input = input(builder, "left");
          input(builder, "right");
          SessionWindows windows =
              SessionWindows.ofInactivityGapAndGrace(Duration.ofSeconds(10), GRACE);
          windowed(grouped(input).windowedBy(windows).count().toStream());
          windowed(
              grouped(input)
                  .windowedBy(windows)
                  .emitStrategy(EmitStrategy.onWindowClose())
                  .reduce((a, b) -> a + b)
                  .toStream());
        });
  }

  @Test
  void suppressionIsAsOnKafkasStores() {
    assertSame(
        builder -> {
          KStream<String, String> input = input(builder, "left");
          input(builder, "right");
          windowed(
              grouped(input)
                  .windowedBy(TimeWindows.ofSizeAndGrace(SIZE, GRACE))
                  .count()
                  .suppress(Suppressed.untilWindowCloses(Suppressed.BufferConfig.unbounded()))
                  .toStream());
          output(
              input
                  .toTable()
                  .suppress(
                      Suppressed.untilTimeLimit(
                          Duration.ofSeconds(5), Suppressed.BufferConfig.maxRecords(100)))
                  .toStream());
        });
  }

  @Test
  void storesWithHeadersAreAsKafkas() {
    Consumer<StreamsBuilder> topology =
        builder -> {
          KStream<String, String> input = input(builder, "left");
          input(builder, "right");
          output(input.toTable().toStream());
          windowed(
              grouped(input)
                  .windowedBy(TimeWindows.ofSizeAndGrace(SIZE, GRACE))
                  .count()
                  .toStream());
          windowed(
              grouped(input)
                  .windowedBy(SessionWindows.ofInactivityGapAndGrace(Duration.ofSeconds(10), GRACE))
                  .count()
                  .toStream());
        };
    Properties kafkas = properties("at_least_once", false);
    Properties ours = properties("at_least_once", true);
    kafkas.put("dsl.store.format", "headers");
    ours.put("dsl.store.format", "headers");
    assertLinesMatch(run(topology, kafkas), run(topology, ours));
  }

  private static KStream<String, String> input(StreamsBuilder builder, String topic) {
    return builder.stream(topic, Consumed.with(Serdes.String(), Serdes.String()));
  }

  private static KGroupedStream<String, String> grouped(KStream<String, String> input) {
    return input.groupByKey(Grouped.with(Serdes.String(), Serdes.String()));
  }

  private static void output(KStream<String, String> stream) {
    stream.to("output", Produced.with(Serdes.String(), Serdes.String()));
  }

  private static <V> void windowed(KStream<Windowed<String>, V> stream) {
    output(
        stream.map(
            (key, value) ->
                KeyValue.pair(
                    key.key() + key.window().start() + "-" + key.window().end(),
                    String.valueOf(value))));
  }

  private Properties properties(String guarantee, boolean isobar) {
    Properties properties = new Properties();
    properties.put("application.id", isobar ? "app" : "kafkas");
    properties.put("bootstrap.servers", "none:1");
    properties.put("state.dir", directory.resolve("state").toString());
    properties.put("processing.guarantee", guarantee);
    properties.put("default.key.serde", Serdes.StringSerde.class);
    properties.put("default.value.serde", Serdes.StringSerde.class);
    properties.put("statestore.cache.max.bytes", "0");
    properties.put("__emit.interval.ms.kstreams.windowed.aggregation__", 0L);
    if (isobar) {
      properties.put("dsl.store.suppliers.class", IsobarDslStoreSuppliers.class.getName());
      properties.put("isobar.memoryBudget", "16MB");
      properties.put("isobar.ioMode", "BUFFERED");
    }
    return properties;
  }

  private void assertSame(Consumer<StreamsBuilder> topology) {
    assertSameUncached(topology);
    assertLinesMatch(runCached(topology, false), runCached(topology, true), "cached");
  }

  private void assertSameUncached(Consumer<StreamsBuilder> topology) {
    List<String> kafkas = run(topology, properties("at_least_once", false));
    assertFalse(kafkas.isEmpty());
    for (String guarantee : List.of("at_least_once", "exactly_once_v2")) {
      assertLinesMatch(kafkas, run(topology, properties(guarantee, true)), guarantee);
    }
    Properties transactional = properties("exactly_once_v2", true);
    transactional.put("enable.transactional.statestores", true); // known from Kafka 4.4 on
    assertLinesMatch(kafkas, run(topology, transactional), "transactional");
  }

  private List<String> runCached(Consumer<StreamsBuilder> topology, boolean isobar) {
    Properties properties = properties("at_least_once", isobar);
    properties.put("statestore.cache.max.bytes", "1000000");
    return run(topology, properties);
  }

  private static List<String> run(Consumer<StreamsBuilder> topology, Properties properties) {
    StreamsBuilder builder = new StreamsBuilder();
    topology.accept(builder);
    try (TopologyTestDriver driver =
        new TopologyTestDriver(builder.build(), properties, Instant.EPOCH)) {
      List<TestInputTopic<String, String>> topics = new ArrayList<>();
      for (String name : List.of("left", "right")) {
        topics.add(driver.createInputTopic(name, new StringSerializer(), new StringSerializer()));
      }
      Random random = new Random(17);
      long time = 0;
      for (int i = 0; i < RECORDS; i++) {
        time += random.nextInt(5_000);
        long late = random.nextInt(10) == 0 ? random.nextInt(400_000) : random.nextInt(3_000);
        long at = Math.max(0, time - late);
        topics
            .get(random.nextInt(topics.size()))
            .pipeInput(
                "k" + random.nextInt(5),
                "v" + "x".repeat(random.nextInt(4)) + i,
                // Many come where windows begin and end.
                i % 2 == 0 ? at : at / 1000 * 1000);
      }
      return read(driver);
    }
  }

  private static List<String> read(TopologyTestDriver driver) {
    List<String> records = new ArrayList<>();
    for (TestRecord<String, String> record :
        driver
            .createOutputTopic("output", new StringDeserializer(), new StringDeserializer())
            .readRecordsToList()) {
      records.add(record.key() + "=" + record.value() + "@" + record.timestamp());
    }
    return records;
  }
}
