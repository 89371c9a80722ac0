package io.isobardb.kafka;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Produces the inputs of an {@link Application}, and computes what has to come of them.
 *
 * <p>Thread rule: one thread produces; what is expected is asked for once it has ended.
 */
final class Inputs implements Runnable {
  private static final int WORDS = 200;
  private static final int KEYS = 100;

  /** The stream's time goes on by so much with each record. */
  private static final long STEP_MILLIS = 20;

  /**
   * Where the stream's time begins: so that a long run stays behind the broker's clock, and well
   * within the retention of topics.
   */
  private final long beginMillis =
      (System.currentTimeMillis() / Application.WINDOW_MILLIS - 12 * 360)
          * Application.WINDOW_MILLIS;

  private record Timed(String value, long time) {}

  private final Map<String, Object> properties;
  private final Random random;
  private final long pauseNanos;
  private volatile boolean ended;
  private volatile long produced;

  private final Map<String, Long> counts = new TreeMap<>();
  private final Map<String, List<Timed>> lefts = new HashMap<>();
  private final Map<String, List<Timed>> rights = new HashMap<>();
  private final Map<String, Long> windows = new TreeMap<>();
  private final Map<String, String> latest = new TreeMap<>();

  Inputs(String bootstrapServers, long seed, int recordsPerSecond) {
    properties = Map.of("bootstrap.servers", bootstrapServers, "acks", "all", "linger.ms", "5");
    random = new Random(seed);
    pauseNanos = 1_000_000_000L / recordsPerSecond;
  }

  /** Produces until {@link #end}. */
  @Override
  public void run() {
    try (KafkaProducer<String, String> producer =
        new KafkaProducer<>(properties, new StringSerializer(), new StringSerializer())) {
      long next = System.nanoTime();
      for (long i = 0; !ended; i++) {
        long time = beginMillis + i * STEP_MILLIS;
        String key = "key" + random.nextInt(KEYS);
        String value = String.valueOf(i);
        switch (random.nextInt(3)) {
          case 0 -> {
            String word = "word" + random.nextInt(WORDS);
            producer.send(new ProducerRecord<>(Application.WORDS, null, time, null, word));
            counts.merge(word, 1L, Long::sum);
          }
          case 1 -> {
            producer.send(new ProducerRecord<>(Application.LEFT, null, time, key, value));
            lefts.computeIfAbsent(key, any -> new ArrayList<>()).add(new Timed(value, time));
            long start = time - time % Application.WINDOW_MILLIS;
            windows.merge(key + "@" + start, 1L, Long::sum);
          }
          default -> {
            producer.send(new ProducerRecord<>(Application.RIGHT, null, time, key, value));
            rights.computeIfAbsent(key, any -> new ArrayList<>()).add(new Timed(value, time));
            latest.put(key, value);
          }
        }
        produced = i + 1;
        next += pauseNanos;
        long wait = next - System.nanoTime();
        if (wait > 0) {
          LockSupport.parkNanos(wait);
        }
      }
    }
  }

  void end() {
    ended = true;
  }

  /** Records produced so far. */
  long produced() {
    return produced;
  }

  /** How often each word was there. */
  Map<String, Long> counts() {
    return counts;
  }

  /** How many records of the left each key has in each window. */
  Map<String, Long> windows() {
    return windows;
  }

  /** The last value of each key on the right. */
  Map<String, String> latest() {
    return latest;
  }

  /** How often each pair comes of the join: once. */
  Map<String, Long> joined() {
    Map<String, Long> joined = new TreeMap<>();
    lefts.forEach(
        (key, ones) -> {
          List<Timed> others = rights.getOrDefault(key, List.of());
          int from = 0;
          for (Timed one : ones) {
            while (from < others.size()
                && others.get(from).time() < one.time() - Application.JOIN_MILLIS) {
              from++;
            }
            for (int i = from;
                i < others.size() && others.get(i).time() <= one.time() + Application.JOIN_MILLIS;
                i++) {
              joined.merge(key + "=" + one.value() + "|" + others.get(i).value(), 1L, Long::sum);
            }
          }
        });
    return joined;
  }
}
