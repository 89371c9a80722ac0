package io.isobardb.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Properties;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.JoinWindows;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.StreamJoined;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.processor.StateRestoreListener;
import org.apache.kafka.streams.processor.TaskId;

/**
 * One instance of an application, in a process of its own: a word count, a windowed join, a
 * windowed count, and a table. It writes a line for what happens, and does what lines tell it.
 */
final class Application {
  static final String WORDS = "words";
  static final String LEFT = "left";
  static final String RIGHT = "right";
  static final String COUNTS = "counts-out";
  static final String JOINED = "joined-out";
  static final String WINDOWED = "windowed-out";
  static final String LATEST = "latest-out";

  static final long JOIN_MILLIS = 1_000;
  static final long WINDOW_MILLIS = 10_000;

  /** By how much of the stream's time one input may be ahead of another. */
  private static final Duration GRACE = Duration.ofMinutes(10);

  /** A line that tells of the end of a restore: store, partition, first offset, last offset. */
  static final String RESTORED = "restored ";

  /** A line that tells that the instance runs. */
  static final String RUNNING = "running";

  /** A line that tells of a thread that has died, and is replaced. */
  static final String REPLACED = "replaced";

  /** A line that tells which tasks have trees here, and which tasks are here. */
  static final String TREES = "trees ";

  /** A line to an instance, which asks for {@link #TREES}. */
  static final String ASK = "ask";

  /** A line to an instance, and its answer: from now on no thread is to die. */
  static final String CALM = "calm";

  /** A line to an instance, which ends it in order. */
  static final String CLOSE = "close";

  /** How often a thread is to die, in milliseconds; 0 for never. */
  static final String DEATHS = "test.deaths.ms";

  private Application() {}

  static Topology topology(Runnable onRecord) {
    StreamsBuilder builder = new StreamsBuilder();
    KStream<String, String> words = builder.stream(WORDS, strings());
    words
        .peek((key, word) -> onRecord.run())
        .groupBy((key, word) -> word, Grouped.with("by-word", Serdes.String(), Serdes.String()))
        .count(Named.as("count"), Materialized.as("counts"))
        .toStream()
        .mapValues(String::valueOf)
        .to(COUNTS, produced());
    KStream<String, String> left = builder.stream(LEFT, strings());
    KStream<String, String> right = builder.stream(RIGHT, strings());
    left.join(
            right,
            (one, other) -> one + "|" + other,
            JoinWindows.ofTimeDifferenceAndGrace(Duration.ofMillis(JOIN_MILLIS), GRACE),
            StreamJoined.with(Serdes.String(), Serdes.String(), Serdes.String())
                .withName("join")
                .withStoreName("join"))
        .to(JOINED, produced());
    left.groupByKey(Grouped.with(Serdes.String(), Serdes.String()))
        .windowedBy(TimeWindows.ofSizeAndGrace(Duration.ofMillis(WINDOW_MILLIS), GRACE))
        .count(Materialized.as("windows"))
        .toStream((window, count) -> window.key() + "@" + window.window().start())
        .mapValues(String::valueOf)
        .to(WINDOWED, produced());
    right.toTable(Materialized.as("latest")).toStream().to(LATEST, produced());
    return builder.build();
  }

  private static Consumed<String, String> strings() {
    return Consumed.with(Serdes.String(), Serdes.String());
  }

  private static Produced<String, String> produced() {
    return Produced.with(Serdes.String(), Serdes.String());
  }

  /** Lets a thread die now and then. */
  private static final class Deaths {
    private final long nanos;
    private final AtomicLong next;
    private volatile boolean ended;

    Deaths(long nanos) {
      this.nanos = nanos;
      this.next = new AtomicLong(System.nanoTime() + nanos);
      this.ended = nanos == 0;
    }

    void onRecord() {
      long now = System.nanoTime();
      long at = next.get();
      if (!ended && now - at > 0 && next.compareAndSet(at, now + nanos)) {
        throw new IllegalStateException("a thread is to die");
      }
    }

    void end() {
      ended = true;
    }
  }

  /** Tells of restores. */
  private record Restores(PrintStream out) implements StateRestoreListener {
    @Override
    public void onRestoreStart(TopicPartition partition, String store, long from, long to) {
      out.println(RESTORED + store + " " + partition.partition() + " " + from + " " + to);
    }

    @Override
    public void onBatchRestored(TopicPartition partition, String store, long end, long count) {}

    @Override
    public void onRestoreEnd(TopicPartition partition, String store, long total) {}
  }

  /**
   * Runs an instance until it is told to close, or killed.
   *
   * @param arguments properties of Kafka Streams, each as {@code name=value}
   */
  public static void main(String[] arguments) throws IOException {
    PrintStream out = System.out;
    Properties properties = new Properties();
    for (String argument : arguments) {
      int equals = argument.indexOf('=');
      properties.put(argument.substring(0, equals), argument.substring(equals + 1));
    }
    long millis = Long.parseLong(properties.getProperty(DEATHS, "0"));
    Deaths deaths = new Deaths(TimeUnit.MILLISECONDS.toNanos(millis));
    KafkaStreams streams = new KafkaStreams(topology(deaths::onRecord), properties);
    streams.setGlobalStateRestoreListener(new Restores(out));
    streams.setStateListener(
        (now, before) -> {
          if (now == KafkaStreams.State.RUNNING) {
            out.println(RUNNING);
          }
        });
    streams.setUncaughtExceptionHandler(
        failure -> {
          out.println(REPLACED + " " + rootOf(failure));
          return StreamThreadExceptionResponse.REPLACE_THREAD;
        });
    streams.start();
    BufferedReader input = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    for (String line = input.readLine(); line != null; line = input.readLine()) {
      if (line.equals(ASK)) {
        out.println(TREES + trees() + " " + tasks(streams));
      } else if (line.equals(CALM)) {
        deaths.end();
        out.println(CALM);
      } else {
        streams.close(Duration.ofSeconds(60));
        IsobarStores.close();
        return;
      }
    }
    // The test has ended.
    Runtime.getRuntime().halt(1);
  }

  private static Throwable rootOf(Throwable failure) {
    Throwable root = failure;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    return root;
  }

  /** The tasks that have trees here. */
  private static Collection<String> trees() {
    return new TreeSet<>(
        SharedStore.onlyOne().store().treeNames().stream()
            .filter(name -> name.indexOf('-') > 0)
            .map(name -> name.substring(0, name.indexOf('-')))
            .toList());
  }

  /** The tasks that are here, as actives or standbys. */
  private static Collection<String> tasks(KafkaStreams streams) {
    return new TreeSet<>(
        streams.metadataForLocalThreads().stream()
            .flatMap(
                thread ->
                    Stream.concat(thread.activeTasks().stream(), thread.standbyTasks().stream()))
            .map(task -> task.taskId())
            .map(TaskId::toString)
            .toList());
  }

  /** Where the state of an application lies. */
  static List<Path> taskDirectories(Path state, String application) {
    String[] names = state.resolve(application).toFile().list();
    return names == null
        ? List.of()
        : Stream.of(names)
            .filter(name -> name.matches("\\d+_\\d+"))
            .map(name -> state.resolve(application).resolve(name))
            .toList();
  }
}
