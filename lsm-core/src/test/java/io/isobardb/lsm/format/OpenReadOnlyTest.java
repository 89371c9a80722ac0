package io.isobardb.lsm.format;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static io.isobardb.lsm.SimulatedStores.contents;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Backups;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.SimulatedStores;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.error.FormatException;
import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.error.ReadOnlyException;
import io.isobardb.lsm.error.StoreLockedException;
import io.isobardb.lsm.io.GuardedFiles;
import io.isobardb.lsm.io.GuardedFiles.Access;
import io.isobardb.lsm.io.PrivateStorage;
import io.isobardb.lsm.observe.IoPurpose;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.simulation.CrashMode;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedScheduler;
import io.isobardb.lsm.simulation.SimulatedStorage;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** Stores opened to be read only. */
@Tag("any-jdk")
class OpenReadOnlyTest {
  private static final StoreOptions SMALL =
      StoreOptions.builder().memoryBudget(8 << 20).pageSize(4096).logLimit(16 << 20).build();

  @TempDir Path temp;
  private Path dir;
  private Map<String, String> expected;

  @BeforeEach
  void makeStore() throws IOException {
    dir = temp.toRealPath().resolve("store");
    try (Store store = Store.open(dir, SMALL)) {
      Tree tree = store.openTree("t");
      Tree unlogged = store.openTree("u", TreeOptions.builder().logged(false).build());
      for (int i = 0; i < 1000; i++) {
        tree.put(SimulatedStores.key(i), bytes("value"));
        unlogged.put(SimulatedStores.key(i), bytes("value"));
      }
      store.flush();
      tree.put(bytes("z"), bytes("in the log"));
      tree.delete(SimulatedStores.key(5));
      expected = contents(tree);
    }
  }

  private Map<String, String> files() throws IOException {
    Map<String, String> files = new TreeMap<>();
    try (Stream<Path> paths = Files.list(dir)) {
      for (Path path : paths.toList()) {
        files.put(
            path.getFileName() + " " + Files.getLastModifiedTime(path),
            HexFormat.of().formatHex(Files.readAllBytes(path)));
      }
    }
    return files;
  }

  @Test
  void readsAllAndChangesNoByte() throws IOException {
    Map<String, String> before = files();
    for (int round = 0; round < 2; round++) {
      try (Store store = Store.openReadOnly(dir, SMALL)) {
        Tree tree = store.tree("t");
        assertEquals(expected, contents(tree));
        assertArrayEquals(bytes("in the log"), tree.get(bytes("z")));
        assertNull(tree.get(SimulatedStores.key(5)));
        assertEquals(1000, contents(store.tree("u")).size());
        try (Snapshot snapshot = store.snapshot()) {
          assertTrue(tree.contains(bytes("z"), snapshot));
        }
        store.awaitQuiet();
      }
      assertEquals(before, files());
    }
    try (Store store = Store.open(dir, SMALL)) {
      assertEquals(expected, contents(store.tree("t")));
    }
  }

  @Test
  void dropsNothingThatNobodyNeeds() throws IOException {
    try (Store store = Store.open(dir, SMALL)) {
      Snapshot reader = store.snapshot();
      store.tree("t").deleteRange(null, null, Durability.SYNC);
      assertTrue(store.tree("t").contains(bytes("z"), reader));
    }
    Map<String, String> before = files();
    try (Store store = Store.openReadOnly(dir, SMALL)) {
      assertEquals(Map.of(), contents(store.tree("t")));
      store.awaitQuiet();
      assertEquals(0, store.stats().merges());
    }
    assertEquals(before, files());
    try (Store store = Store.open(dir, SMALL)) {
      store.awaitQuiet();
      assertTrue(store.stats().merges() > 0, "there was nothing to drop");
    }
  }

  @Test
  void refusesAllWritesByAnExceptionOfTheirOwn() {
    try (Store store = Store.openReadOnly(dir, SMALL)) {
      Tree tree = store.tree("t");
      List<Executable> writes =
          List.of(
              () -> tree.put(bytes("a"), bytes("b")),
              () -> tree.delete(bytes("a")),
              () -> store.write(store.newBatch().put(tree, bytes("a"), bytes("b"))),
              () -> store.tree("u").put(bytes("a"), bytes("b")),
              () -> tree.putIfAbsent(bytes("a"), bytes("b")),
              () ->
                  store.inTransaction(
                      transaction -> {
                        transaction.put(tree, bytes("a"), bytes("b"));
                        return 0;
                      }),
              () -> store.openTree("new"),
              () -> store.dropTree("t"),
              store::flush,
              store::checkpoint);
      for (Executable write : writes) {
        ReadOnlyException refused = assertThrows(ReadOnlyException.class, write);
        assertTrue(refused.getMessage().contains(dir.toString()), refused.getMessage());
      }
      assertNull(store.failure());
      assertEquals(expected, contents(tree));
      assertEquals(List.of("t", "u"), store.treeNames());
    }
  }

  @Test
  void worksOnAReadOnlyFileSystem() {
    Path mounted =
        GuardedFiles.guard(
            dir,
            (access, path) -> {
              if (access.compareTo(Access.WRITE) >= 0 && path.startsWith(dir)) {
                throw new FileSystemException(path.toString(), null, "Read-only file system");
              }
            });
    try (Store store = Store.openReadOnly(mounted, SMALL)) {
      assertEquals(expected, contents(store.tree("t")));
    }
  }

  @Test
  void isBackedUpAndCopied() {
    try (Store store = Store.openReadOnly(dir, SMALL);
        Backups backups = Backups.open(temp.resolve("backups"))) {
      store.checkpointTo(temp.resolve("copy"));
      backups.restore(backups.create(store).id(), temp.resolve("restored"));
    }
    for (String name : List.of("copy", "restored")) {
      try (Store store = Store.open(temp.resolve(name), SMALL)) {
        assertEquals(expected, contents(store.tree("t")));
        assertEquals(1000, contents(store.tree("u")).size());
      }
    }
  }

  @Test
  void aWriterAndReadersKeepEachOtherOut() throws IOException {
    try (Store store = Store.openReadOnly(dir, SMALL)) {
      assertEquals(2, store.treeNames().size());
      assertThrows(StoreLockedException.class, () -> Store.open(dir, SMALL));
    }
    try (Store store = Store.open(dir, SMALL)) {
      assertEquals(2, store.treeNames().size());
      assertThrows(StoreLockedException.class, () -> Store.openReadOnly(dir, SMALL));
    }
    Path empty = Files.createDirectory(temp.resolve("empty"));
    assertThrows(FormatException.class, () -> Store.openReadOnly(empty, SMALL));
    try (Stream<Path> left = Files.list(empty)) {
      assertFalse(left.findAny().isPresent());
    }
  }

  /** What a segment of the log held before it was one is not taken to the heap. */
  @Test
  void aLongSegmentOfTheLogTakesNoMemory() throws IOException {
    StoreOptions large = SMALL.toBuilder().memoryBudget(64 << 20).logLimit(128 << 20).build();
    Path made = temp.resolve("large");
    try (Store store = Store.open(made, large)) {
      Tree tree = store.openTree("t");
      byte[] value = new byte[10_000];
      Arrays.fill(value, (byte) 1);
      // Seven segments and a third.
      for (int i = 0; i < 12_200; i++) {
        tree.put(SimulatedStores.key(i % 100), value);
        if (i % 1000 == 0) {
          store.flush();
        }
      }
      store.flush();
    }
    try (Store store = Store.openReadOnly(made, SMALL)) {
      assertEquals(100, contents(store.tree("t")).size());
    }
  }

  /** The log is longer than write memory, and L0 waits for merges. */
  @Test
  void theBudgetThatAStoreWasWrittenWithIsEnoughToReadIt() throws IOException {
    StoreOptions options = SMALL.toBuilder().memoryBudget(8 << 20).build();
    Path made = temp.resolve("written");
    byte[] value = new byte[400];
    long logBytes;
    long diskBytes;
    try (Store store = Store.open(made, options)) {
      Tree tree = store.openTree("t");
      for (int i = 0; i < 60_000; i++) {
        tree.put(SimulatedStores.key((int) (i * 7919L % 60_000)), value);
      }
      logBytes = store.stats().logSizeBytes();
      diskBytes = store.stats().diskBytes();
    }
    assertTrue(logBytes > 4 << 20, logBytes + " bytes of log");
    try (Store store = Store.openReadOnly(made, options)) {
      assertEquals(60_000, contents(store.tree("t")).size());
      StoreStats stats = store.stats();
      assertEquals(0, stats.ioBytesWritten().get(IoPurpose.MERGE_L0), "merged");
      assertEquals(0, stats.ioBytesWritten().get(IoPurpose.MERGE_DEEP), "merged");
      assertTrue(stats.diskBytes() >= diskBytes);
    }
  }

  @Test
  void aLogLongerThanMemorySaysHowMuchIsNeeded() throws IOException {
    StoreOptions large = StoreOptions.builder().memoryBudget(64 << 20).pageSize(4096).build();
    try (Store store = Store.open(dir, large)) {
      for (int i = 0; i < 20_000; i++) {
        store.tree("t").put(SimulatedStores.key(i), new byte[1000]);
      }
    }
    Map<String, String> before = files();
    IsobarException refused =
        assertThrows(IsobarException.class, () -> Store.openReadOnly(dir, SMALL));
    Matcher said = Pattern.compile("memoryBudget of (\\d+)").matcher(refused.getMessage());
    assertTrue(said.find(), refused.getMessage());
    StoreOptions enough =
        StoreOptions.builder().memoryBudget(Long.parseLong(said.group(1))).pageSize(4096).build();
    try (Store store = Store.openReadOnly(dir, enough)) {
      assertEquals(20_001, contents(store.tree("t")).size());
    }
    assertEquals(before, files());
  }

  /** After a failure a reader sees what a writer would. */
  @Test
  void aCrashedStoreIsShownAsAnOpeningWouldShowIt() throws IOException {
    SplittableRandom random = new SplittableRandom(5);
    for (int round = 0; round < 40; round++) {
      SimulatedClock clock = new SimulatedClock();
      SimulatedStorage disk = new SimulatedStorage(clock);
      Store crashing = SimulatedStores.open(disk, clock, round);
      Tree tree = crashing.openTree("t");
      Tree unlogged = crashing.openTree("u", TreeOptions.builder().logged(false).build());
      for (int i = 0, end = random.nextInt(3000); i < end; i++) {
        tree.put(SimulatedStores.key(random.nextInt(500)), SimulatedStores.value(i, 100));
        unlogged.put(SimulatedStores.key(random.nextInt(500)), SimulatedStores.value(i, 100));
        if (random.nextInt(1000) == 0) {
          crashing.checkpoint();
        }
        if (random.nextInt(1000) == 0) {
          crashing.flush();
        }
      }
      SimulatedStorage image = disk.crash(random, CrashMode.values()[random.nextInt(4)]);
      crashing.close();
      long mutations = image.mutations();
      Map<String, String> logged;
      Map<String, String> rolledBack;
      StoreOptions options = SimulatedStores.SMALL.toBuilder().memoryBudget(16 << 20).build();
      SimulatedScheduler scheduler = new SimulatedScheduler(clock, round);
      Environment world =
          new Environment(new PrivateStorage(image, 16 << 20), clock, scheduler, random);
      try (Store reader = Inside.open(world, options)) {
        logged = contents(reader.openTree("t"));
        rolledBack = contents(reader.openTree("u"));
        assertThrows(ReadOnlyException.class, () -> reader.openTree("v"));
      } catch (ReadOnlyException e) {
        // The trees' creation did not survive.
        continue;
      }
      assertEquals(mutations, image.mutations(), "round " + round);
      try (Store writer = SimulatedStores.open(image, clock, round)) {
        assertEquals(contents(writer.tree("t")), logged, "round " + round);
        assertEquals(contents(writer.tree("u")), rolledBack, "round " + round);
      }
    }
  }
}
