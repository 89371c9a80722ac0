package io.isobardb.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.streams.errors.TaskCorruptedException;
import org.apache.kafka.streams.state.KeyValueStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Processes that write to a state store are killed: what is left is never behind the offsets.
 *
 * <p>{@code -Disobar.streams.kills=100} kills as many of each kind.
 */
@Tag("any-jdk")
class KillTest {
  private static final int KILLS = Integer.getInteger("isobar.streams.kills", 1);
  private static final int KEYS = 50;
  private static final int RECORDS_A_COMMIT = 10;
  private static final TopicPartition CHANGELOG = new TopicPartition("app-counts-changelog", 0);

  @TempDir Path directory;

  @AfterEach
  void close() {
    IsobarStores.close();
  }

  /** Writes record after record of a changelog, and prints the offset of each commit. */
  static final class Writer {
    private Writer() {}

    public static void main(String[] arguments) {
      KeyValueStore<Bytes, byte[]> store = open(Path.of(arguments[0]), arguments[1]);
      Long committed = store.committedOffset(CHANGELOG);
      for (long offset = committed == null ? 0 : committed + 1; ; offset++) {
        store.put(key(offset), String.valueOf(offset).getBytes(UTF_8));
        if (offset % RECORDS_A_COMMIT == 0) {
          store.commit(Map.of(CHANGELOG, offset));
          System.out.println(offset);
        }
      }
    }
  }

  private static Bytes key(long offset) {
    return Bytes.wrap(String.valueOf(offset % KEYS).getBytes(UTF_8));
  }

  private static KeyValueStore<Bytes, byte[]> open(Path directory, String guarantee) {
    return new TestTask(directory, Map.of("processing.guarantee", guarantee))
        .open(IsobarStores.keyValueStore("counts").get());
  }

  /** Runs a writer and kills it after some commits; the offset of the last one that it told. */
  private long kill(String guarantee, int commits) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-XX:TieredStopAtLevel=1",
                    "-cp",
                    System.getProperty("java.class.path"),
                    Writer.class.getName(),
                    directory.toString(),
                    guarantee))
            .redirectError(new File(directory.toFile(), "errors"))
            .start();
    long last = -1;
    try (BufferedReader output =
        new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8))) {
      for (int i = 0; i < commits; i++) {
        String line = output.readLine();
        assertNotNull(line, "the writer ended");
        last = Long.parseLong(line);
      }
      process.destroyForcibly();
      process.waitFor();
    }
    return last;
  }

  @Test
  void noOffsetIsAheadOfTheEntries() throws Exception {
    Random random = new Random(5);
    for (int i = 0; i < KILLS; i++) {
      long told = kill("at_least_once", 1 + random.nextInt(200));
      KeyValueStore<Bytes, byte[]> store = open(directory, "at_least_once");
      Long committed = store.committedOffset(CHANGELOG);
      assertNotNull(committed);
      assertTrue(committed >= told, committed + " was committed, " + told + " had been told");
      for (long offset = Math.max(0, committed - KEYS + 1); offset <= committed; offset++) {
        byte[] value = store.get(key(offset));
        assertNotNull(value, "no entry for offset " + offset);
        assertTrue(Long.parseLong(new String(value, UTF_8)) >= offset);
      }
      store.close();
      IsobarStores.close();
    }
  }

  @Test
  void exactlyOnceBeginsAnew() throws Exception {
    Random random = new Random(7);
    for (int i = 0; i < KILLS; i++) {
      kill("exactly_once_v2", 1 + random.nextInt(50));
      assertThrows(TaskCorruptedException.class, () -> open(directory, "exactly_once_v2"));
      Utils.delete(new TestTask(directory, Map.of()).directory().toFile()); // as Kafka does
      KeyValueStore<Bytes, byte[]> store = open(directory, "exactly_once_v2");
      assertNull(store.committedOffset(CHANGELOG));
      assertNull(store.get(key(0)));
      store.close();
      IsobarStores.close();
    }
  }
}
