package io.isobardb.lsm.damage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.SimulatedStores;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.inspect.CheckProgress;
import io.isobardb.repair.StoreInspector;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two processes, one of which takes the directory of the other's store away, in histories drawn
 * from a seed: by deleting, moving, linking or copying it, or by the loser's own reading of LOCK.
 * The store of whoever opened last is whole, and the other one stops, and says why.
 *
 * <p>{@code -Disobar.directory.histories=200} is the long form.
 */
class TakenDirectoryTest {
  private static final int HISTORIES = Integer.getInteger("isobar.directory.histories", 4);
  private static final long SEED = Long.getLong("isobar.seed", 1);

  private static final StoreOptions OPTIONS =
      StoreOptions.builder().memoryBudget(8 << 20).logLimit(1 << 20).build();

  @TempDir Path top;

  private final List<Worker> workers = new ArrayList<>();

  /** A process that does what it is told, a line at a time. */
  private static final class Worker implements AutoCloseable {
    private final Process process;
    private final BufferedReader answers;
    private final Writer orders;

    Worker() throws IOException {
      process =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  "-Xmx100m",
                  "-XX:TieredStopAtLevel=1",
                  "-XX:+UseSerialGC",
                  "-cp",
                  System.getProperty("java.class.path"),
                  Loop.class.getName())
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .start();
      answers =
          new BufferedReader(
              new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
      orders = process.outputWriter(StandardCharsets.UTF_8);
    }

    String ask(String order) throws IOException {
      orders.write(order + "\n");
      orders.flush();
      String answer = answers.readLine();
      assertTrue(answer != null, "the process ended at " + order);
      return answer;
    }

    /** The number that an order is answered by. */
    int count(String order) throws IOException {
      String answer = ask(order);
      assertTrue(answer.matches("[0-9]+"), order + ": " + answer);
      return Integer.parseInt(answer);
    }

    @Override
    public void close() throws IOException {
      process.destroyForcibly().onExit().join();
      answers.close();
    }
  }

  /** What such a process runs. */
  static final class Loop {
    private Store store;
    private Tree tree;
    private volatile int count;
    private volatile boolean pausing;
    private volatile boolean paused;
    private volatile boolean ending;
    private volatile Throwable stopped;
    private Thread writer;

    private Loop() {}

    public static void main(String[] args) throws Exception {
      Loop loop = new Loop();
      BufferedReader in =
          new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        String[] words = line.split(" ", 2);
        String answer;
        try {
          answer = loop.obey(words[0], words.length > 1 ? words[1] : "");
        } catch (Exception | Error e) {
          answer = "failed: " + e;
        }
        System.out.println(answer.replace('\n', ' '));
      }
      System.exit(0);
    }

    private String obey(String order, String directory) throws Exception {
      switch (order) {
        case "open" -> {
          store = Store.open(Path.of(directory), OPTIONS);
          tree = store.openTree("t");
          count = countAll();
        }
        case "write" -> {
          pausing = false;
          ending = false;
          stopped = null;
          writer = new Thread(this::write);
          writer.start();
        }
        case "pause" -> {
          pausing = true;
          await(() -> paused);
          store.flush();
        }
        case "resume" -> pausing = false;
        case "read" -> Files.readString(Path.of(directory).resolve("LOCK"));
        case "stopped" -> {
          writer.join();
          return String.valueOf(stopped);
        }
        case "close" -> {
          ending = true;
          pausing = false;
          writer.join();
          try {
            store.close();
          } catch (RuntimeException e) {
            if (stopped == null) {
              throw e;
            }
          }
        }
        default -> {}
      }
      return "" + count;
    }

    private interface Condition {
      boolean holds();
    }

    private static void await(Condition condition) {
      while (!condition.holds()) {
        LockSupport.parkNanos(1_000_000);
      }
    }

    private int countAll() {
      int found = 0;
      try (Cursor cursor = tree.cursor()) {
        for (boolean on = cursor.first(); on; on = cursor.next(), found++) {
          boolean same = Arrays.equals(SimulatedStores.key(found), cursor.key());
          if (!same || !Arrays.equals(SimulatedStores.value(found, 100), cursor.value())) {
            throw new IllegalStateException("entry " + found + " is another one");
          }
        }
      }
      return found;
    }

    private void write() {
      try {
        while (!ending) {
          boolean pause = pausing;
          paused = pause;
          int n = count;
          if (!pause) {
            Durability durability = n % 64 == 0 ? Durability.SYNC : Durability.ASYNC;
            tree.put(SimulatedStores.key(n), SimulatedStores.value(n, 100), durability);
            count = n + 1;
          }
          if (pause || n % 16 == 0) {
            LockSupport.parkNanos(500_000);
          }
        }
      } catch (Throwable e) {
        stopped = e;
      }
    }
  }

  /** How the directory is taken. */
  private enum Way {
    DELETE,
    READ_LOCK,
    REPLACE_BY_COPY,
    LINK_FILES,
    MOVE,
    DELETE_LOCK,
    COPY,
    LINK_DIRECTORY
  }

  @BeforeEach
  void start() throws IOException {
    workers.add(new Worker());
    workers.add(new Worker());
  }

  @AfterEach
  void end() throws IOException {
    for (Worker worker : workers) {
      worker.close();
    }
  }

  /** Deletes a directory; a process that has it may make files meanwhile. */
  private static void deleteAll(Path directory) throws IOException {
    while (Files.exists(directory)) {
      try (Stream<Path> files = Files.walk(directory)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.deleteIfExists(file);
        }
      } catch (DirectoryNotEmptyException e) {
        continue;
      } catch (UncheckedIOException e) {
        if (!(e.getCause() instanceof NoSuchFileException)) {
          throw e;
        }
      }
    }
  }

  private static void copyAll(Path from, Path to, boolean links) throws IOException {
    Files.createDirectory(to);
    try (Stream<Path> files = Files.list(from)) {
      for (Path file : files.toList()) {
        Path target = to.resolve(file.getFileName());
        if (file.endsWith("LOCK")) {
          continue;
        }
        if (links) {
          Files.createLink(target, file);
        } else {
          Files.copy(file, target);
        }
      }
    }
  }

  private static void assertWhole(Path directory, String what) throws IOException {
    try (StoreInspector inspector = StoreInspector.open(directory, OPTIONS)) {
      assertEquals(List.of(), inspector.check(CheckProgress.NONE).findings(), what);
    }
  }

  /** One history; the first worker has the store, and the second one takes it. */
  private void live(Way way, SplittableRandom random, Path home, String what) throws IOException {
    Worker first = workers.get(random.nextInt(2));
    Worker second = workers.get(first == workers.get(0) ? 1 : 0);
    Path data = home.resolve("data");
    Path other = home.resolve("other");
    assertEquals(0, first.count("open " + data), what);
    first.count("write");
    pass(random);
    boolean apart = way == Way.COPY || way == Way.LINK_FILES;
    int paused = 0;
    if (apart || way == Way.REPLACE_BY_COPY) {
      paused = first.count("pause");
    }
    int least = 0;
    Path taken = data;
    switch (way) {
      case DELETE -> deleteAll(data);
      case MOVE -> Files.move(data, other);
      case READ_LOCK -> first.count("read " + data);
      case DELETE_LOCK -> Files.delete(data.resolve("LOCK"));
      case COPY, LINK_FILES -> {
        copyAll(data, other, way == Way.LINK_FILES);
        taken = other;
        least = paused;
      }
      case REPLACE_BY_COPY -> {
        copyAll(data, other, false);
        Files.move(data, home.resolve("moved"));
        Files.move(other, data);
        least = paused;
        first.count("resume");
      }
      case LINK_DIRECTORY -> {
        Files.move(data, other);
        Files.createSymbolicLink(data, other);
        String refused = second.ask("open " + data);
        assertTrue(refused.contains("is open already"), what + ": " + refused);
        pass(random);
        int there = first.count("close");
        assertWhole(data, what);
        assertTrue(second.count("open " + data) == there, what);
        second.count("write");
        second.count("close");
        return;
      }
      default -> throw new AssertionError(way);
    }
    if (way == Way.READ_LOCK || way == Way.DELETE_LOCK) {
      pass(random);
      least = first.count("acknowledged");
    }
    int found = second.count("open " + taken);
    assertTrue(found >= least, what + ": found " + found + " of " + least);
    second.count("write");
    if (apart) {
      first.count("resume");
    }
    pass(random);
    if (apart) {
      int there = first.count("close");
      assertWhole(data, what);
      assertEquals(there, first.count("open " + data), what);
      first.count("write");
      first.count("close");
    } else {
      String why = first.ask("stopped");
      assertTrue(why.contains("the lock was lost"), what + ": " + why);
      first.count("close");
    }
    pass(random);
    int written = second.count("close");
    assertWhole(taken, what);
    assertEquals(written, first.count("open " + taken), what);
    first.count("write");
    first.count("close");
    assertWhole(taken, what);
  }

  private static void pass(SplittableRandom random) {
    LockSupport.parkNanos(random.nextInt(120) * 1_000_000L);
  }

  @Test
  void theStoreOfWhoeverOpenedLastIsWholeAndTheOtherOneStops() throws IOException {
    System.out.println("isobar.seed=" + SEED);
    for (int i = 0; i < HISTORIES; i++) {
      SplittableRandom random = new SplittableRandom(SEED + i);
      Way way = Way.values()[i % Way.values().length];
      Path home = Files.createDirectory(top.resolve("history" + i));
      live(way, random, home, "seed " + (SEED + i) + ", " + way);
      deleteAll(home);
    }
  }
}
