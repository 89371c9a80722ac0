package io.isobardb.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.test.KafkaClusterTestKit;
import org.apache.kafka.common.test.TestKitNodes;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two instances of an application on a broker in this process. One of them is killed again and
 * again, the threads of the other die. What comes of it equals what a plain program computes.
 *
 * <p>{@code -Disobar.streams.kills=100} kills as often in each way of processing.
 */
@Timeout(value = 3, unit = TimeUnit.HOURS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class BrokerTest {
  private static final int KILLS = Integer.getInteger("isobar.streams.kills", 5);
  private static final int RATE = Integer.getInteger("isobar.streams.rate", 500);
  private static final long SEED = Long.getLong("isobar.seed", 1);
  private static final String APPLICATION = "app";
  private static final int PARTITIONS = 2;

  /** The application has three parts. */
  private static final int TASKS = 3 * PARTITIONS;

  private static final long CLEANUP_MILLIS = 5_000;

  /** Where the jars of the next release of Kafka are. */
  private static final String NEXT = System.getProperty("isobar.kafka.next", "");

  @TempDir Path directory;

  private KafkaClusterTestKit cluster;

  @BeforeEach
  void startBroker() throws Exception {
    cluster =
        new KafkaClusterTestKit.Builder(
                new TestKitNodes.Builder()
                    .setCombined(true)
                    .setNumBrokerNodes(1)
                    .setNumControllerNodes(1)
                    .build())
            .setConfigProp("offsets.topic.replication.factor", "1")
            .setConfigProp("offsets.topic.num.partitions", "3")
            .setConfigProp("transaction.state.log.replication.factor", "1")
            .setConfigProp("transaction.state.log.min.isr", "1")
            .setConfigProp("transaction.state.log.num.partitions", "3")
            .setConfigProp("transaction.abort.timed.out.transaction.cleanup.interval.ms", "1000")
            .setConfigProp("group.min.session.timeout.ms", "100")
            .setConfigProp("group.initial.rebalance.delay.ms", "100")
            .build();
    cluster.format();
    cluster.startup();
    cluster.waitForReadyBrokers();
    try (Admin admin = cluster.admin()) {
      admin
          .createTopics(
              Stream.of(
                      Application.WORDS,
                      Application.LEFT,
                      Application.RIGHT,
                      Application.COUNTS,
                      Application.JOINED,
                      Application.WINDOWED,
                      Application.LATEST)
                  .map(topic -> new NewTopic(topic, PARTITIONS, (short) 1))
                  .toList())
          .all()
          .get();
    }
  }

  @AfterEach
  void stopBroker() throws Exception {
    cluster.close();
  }

  private Map<String, String> properties(String instance) {
    Map<String, String> properties = new TreeMap<>();
    properties.put("application.id", APPLICATION);
    properties.put("bootstrap.servers", cluster.bootstrapServers());
    properties.put("state.dir", directory.resolve(instance).toString());
    properties.put("dsl.store.suppliers.class", IsobarDslStoreSuppliers.class.getName());
    properties.put("default.key.serde", "org.apache.kafka.common.serialization.Serdes$StringSerde");
    properties.put(
        "default.value.serde", "org.apache.kafka.common.serialization.Serdes$StringSerde");
    properties.put("isobar.memoryBudget", "16MB");
    properties.put("isobar.ioMode", "BUFFERED");
    properties.put("commit.interval.ms", "100");
    properties.put("session.timeout.ms", "2000");
    properties.put("heartbeat.interval.ms", "300");
    properties.put("state.cleanup.delay.ms", String.valueOf(CLEANUP_MILLIS));
    properties.put("statestore.cache.max.bytes", "0");
    properties.put("num.stream.threads", "2");
    properties.put("num.standby.replicas", "1");
    properties.put("auto.offset.reset", "earliest");
    properties.put("producer.transaction.timeout.ms", "10000");
    properties.put("probing.rebalance.interval.ms", "60000");
    return properties;
  }

  private Instance start(String classPath, String name, Map<String, String> more)
      throws IOException {
    Map<String, String> properties = properties(name);
    properties.putAll(more);
    return Instance.start(classPath, properties, new File(directory.toFile(), name + ".log"));
  }

  /** The class path of this process without the broker's jars. */
  private static String thisRelease() {
    return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
        .filter(path -> !path.contains("kafka_2") && !path.contains("kafka-test-common"))
        .collect(Collectors.joining(File.pathSeparator));
  }

  /** The same with the next release of Kafka. */
  private static String nextRelease() {
    String rest =
        Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
            .filter(path -> !path.matches(".*[/\\\\]kafka[-_][^/\\\\]*\\.jar"))
            .collect(Collectors.joining(File.pathSeparator));
    return NEXT + File.separator + "*" + File.pathSeparator + rest;
  }

  @Test
  void exactlyOnce() throws Exception {
    runAndKill(thisRelease(), Map.of("processing.guarantee", "exactly_once_v2"));
  }

  @Test
  void exactlyOnceWithTransactionalStateStores() throws Exception {
    assumeTrue(!NEXT.isEmpty(), "the next release of Kafka is not there");
    runAndKill(
        nextRelease(),
        Map.of(
            "processing.guarantee", "exactly_once_v2", "enable.transactional.statestores", "true"));
  }

  @Test
  void atLeastOnce() throws Exception {
    runAndKill(thisRelease(), Map.of("processing.guarantee", "at_least_once"));
  }

  private void runAndKill(String classPath, Map<String, String> options) throws Exception {
    boolean exactlyOnce = options.containsValue("exactly_once_v2");
    Random random = new Random(SEED);
    Inputs inputs = new Inputs(cluster.bootstrapServers(), SEED, RATE);
    Thread producing = new Thread(inputs, "inputs");
    producing.start();
    try (Outputs outputs = new Outputs(cluster.bootstrapServers(), exactlyOnce)) {
      leaveOldState(classPath, options, outputs);
      Map<String, String> dying = new HashMap<>(options);
      dying.put(Application.DEATHS, "8000");
      Restored restored = new Restored();
      try (Instance steady = start(classPath, "steady", dying)) {
        assertNotNull(steady.await(Application.RUNNING), () -> logs());
        for (int kill = 0; kill < KILLS; kill++) {
          try (Instance killed = start(classPath, "killed", options)) {
            if (kill % 4 != 3) { // else within its start
              assertNotNull(killed.await(Application.RUNNING), () -> logs());
            }
            readFor(outputs, 200 + random.nextInt(1500));
            killed.kill();
            restored.add(killed.restores());
          }
        }
        try (Instance last = start(classPath, "killed", options)) {
          assertNotNull(last.await(Application.RUNNING), () -> logs());
          while (steady.replaced() == 0) {
            outputs.read();
          }
          steady.ask(Application.CALM, Application.CALM);
          inputs.end();
          producing.join();
          compare(inputs, outputs, exactlyOnce);
          System.out.println(
              options
                  + ": "
                  + KILLS
                  + " kills, "
                  + steady.replaced()
                  + " threads died, "
                  + inputs.produced()
                  + " records; "
                  + restored);
        }
      }
    } finally {
      inputs.end();
      producing.join();
    }
  }

  /** How much was restored after kills. */
  private static final class Restored {
    private int whole;
    private int partly;
    private int nothing;
    private long most;

    void add(List<String> restores) {
      for (String line : restores) {
        String[] words = line.split(" ");
        long from = Long.parseLong(words[2]);
        long to = Long.parseLong(words[3]);
        if (from >= to) {
          nothing++;
        } else if (from == 0) {
          whole++;
        } else {
          partly++;
          most = Math.max(most, to - from);
        }
      }
    }

    @Override
    public String toString() {
      return nothing
          + " state stores had nothing to restore, "
          + partly
          + " a part, of "
          + most
          + " records at most, "
          + whole
          + " all";
    }
  }

  /**
   * Runs an instance with Kafka's stores for a while: it leaves a checkpoint, and RocksDB's files.
   */
  private void leaveOldState(String classPath, Map<String, String> options, Outputs outputs)
      throws Exception {
    Map<String, String> old = new HashMap<>(options);
    old.remove("enable.transactional.statestores");
    old.put(
        "dsl.store.suppliers.class",
        "org.apache.kafka.streams.state.BuiltInDslStoreSuppliers$RocksDBDslStoreSuppliers");
    try (Instance instance = start(classPath, "killed", old)) {
      assertNotNull(instance.await(Application.RUNNING), () -> logs());
      readFor(outputs, 3000);
      // It runs before it has tasks.
      long until = System.nanoTime() + Duration.ofMinutes(15).toNanos();
      while (!hasRocksDb(oldTasks()) && System.nanoTime() - until < 0) {
        outputs.read();
      }
    }
    List<Path> tasks = oldTasks();
    assertTrue(hasRocksDb(tasks), "" + tasks);
  }

  private List<Path> oldTasks() throws IOException {
    return Application.taskDirectories(directory.resolve("killed"), APPLICATION);
  }

  private static boolean hasRocksDb(List<Path> tasks) {
    return tasks.stream().anyMatch(task -> Files.exists(task.resolve("rocksdb")));
  }

  private static void readFor(Outputs outputs, long millis) {
    long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    while (System.nanoTime() - until < 0) {
      outputs.read();
    }
  }

  private void compare(Inputs inputs, Outputs outputs, boolean exactlyOnce) {
    Map<String, Long> joined = inputs.joined();
    assertFalse(joined.isEmpty());
    BooleanSupplier complete =
        () ->
            outputs.last(Application.LATEST).equals(inputs.latest())
                && covers(outputs.counts(Application.COUNTS), inputs.counts())
                && covers(outputs.counts(Application.WINDOWED), inputs.windows())
                && covers(outputs.joined(), joined);
    long until = System.nanoTime() + Duration.ofMinutes(15).toNanos();
    while (outputs.read() || !complete.getAsBoolean()) {
      if (System.nanoTime() - until > 0) {
        break;
      }
    }
    assertEquals(inputs.latest(), outputs.last(Application.LATEST), () -> logs());
    if (exactlyOnce) {
      assertEquals(inputs.counts(), outputs.counts(Application.COUNTS));
      assertEquals(inputs.windows(), outputs.counts(Application.WINDOWED));
      assertEquals(joined, outputs.joined());
    } else {
      // A record may be processed again.
      assertEquals(inputs.counts().keySet(), outputs.counts(Application.COUNTS).keySet());
      assertEquals(inputs.windows().keySet(), outputs.counts(Application.WINDOWED).keySet());
      assertEquals(joined.keySet(), outputs.joined().keySet());
      assertTrue(complete.getAsBoolean(), "nothing is lost");
    }
  }

  /** Whether each is there as often as it has to be, at least. */
  private static boolean covers(Map<String, Long> counts, Map<String, Long> least) {
    return least.entrySet().stream()
        .allMatch(entry -> counts.getOrDefault(entry.getKey(), 0L) >= entry.getValue());
  }

  /** What instances have logged last. */
  private String logs() {
    StringBuilder text = new StringBuilder();
    for (String name : List.of("steady", "killed")) {
      Path log = directory.resolve(name + ".log");
      if (Files.exists(log)) {
        try {
          List<String> lines = Files.readAllLines(log);
          lines
              .subList(Math.max(0, lines.size() - 60), lines.size())
              .forEach(line -> text.append(name).append(": ").append(line).append('\n'));
        } catch (IOException e) {
          text.append(e).append('\n');
        }
      }
    }
    return text.toString();
  }

  /** After tasks have moved to another instance, their trees go here. */
  @Test
  void nothingIsLeftOfTasksThatHaveMovedAway() throws Exception {
    Map<String, String> options = Map.of("num.standby.replicas", "0");
    Inputs inputs = new Inputs(cluster.bootstrapServers(), SEED, RATE);
    Thread producing = new Thread(inputs, "inputs");
    producing.start();
    try (Instance first = start(thisRelease(), "steady", options)) {
      assertNotNull(first.await(Application.RUNNING), () -> logs());
      awaitTrees(first, true);
      String before = first.ask(Application.ASK, Application.TREES);
      try (Instance second = start(thisRelease(), "killed", options)) {
        assertNotNull(second.await(Application.RUNNING), () -> logs());
        long nanos = awaitTrees(first, false);
        String after = first.ask(Application.ASK, Application.TREES);
        assertTrue(after.length() < before.length(), before + ", then " + after);
        System.out.println(
            "tasks moved away; their trees were gone "
                + TimeUnit.NANOSECONDS.toMillis(nanos)
                + " ms after they were seen to, with a cleanup delay of "
                + CLEANUP_MILLIS
                + " ms");
      }
    } finally {
      inputs.end();
      producing.join();
    }
  }

  /** Waits until an instance has the trees of its tasks, and others or not; how long it took. */
  private static long awaitTrees(Instance instance, boolean atFirst) throws Exception {
    long moved = System.nanoTime();
    while (true) {
      String[] told = instance.ask(Application.ASK, Application.TREES).split("] ");
      List<String> trees = names(told[0]);
      List<String> tasks = names(told[1]);
      boolean all = tasks.size() == TASKS;
      if (!atFirst && all) {
        moved = System.nanoTime(); // none has moved so far
      } else if (!tasks.isEmpty() && tasks.containsAll(trees) && all == atFirst) {
        return System.nanoTime() - moved;
      }
      assertTrue(System.nanoTime() - moved < TimeUnit.MINUTES.toNanos(15), String.join("] ", told));
      TimeUnit.MILLISECONDS.sleep(200);
    }
  }

  private static List<String> names(String list) {
    return Arrays.stream(list.replaceAll("[\\[\\] ]", "").split(","))
        .filter(name -> !name.isEmpty())
        .toList();
  }
}
