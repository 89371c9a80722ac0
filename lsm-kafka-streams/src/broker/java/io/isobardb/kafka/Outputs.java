package io.isobardb.kafka;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;

/**
 * Reads what an {@link Application} has committed to its outputs.
 *
 * <p>Thread rule: one thread at a time.
 */
final class Outputs implements AutoCloseable {
  private final Map<String, Object> properties;
  private final KafkaConsumer<String, String> consumer;
  private final boolean exactlyOnce;

  /** The last value of each key, by topic. */
  private final Map<String, Map<String, String>> last = new HashMap<>();

  /** How often each key came with each value. */
  private final Map<String, Long> joined = new TreeMap<>();

  Outputs(String bootstrapServers, boolean exactlyOnce) {
    this.exactlyOnce = exactlyOnce;
    properties = Map.of("bootstrap.servers", bootstrapServers, "isolation.level", "read_committed");
    consumer = new KafkaConsumer<>(properties, new StringDeserializer(), new StringDeserializer());
    List<String> topics =
        List.of(Application.COUNTS, Application.JOINED, Application.WINDOWED, Application.LATEST);
    List<TopicPartition> partitions = new ArrayList<>();
    for (String topic : topics) {
      last.put(topic, new TreeMap<>());
      consumer
          .partitionsFor(topic)
          .forEach(info -> partitions.add(new TopicPartition(topic, info.partition())));
    }
    // In no group: a member that is late begins anew.
    consumer.assign(partitions);
    consumer.seekToBeginning(partitions);
  }

  /** Reads what is there; false if nothing came for a while. */
  boolean read() {
    boolean any = false;
    for (ConsumerRecord<String, String> output : consumer.poll(Duration.ofMillis(500))) {
      any = true;
      String topic = output.topic();
      if (topic.equals(Application.JOINED)) {
        joined.merge(output.key() + "=" + output.value(), 1L, Long::sum);
        continue;
      }
      String before = last.get(topic).put(output.key(), output.value());
      if (exactlyOnce && !topic.equals(Application.LATEST)) {
        long expected = before == null ? 1 : Long.parseLong(before) + 1;
        if (Long.parseLong(output.value()) != expected) {
          throw new AssertionError(output + " should be " + expected + history(output));
        }
      }
    }
    return any;
  }

  /** All records of a key in its partition of an output and of the word count's changelog. */
  private String history(ConsumerRecord<String, String> output) {
    StringBuilder text = new StringBuilder();
    for (String level : List.of("read_committed", "read_uncommitted")) {
      Map<String, Object> reading = new HashMap<>(properties);
      reading.put("isolation.level", level);
      try (KafkaConsumer<String, byte[]> reader =
          new KafkaConsumer<>(reading, new StringDeserializer(), new ByteArrayDeserializer())) {
        for (String topic : List.of(output.topic(), "app-counts-changelog")) {
          TopicPartition partition = new TopicPartition(topic, output.partition());
          reader.assign(List.of(partition));
          reader.seekToBeginning(List.of(partition));
          text.append("\n").append(topic).append(", ").append(level).append(":");
          long end = reader.endOffsets(List.of(partition)).get(partition);
          while (reader.position(partition) < end) {
            for (ConsumerRecord<String, byte[]> record : reader.poll(Duration.ofMillis(100))) {
              if (record.key().equals(output.key())) {
                text.append(" ").append(record.offset()).append("=");
                text.append(HexFormat.of().formatHex(record.value()));
              }
            }
          }
        }
      }
    }
    return text.toString();
  }

  /** The last value of each key. */
  Map<String, String> last(String topic) {
    return last.get(topic);
  }

  /** The last count of each key. */
  Map<String, Long> counts(String topic) {
    Map<String, Long> counts = new TreeMap<>();
    last.get(topic).forEach((key, count) -> counts.put(key, Long.parseLong(count)));
    return counts;
  }

  /** How often each pair came of the join. */
  Map<String, Long> joined() {
    return joined;
  }

  @Override
  public void close() {
    consumer.close();
  }
}
