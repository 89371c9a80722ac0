package io.isobardb.lsm.io;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.SimulatedStores;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.error.StoreFailedException;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedScheduler;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** A storage whose lock somebody else got changes nothing that is there, and says what happened. */
final class LostLockTest {
  @TempDir Path top;

  private Path dir;
  private DirectoryStorage storage;
  private DataFile open;
  private DataFile read;

  /** How a lock is lost. */
  private interface Loss {
    void happen() throws IOException;
  }

  @BeforeEach
  void lock() throws IOException {
    dir = Files.createDirectory(top.resolve("data")).toRealPath();
    begin();
  }

  private void begin() throws IOException {
    storage = DirectoryStorage.open(dir, true);
    storage.lock();
    for (String name : new String[] {"open", "read", "a", "b"}) {
      try (DataFile file = storage.create(name, IoMode.BUFFERED)) {
        Bytes.write(file, 0, 1, 100);
      }
    }
    open = storage.open("open", IoMode.BUFFERED);
    read = storage.open("read", IoMode.BUFFERED);
    Bytes.write(open, 0, 1, 100);
  }

  private Map<String, Loss> losses() {
    Map<String, Loss> losses = new LinkedHashMap<>();
    losses.put(
        "opening 2 has taken it",
        () -> Files.writeString(dir.resolve("LOCK"), "process 1 on elsewhere, opening 2"));
    losses.put("somebody deleted the file LOCK", () -> Files.delete(dir.resolve("LOCK")));
    losses.put(
        "somebody replaced the file LOCK",
        () -> {
          Path copy = Files.copy(dir.resolve("LOCK"), dir.resolve("copy"));
          Files.delete(dir.resolve("LOCK"));
          Files.move(copy, dir.resolve("LOCK"));
        });
    losses.put("deleted, moved or replaced", () -> replaceDirectory("moved"));
    return losses;
  }

  private void replaceDirectory(String moved) throws IOException {
    Path away = top.resolve(moved);
    Files.move(dir, away);
    Files.createDirectory(dir);
    for (String name : new String[] {"LOCK", "open", "read", "a", "b"}) {
      Files.copy(away.resolve(name), dir.resolve(name));
    }
  }

  private Map<String, String> contents() throws IOException {
    Map<String, String> contents = new TreeMap<>();
    try (Stream<Path> files = Files.list(dir)) {
      for (Path file : files.toList()) {
        contents.put(file.getFileName().toString(), Files.readString(file));
      }
    }
    return contents;
  }

  private void end() throws IOException {
    open.close();
    read.close();
    storage.close();
    try (Stream<Path> files = Files.walk(dir)) {
      files.skip(1).forEach(file -> assertTrue(file.toFile().delete()));
    }
  }

  @Test
  void nothingIsChangedByNameAndNoSyncSucceeds() throws IOException {
    for (Map.Entry<String, Loss> loss : losses().entrySet()) {
      loss.getValue().happen();
      Map<String, String> before = contents();
      Map<String, Executable> changes = new LinkedHashMap<>();
      changes.put("create", () -> storage.create("new", IoMode.BUFFERED));
      changes.put("rename", () -> storage.rename("a", "b"));
      changes.put("rename over an open one", () -> storage.rename("a", "open"));
      changes.put("delete", () -> storage.delete("a"));
      changes.put("delete an open one", () -> storage.delete("open"));
      changes.put("shrink", () -> storage.shrink("a", 10));
      changes.put("sync", () -> open.sync());
      changes.put("sync the directory", () -> storage.syncDirectory());
      changes.put("map", () -> open.map(0, 100));
      changes.put("first write", () -> Bytes.write(read, 0, 2, 100));
      for (Map.Entry<String, Executable> change : changes.entrySet()) {
        String what = change.getKey() + ", " + loss.getKey();
        IOException e = assertThrows(IOException.class, change.getValue(), what);
        assertTrue(e.getMessage().contains(loss.getKey()), what + ": " + e.getMessage());
        assertEquals(before, contents(), what);
      }
      assertArrayEquals(Bytes.of(100, 1), Bytes.contents(open), "it can still be read");
      end();
      begin();
    }
    end();
  }

  /** As when the device is gone, or a right to the directories above it. */
  @Test
  void aLockThatCanNotBeLookedAtIsToldAsSuch() throws IOException {
    Path away = Files.move(dir, top.resolve("away"));
    Files.createSymbolicLink(dir, dir);
    for (Executable change : List.<Executable>of(open::sync, () -> storage.delete("a"))) {
      IOException e = assertThrows(IOException.class, change);
      String start = dir.resolve("LOCK") + ": can't be looked at, so it may be lost: ";
      assertTrue(e.getMessage().startsWith(start), e::toString);
    }
    Files.delete(dir);
    Files.move(away, dir);
    open.sync();
    end();
  }

  /**
   * A second of a clock that the test moves: a write is waiting for the sync that comes by time.
   */
  @Test
  void aStoreStopsWithinASecond() throws IOException {
    Path taken = top.resolve("taken");
    SimulatedClock clock = new SimulatedClock();
    SimulatedScheduler scheduler = new SimulatedScheduler(clock, 1);
    Environment environment =
        new Environment(
            DirectoryStorage.open(taken, true), clock, scheduler, new SplittableRandom(1));
    Store store = Inside.open(environment, SimulatedStores.SMALL);
    Tree tree = store.openTree("t");
    tree.put(new byte[1], new byte[10]);
    Files.writeString(taken.resolve("LOCK"), "process 1 on elsewhere, opening 2");
    scheduler.runFor(1_000_000_000);
    StoreFailedException e =
        assertThrows(StoreFailedException.class, () -> tree.put(new byte[2], new byte[10]));
    assertTrue(e.getMessage().contains("opening 2 has taken it"), e.getMessage());
    store.close();
  }

  /** What stands at the name of a file is somebody else's when an interrupt has closed it. */
  @Test
  void noOtherFileIsOpenedInThePlaceOfOneThatWasOpen() throws IOException {
    List<FileChannel> channels = new ArrayList<>();
    Path place = Files.createDirectory(top.resolve("place"));
    try (DirectoryStorage unlocked =
        DirectoryStorage.open(
            place,
            false,
            16,
            channel -> {
              channels.add(channel);
              return channel;
            })) {
      DataFile file = unlocked.create("a", IoMode.BUFFERED);
      Bytes.write(file, 0, 1, 100);
      Files.writeString(place.resolve("fresh"), "another");
      Files.move(place.resolve("fresh"), place.resolve("a"), StandardCopyOption.REPLACE_EXISTING);
      channels.get(0).close();
      IOException e = assertThrows(IOException.class, () -> Bytes.write(file, 0, 3, 100));
      assertTrue(e.getMessage().contains("another file in its place"), e.getMessage());
      assertEquals("another", Files.readString(place.resolve("a")));
      file.close();
    }
    end();
  }

  @Test
  void filesOfADirectoryThatWasMovedAreFoundWhereItIs() throws IOException {
    Path away = top.resolve("away");
    Files.move(dir, away);
    Files.createSymbolicLink(dir, away);
    storage.rename("a", "c");
    storage.syncDirectory();
    assertTrue(Files.exists(away.resolve("c")));
    open.close();
    read.close();
    storage.close();
  }
}
