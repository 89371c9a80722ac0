package io.isobardb.lsm.format;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.SimulatedStores;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.error.Finding;
import io.isobardb.lsm.error.StoreLockedException;
import io.isobardb.lsm.inspect.CheckProgress;
import io.isobardb.lsm.inspect.CheckReport;
import io.isobardb.lsm.inspect.RepairReport;
import io.isobardb.lsm.io.GuardedFiles;
import io.isobardb.lsm.io.GuardedFiles.Access;
import io.isobardb.repair.StoreInspector;
import io.isobardb.repair.StoreRepair;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Stores that may be read, but not written: on a read-only mount, or owned by somebody else. */
class ReadOnlyStoreTest {
  private static final StoreOptions SMALL = SimulatedStores.SMALL;

  @TempDir Path temp;
  private Path dir;

  /** SSTables, and a log that no SSTable has yet. */
  @BeforeEach
  void makeStore() throws IOException {
    dir = temp.toRealPath().resolve("store");
    try (Store store = Store.open(dir, SMALL)) {
      Tree tree = store.openTree("t");
      for (int i = 0; i < 1000; i++) {
        tree.put(SimulatedStores.key(i), bytes("value"));
      }
      store.flush();
      tree.put(bytes("z"), bytes("in the log"));
    }
  }

  private Path mountedReadOnly() {
    return GuardedFiles.guard(
        dir,
        (access, path) -> {
          if (access.compareTo(Access.WRITE) >= 0 && path.startsWith(dir)) {
            throw new FileSystemException(path.toString(), null, "Read-only file system");
          }
        });
  }

  /** Names, contents and times, the lock's too. */
  private String state() throws IOException {
    TreeMap<String, String> state = new TreeMap<>();
    List<Path> paths = new ArrayList<>(List.of(dir));
    try (Stream<Path> files = Files.list(dir)) {
      files.forEach(paths::add);
    }
    for (Path path : paths) {
      String contents =
          Files.isDirectory(path) ? "" : HexFormat.of().formatHex(Files.readAllBytes(path));
      state.put(path.toString(), Files.getLastModifiedTime(path) + " " + contents.hashCode());
    }
    return state.toString();
  }

  private static void lookAtEverything(StoreInspector store) throws IOException {
    AtomicInteger entries = new AtomicInteger();
    store.entries(store.trees().get(0), null, null, at -> entries.incrementAndGet() < 10_000);
    assertEquals(1000, entries.get());
    AtomicInteger operations = new AtomicInteger();
    store.log(store.trees().get(0), null, null, at -> operations.incrementAndGet() > 0);
    assertTrue(operations.get() >= 1);
  }

  private CheckReport check(Path path) throws IOException {
    try (StoreInspector store = StoreInspector.open(path, SMALL)) {
      lookAtEverything(store);
      return store.check(CheckProgress.NONE);
    }
  }

  @Test
  void aStoreThatMayOnlyBeReadIsCheckedAndStaysAsItIs() throws IOException {
    String before = state();
    CheckReport report = check(mountedReadOnly());
    assertEquals(List.of(), report.findings());
    assertEquals(List.of(), report.notes());
    assertEquals(before, state());
    assertEquals(List.of(), check(dir).findings());
    assertEquals(before, state(), "nor is one changed that may be written");
  }

  @Test
  void withoutALockFileItIsSaidThatNobodyIsKeptFromWriting() throws IOException {
    Files.delete(dir.resolve("LOCK"));
    String before = state();
    CheckReport report = check(mountedReadOnly());
    assertEquals(List.of(), report.findings());
    assertEquals(1, report.notes().size());
    assertTrue(
        report.notes().get(0).endsWith("there is no file " + dir.resolve("LOCK")),
        report.notes()::toString);
    assertEquals(before, state());
  }

  @Test
  void soItIsWithoutTheRightToReadTheLockFile() throws IOException {
    String before = state();
    CheckReport report = check(denied("LOCK", Access.READ));
    assertEquals(List.of(), report.findings());
    assertTrue(
        report
            .notes()
            .get(0)
            .contains(dir.resolve("LOCK") + ": can't be opened: permission denied"),
        report.notes()::toString);
    assertEquals(before, state());
  }

  @Test
  void itCanBeRepairedToAnotherPlace() throws IOException {
    String before = state();
    Path target = temp.resolve("repaired");
    RepairReport report = StoreRepair.run(mountedReadOnly(), target, SMALL, CheckProgress.NONE);
    assertTrue(report.isComplete(), report::toString);
    assertEquals(List.of(), report.notes());
    assertEquals(before, state());
    try (Store store = Store.open(target, SMALL)) {
      assertEquals(
          "in the log", new String(store.tree("t").get(bytes("z")), StandardCharsets.UTF_8));
    }
  }

  @Test
  void openingItSaysWhyNot() throws IOException {
    String before = state();
    UncheckedIOException e =
        assertThrows(UncheckedIOException.class, () -> Store.open(mountedReadOnly(), SMALL));
    String said = e.getMessage();
    assertTrue(said.contains(dir.resolve("LOCK") + ": can't be opened: read-only"), said);
    assertTrue(said.contains("mount it for writing"), said);
    assertTrue(said.contains("Store.openReadOnly"), said);
    assertEquals(before, state());
  }

  // ---- what may not be read

  private Path denied(String name, Access most) {
    return GuardedFiles.guard(
        dir,
        (access, path) -> {
          boolean inside = path.startsWith(dir) && !path.equals(dir);
          if (inside && path.toString().endsWith(name) && access.compareTo(most) >= 0) {
            throw new AccessDeniedException(path.toString());
          }
        });
  }

  private void assertDenied(Path named, Path path) throws IOException {
    String before = state();
    for (int way = 0; way < 3; way++) {
      int of = way;
      UncheckedIOException e =
          assertThrows(
              UncheckedIOException.class,
              () -> {
                switch (of) {
                  case 0 -> StoreInspector.open(path, SMALL).close();
                  case 1 ->
                      StoreRepair.run(path, temp.resolve("repaired"), SMALL, CheckProgress.NONE);
                  default -> Store.open(path, SMALL).close();
                }
              });
      assertTrue(e.getMessage().contains(named + ": can't be "), e::toString);
      assertTrue(e.getMessage().contains("permission denied; run as a user"), e::toString);
      assertTrue(e.getMessage().contains("the option fileAccess"), e::toString);
      assertFalse(e.getMessage().contains("is not a store"), e::toString);
      // Opening to write may have put its name into the lock file.
      assertTrue(way == 2 || state().equals(before), "changed: " + state());
    }
  }

  @Test
  void aDirectoryThatMayNotBeSearchedIsNotCalledNoStore() throws IOException {
    assertDenied(dir.resolve("CURRENT"), denied("", Access.LOOK));
  }

  @Test
  void norOneWhoseManifestMayNotBeRead() throws IOException {
    assertDenied(dir.resolve("CURRENT"), denied("CURRENT", Access.READ));
  }

  @Test
  void anSSTableThatMayNotBeReadIsAFinding() throws IOException {
    Path table = StoreFiles.last(dir, "", ".sst");
    String name = table.getFileName().toString();
    try (StoreInspector store = StoreInspector.open(denied(name, Access.READ), SMALL)) {
      CheckReport report = store.check(CheckProgress.NONE);
      List<Finding> findings = report.findings();
      assertEquals(name, findings.get(0).file());
      assertTrue(
          findings.get(0).what().contains(table + ": can't be opened: permission denied"),
          findings::toString);
    }
  }

  // ---- who else is there

  @Test
  void aStoreIsEitherOpenOrLookedAt() throws IOException {
    try (Store store = Store.open(dir, SMALL)) {
      StoreLockedException e =
          assertThrows(StoreLockedException.class, () -> StoreInspector.open(dir, SMALL));
      assertTrue(e.getMessage().contains("opened by thread"), e::toString);
      store.tree("t").put(bytes("a"), bytes("b"));
    }
    try (StoreInspector inspector = StoreInspector.open(mountedReadOnly(), SMALL)) {
      assertNull(inspector.unlockedBecause());
      assertThrows(StoreLockedException.class, () -> Store.open(dir, SMALL));
      lookAtEverything(inspector);
    }
    Store.open(dir, SMALL).close();
  }
}
