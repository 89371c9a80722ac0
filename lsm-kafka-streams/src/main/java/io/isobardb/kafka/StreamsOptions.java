package io.isobardb.kafka;

import io.isobardb.lsm.StoreOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.processor.StateStore;

/**
 * What the configuration of an application says of its store.
 *
 * @param application the application's ID
 * @param directory where the store lies
 * @param given {@code isobar.*}, as it is written
 * @param store what follows from that
 * @param linger how long the store stays open after its last user
 * @param floors write memory that state stores keep, in bytes, by their names
 * @param weights how much the writes of state stores count, by their names
 * @param exactlyOnce whether the application processes exactly once
 * @param transactional whether Kafka commits to state stores with each transaction
 */
record StreamsOptions(
    String application,
    Path directory,
    Map<String, String> given,
    StoreOptions store,
    Duration linger,
    Map<String, Long> floors,
    Map<String, Double> weights,
    boolean exactlyOnce,
    boolean transactional) {
  static final String PREFIX = "isobar.streams.";
  static final String DIRECTORY = PREFIX + "dir";
  static final String LINGER = PREFIX + "linger.ms";
  static final String FLOOR = PREFIX + "floor.";
  static final String WEIGHT = PREFIX + "weight.";

  /** Kafka's name for it, from 4.4 on. */
  private static final String TRANSACTIONAL = "enable.transactional.statestores";

  /** Whether this Kafka is one that commits to state stores with each transaction. */
  static final boolean KAFKA_COMMITS = kafkaCommits();

  private static final String STORE_PREFIX = "isobar.";
  private static final long DEFAULT_LINGER_MILLIS = 10_000;

  /**
   * Reads what Kafka hands to state stores.
   *
   * @param taskDirectory where a task's state lies: the store goes there if nothing says where
   * @throws ConfigException for a name of this module that is unknown, or a value that it can't be
   * @throws IllegalArgumentException for an option of a store that is unknown or out of its range
   */
  static StreamsOptions of(Map<String, Object> configuration, Path taskDirectory) {
    Map<String, String> given = new TreeMap<>();
    Map<String, Long> floors = new TreeMap<>();
    Map<String, Double> weights = new TreeMap<>();
    String directory = null;
    long linger = DEFAULT_LINGER_MILLIS;
    for (Map.Entry<String, Object> entry : configuration.entrySet()) {
      String name = entry.getKey();
      if (!name.startsWith(STORE_PREFIX) || entry.getValue() == null) {
        continue;
      }
      String value = String.valueOf(entry.getValue()).trim();
      if (!name.startsWith(PREFIX)) {
        given.put(name, value);
      } else if (name.equals(DIRECTORY)) {
        directory = path(name, value);
      } else if (name.equals(LINGER)) {
        linger = Math.round(number(name, value));
      } else if (name.startsWith(FLOOR)) {
        floors.put(name.substring(FLOOR.length()), Math.round(number(name, value)));
      } else if (name.startsWith(WEIGHT)) {
        weights.put(name.substring(WEIGHT.length()), number(name, value));
      } else {
        throw new ConfigException(
            "there is no option " + name + "; did you mean " + nearest(name) + "?");
      }
    }
    String application = String.valueOf(configuration.get(StreamsConfig.APPLICATION_ID_CONFIG));
    Object stateDirectory = configuration.get(StreamsConfig.STATE_DIR_CONFIG);
    Path path =
        directory != null
            ? Path.of(directory)
            : stateDirectory == null
                ? taskDirectory.resolve("isobar-store")
                : Path.of(String.valueOf(stateDirectory), application, "isobar");
    Properties ofStore = new Properties();
    ofStore.putAll(given);
    return new StreamsOptions(
        application,
        real(path),
        given,
        StoreOptions.fromProperties(ofStore, STORE_PREFIX),
        Duration.ofMillis(linger),
        floors,
        weights,
        StreamsConfig.EXACTLY_ONCE_V2.equals(
            configuration.get(StreamsConfig.PROCESSING_GUARANTEE_CONFIG)),
        KAFKA_COMMITS && Boolean.parseBoolean(String.valueOf(configuration.get(TRANSACTIONAL))));
  }

  /** One path for all that lead to a directory, by links too; it may not be there yet. */
  private static Path real(Path path) {
    try {
      return path.toFile().getCanonicalFile().toPath();
    } catch (IOException e) {
      return path.toAbsolutePath().normalize();
    }
  }

  /** An older Kafka would never commit what is held back. */
  private static boolean kafkaCommits() {
    try {
      StateStore.class.getMethod("approximateNumUncommittedBytes");
      return true;
    } catch (NoSuchMethodException e) {
      return false;
    }
  }

  private static double number(String name, String value) {
    try {
      double number = Double.parseDouble(value);
      if (number >= 0 && number < Double.POSITIVE_INFINITY) {
        return number;
      }
    } catch (NumberFormatException e) {
      // As a negative one.
    }
    throw new ConfigException(name, value, "it must be a number from 0 on");
  }

  /** No path would be the directory in which the process was started. */
  private static String path(String name, String value) {
    if (value.isEmpty()) {
      throw new ConfigException(name, value, "it must be the path of a directory");
    }
    return value;
  }

  private static String nearest(String name) {
    String best = DIRECTORY;
    for (String known : List.of(LINGER, FLOOR + "NAME", WEIGHT + "NAME")) {
      if (distance(name, known) < distance(name, best)) {
        best = known;
      }
    }
    return best;
  }

  /** The edits between two names. */
  private static int distance(String one, String other) {
    int[] row = new int[other.length() + 1];
    for (int j = 0; j < row.length; j++) {
      row[j] = j;
    }
    for (int i = 1; i <= one.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j < row.length; j++) {
        int above = row[j];
        int changed = diagonal + (one.charAt(i - 1) == other.charAt(j - 1) ? 0 : 1);
        row[j] = Math.min(changed, Math.min(above, row[j - 1]) + 1);
        diagonal = above;
      }
    }
    return row[other.length()];
  }
}
