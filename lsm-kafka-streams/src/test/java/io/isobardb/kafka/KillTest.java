package io.isobardb.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.errors.TaskCorruptedException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Processes that use a state store are killed: what is left is never behind the offsets, nor are
 * those behind what was committed.
 *
 * <p>{@code -Disobar.streams.kills=100} kills as many for each way of processing.
 */
@Tag("any-jdk")
class KillTest {
  private static final int KILLS =
      Integer.getInteger("isobar.streams.kills", Phase.values().length);
  private static final int KEYS = 50;
  private static final int RECORDS_A_COMMIT = 10;
  private static final int RECORDS_A_RESTORE = 200;
  private static final int LONGEST_DELAY_NANOS = 5_000_000;
  private static final TopicPartition CHANGELOG = new TopicPartition("app-counts-changelog", 0);

  @TempDir Path directory;

  @AfterEach
  void close() {
    IsobarStores.close();
  }

  /** What the process that is killed does, for ever; a line tells of each step. */
  private enum Phase {
    /** Opens and closes a state store, with a few records and a commit in between. */
    INIT,
    /** Restores a state store, with a commit after each call. */
    RESTORE,
    /** Processes records, with a commit every ten. */
    COMMIT,
    /** Fills a state store, wipes it and has its tree dropped. */
    DROP
  }

  /** The process that is killed. */
  static final class Writer {
    private Writer() {}

    public static void main(String[] arguments) throws IOException {
      Path directory = Path.of(arguments[0]);
      String guarantee = arguments[1];
      switch (Phase.valueOf(arguments[2])) {
        case INIT -> {
          for (long offset = 0; ; ) {
            IsobarKeyValueStore store = open(directory, guarantee);
            offset = process(store, offset);
            store.close();
            if (offset % 3 == 0) {
              IsobarStores.close();
            }
            System.out.println(offset - 1);
          }
        }
        case RESTORE -> {
          IsobarKeyValueStore store = open(directory, guarantee);
          for (long offset = 0; ; offset += RECORDS_A_RESTORE) {
            restore(store, offset, RECORDS_A_RESTORE);
          }
        }
        case COMMIT -> {
          IsobarKeyValueStore store = open(directory, guarantee);
          for (long offset = 0; ; ) {
            offset = process(store, offset);
            System.out.println(offset - 1);
          }
        }
        case DROP -> {
          while (true) {
            IsobarKeyValueStore store = open(directory, guarantee);
            process(store, 0);
            store.close();
            task(directory, guarantee).wipe();
            SharedStore.onlyOne().sweep();
            System.out.println(-1);
          }
        }
      }
    }
  }

  private static long process(IsobarKeyValueStore store, long from) {
    long offset = from;
    for (; offset < from + RECORDS_A_COMMIT; offset++) {
      store.put(key(offset), String.valueOf(offset).getBytes(UTF_8));
    }
    store.commit(Map.of(CHANGELOG, offset - 1));
    return offset;
  }

  private static void restore(IsobarKeyValueStore store, long from, int count) {
    List<AbstractStore.Restored> records = new ArrayList<>();
    for (long offset = from; offset < from + count; offset++) {
      records.add(
          new AbstractStore.Restored(
              key(offset).get(), String.valueOf(offset).getBytes(UTF_8), offset));
    }
    store.restoreAll(records);
    store.commit(Map.of(CHANGELOG, from + count - 1));
    System.out.println(from + count - 1);
  }

  private static Bytes key(long offset) {
    return Bytes.wrap(String.valueOf(offset % KEYS).getBytes(UTF_8));
  }

  private static MockTask task(Path directory, String guarantee) {
    return new MockTask(directory, 0, Map.of("processing.guarantee", guarantee));
  }

  private static IsobarKeyValueStore open(Path directory, String guarantee) {
    return task(directory, guarantee).open(new IsobarKeyValueStore("counts"));
  }

  /** Runs a process and kills it after some steps; the last offset that it told. */
  private long kill(Path state, String guarantee, Phase phase, Random random)
      throws IOException, InterruptedException {
    File errors = new File(directory.toFile(), "errors");
    Process process =
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-XX:TieredStopAtLevel=1",
                    "-XX:+UseSerialGC",
                    "-cp",
                    System.getProperty("java.class.path"),
                    Writer.class.getName(),
                    state.toString(),
                    guarantee,
                    phase.name()))
            .redirectError(errors)
            .start();
    long last = -1;
    try (BufferedReader output =
        new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8))) {
      for (int i = 1 + random.nextInt(phase == Phase.COMMIT ? 200 : 8); i > 0; i--) {
        String line = output.readLine();
        assertNotNull(line, () -> "the process ended: " + text(errors));
        last = Long.parseLong(line);
      }
      LockSupport.parkNanos(random.nextInt(LONGEST_DELAY_NANOS));
      process.destroyForcibly();
      process.waitFor();
    }
    return last;
  }

  private static String text(File file) {
    try {
      return Files.readString(file.toPath());
    } catch (IOException e) {
      return e.toString();
    }
  }

  private void killAll(String guarantee, long seed) throws IOException, InterruptedException {
    Random random = new Random(seed);
    for (int i = 0; i < KILLS; i++) {
      Phase phase = Phase.values()[i % Phase.values().length];
      Path state = directory.resolve(phase + "-" + i);
      long told = kill(state, guarantee, phase, random);
      check(state, guarantee, phase, told);
    }
  }

  private static void check(Path state, String guarantee, Phase phase, long told)
      throws IOException {
    String what = phase + ", " + guarantee;
    boolean exactlyOnce = guarantee.equals("exactly_once_v2");
    boolean certainlyOpen = phase == Phase.RESTORE || phase == Phase.COMMIT;
    if (exactlyOnce && certainlyOpen) {
      assertThrows(TaskCorruptedException.class, () -> open(state, guarantee), what);
      task(state, guarantee).wipe();
    }
    IsobarKeyValueStore store;
    try {
      store = open(state, guarantee);
    } catch (TaskCorruptedException e) {
      assertTrue(exactlyOnce && !certainlyOpen, what + " is corrupted once at most");
      task(state, guarantee).wipe();
      store = open(state, guarantee);
      assertNull(store.committedOffset(CHANGELOG), what);
    }
    Long committed = store.committedOffset(CHANGELOG);
    if (!exactlyOnce && told >= 0) {
      assertNotNull(committed, what);
      assertTrue(committed >= told, what + ": " + committed + ", and " + told + " had been told");
    }
    if (committed != null) {
      for (long offset = Math.max(0, committed - KEYS + 1); offset <= committed; offset++) {
        byte[] value = store.get(key(offset));
        assertNotNull(value, what + ": no entry for offset " + offset);
        assertTrue(Long.parseLong(new String(value, UTF_8)) >= offset, what);
      }
    }
    process(store, committed == null ? 0 : committed + 1);
    SharedStore.onlyOne().sweep();
    assertEquals(
        2, SharedStore.onlyOne().store().treeNames().size(), what + ": its tree, and the ledger");
    store.close();
    IsobarStores.close();
  }

  @Test
  void atLeastOnceGoesOnFromWhatWasCommitted() throws Exception {
    killAll("at_least_once", 5);
  }

  @Test
  void exactlyOnceBeginsAnewOnce() throws Exception {
    killAll("exactly_once_v2", 7);
  }
}
