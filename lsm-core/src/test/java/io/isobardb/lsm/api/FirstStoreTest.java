package io.isobardb.lsm.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.observe.Figure;
import io.isobardb.lsm.observe.StoreStats;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The first store of a process: what it begins there, and what it leaves until it is wanted. */
class FirstStoreTest {
  @TempDir Path dir;

  private UserProgram.Printed run(List<String> flags, Class<?> program, String... args)
      throws Exception {
    return new UserProgram(dir).run(flags, program, args);
  }

  /** The classes that a program with a store loads, a line each. */
  private List<String> loadedBy(Class<?> program) throws Exception {
    Path log = dir.resolve("classes");
    run(List.of("-Xlog:class+load:file=" + log), program, dir.resolve("store").toString());
    List<String> loaded = Files.readAllLines(log);
    assertTrue(loaded.stream().anyMatch(line -> line.contains("jdk.jfr")), "no classes");
    return loaded;
  }

  /** Opens a store and closes it, with a write that is flushed. */
  static final class OneWrite {
    public static void main(String[] args) {
      StoreOptions options = StoreOptions.builder().memoryBudget(16 << 20).build();
      try (Store store = Store.open(Path.of(args[0]), options)) {
        Tree tree = store.openTree("t");
        byte[] before = tree.get(new byte[] {1});
        System.out.print(before == null ? 0 : before[0]);
        tree.put(new byte[] {1}, new byte[] {(byte) (before == null ? 1 : before[0] + 1)});
        store.flush();
      }
    }
  }

  /**
   * JFR reads the descriptions of all its events before it registers the first. The figures of
   * statistics are found by reflection.
   */
  @Test
  void nothingIsMadeForFlightRecorderOrMonitoringThatNobodyUses() throws Exception {
    List<String> loaded = loadedBy(OneWrite.class);
    assertEquals(
        List.of(),
        loaded.stream()
            .filter(
                line ->
                    line.contains("MetadataRepository")
                        || line.contains(Figure.class.getName())
                        || line.contains(StoreStats.class.getName()))
            .toList());
  }

  /** Opens a store, writes and reads, and closes it. */
  static final class NoFlush {
    public static void main(String[] args) {
      StoreOptions options = StoreOptions.builder().memoryBudget(16 << 20).build();
      try (Store store = Store.open(Path.of(args[0]), options)) {
        Tree tree = store.openTree("t");
        tree.put(new byte[] {1}, new byte[] {2});
        System.out.print(tree.get(new byte[] {1})[0]);
      }
    }
  }

  /**
   * The first time that a record's own {@code equals} is called takes as long as a later opening.
   */
  @Test
  void noRecordIsComparedByTheMethodThatTheCompilerMade() throws Exception {
    assertEquals(
        List.of(),
        loadedBy(NoFlush.class).stream().filter(line -> line.contains("ObjectMethods")).toList());
  }

  /** Records what a store does; begins before it is opened, after, or before another store was. */
  static final class Recorded {
    public static void main(String[] args) throws Exception {
      Recording recording = new Recording();
      if (!args[1].equals("after")) {
        recording.start();
      }
      StoreOptions options = StoreOptions.builder().memoryBudget(16 << 20).build();
      if (args[1].equals("before another")) {
        Store.open(Path.of(args[0] + "-another"), options).close();
      }
      try (Store store = Store.open(Path.of(args[0]), options)) {
        Tree tree = store.openTree("t");
        tree.put(new byte[] {1}, new byte[1], Durability.SYNC);
        if (args[1].equals("after")) {
          recording.start();
        }
        tree.put(new byte[] {2}, new byte[1], Durability.SYNC);
        store.flush();
      }
      recording.stop();
      recording.dump(Path.of(args[2]));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"before", "after", "before another"})
  void aRecordingHasTheEventsWheneverItBegins(String when) throws Exception {
    Path file = dir.resolve("recording.jfr");
    run(List.of(), Recorded.class, dir.resolve("store").toString(), when, file.toString());
    TreeSet<String> names = new TreeSet<>();
    for (RecordedEvent event : RecordingFile.readAllEvents(file)) {
      names.add(event.getEventType().getName());
    }
    assertTrue(names.containsAll(List.of("isobar.Sync", "isobar.Flush")), names.toString());
  }

  /** In some languages numbers are written with other digits than 0 to 9. */
  @Test
  void aStoreIsTheSameInEveryLanguage() throws Exception {
    String store = dir.resolve("store").toString();
    List<String> arabic = List.of("-Duser.language=ar", "-Duser.country=EG");
    assertEquals("0", run(arabic, OneWrite.class, store).out());
    assertEquals("1", run(List.of(), OneWrite.class, store).out());
    assertEquals("2", run(arabic, OneWrite.class, store).out());
    try (Stream<Path> files = Files.list(Path.of(store))) {
      String names = files.map(Path::toString).sorted().collect(Collectors.joining(" "));
      assertTrue(names.chars().allMatch(c -> c < 128), names);
    }
  }
}
