package io.isobardb.lsm.io;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.isobardb.lsm.error.DiskFullException;
import io.isobardb.lsm.option.FileAccess;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.memory.page.Memory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

final class DirectoryStorageTest {
  private static final int PAGES = 64;

  @TempDir Path dir;

  @Test
  void aFileThatCantBeClosedIsTold() throws IOException {
    try (DirectoryStorage storage =
        DirectoryStorage.open(
            dir,
            false,
            16,
            channel ->
                new ShortChannel(channel, 1, null) {
                  @Override
                  protected void implCloseChannel() throws IOException {
                    super.implCloseChannel();
                    throw new IOException("Input/output error");
                  }
                })) {
      DataFile file = storage.create("a", IoMode.BUFFERED);
      IOException e = assertThrows(IOException.class, file::close);
      String start = dir.toRealPath().resolve("a") + ": can't be closed: input/output error; see";
      assertTrue(e.getMessage().startsWith(start), e.getMessage());
      file.close();
    }
  }

  @Test
  void missingDirectoriesAreCreatedOnlyIfAsked() throws IOException {
    Path deep = dir.resolve("a/b/c");
    assertThrows(NoSuchFileException.class, () -> DirectoryStorage.open(deep, false));
    DirectoryStorage storage = DirectoryStorage.open(deep, true);
    storage.create("x", IoMode.BUFFERED).close();
    assertTrue(Files.exists(deep.resolve("x")));
    assertThrows(
        NotDirectoryException.class, () -> DirectoryStorage.open(deep.resolve("x"), false));
  }

  @Test
  void filesShrinkUnlessTheyHaveAnotherName() throws IOException {
    DirectoryStorage storage = DirectoryStorage.open(dir, false);
    Files.write(dir.resolve("a"), new byte[5000]);
    assertTrue(storage.shrink("a", 2000));
    assertEquals(3000, Files.size(dir.resolve("a")));
    Files.createLink(dir.resolve("b"), dir.resolve("a"));
    assertFalse(storage.shrink("a", 2000));
    assertEquals(3000, Files.size(dir.resolve("b")));
    Files.delete(dir.resolve("b"));
    assertTrue(storage.shrink("a", 2000));
    assertFalse(storage.shrink("a", 2000));
    assertEquals(1000, Files.size(dir.resolve("a")));
  }

  /** Descriptors that are not waited for. */
  private static final OpenFiles.Descriptors IMPATIENT =
      new OpenFiles.Descriptors() {
        @Override
        public long spare() {
          return 1000;
        }

        @Override
        public void pause() {}
      };

  private static void assertSays(String message, Executable call) {
    assertEquals(message, assertThrows(IOException.class, call).getMessage());
  }

  @Test
  void whatFailsSaysWhereAndWhyAndWhatToDo() throws IOException {
    Path real = dir.toRealPath();
    Path guarded =
        GuardedFiles.guard(
            real,
            (access, path) -> {
              String file = path.toString();
              if (file.endsWith("denied")) {
                throw new AccessDeniedException(file);
              } else if (file.endsWith("many")) {
                throw new FileSystemException(file, null, "Too many open files");
              } else if (file.endsWith("broken")) {
                throw new IOException("Input/output error");
              } else if (file.endsWith("held")) {
                throw new FileSystemException(file, null, "Operation not permitted");
              } else if (file.endsWith("long")) {
                throw new IOException("File too large");
              }
            });
    DirectoryStorage storage =
        DirectoryStorage.open(
            guarded, false, 100, FileAccess.OWNER, UnaryOperator.identity(), IMPATIENT);
    storage.create("a", IoMode.BUFFERED).close();
    assertSays(
        real
            + "/denied: can't be created: permission denied; run as a user who has the right to,"
            + " or change owner or mode; new files are for their owner alone, unless the option"
            + " fileAccess says otherwise",
        () -> storage.create("denied", IoMode.BUFFERED));
    assertSays(
        real
            + "/many: can't be opened: too many open files; raise the process's limit (ulimit -n),"
            + " or lower maxOpenFiles",
        () -> storage.open("many", IoMode.BUFFERED));
    assertSays(
        real
            + "/broken: can't be looked at: input/output error; see the system's log for what is"
            + " wrong with the device",
        () -> storage.exists("broken"));
    assertSays(
        real
            + "/held: can't be created: operation not permitted; the system holds the file or its"
            + " directory as it is: look for the sticky bit, and with lsattr for the attributes i"
            + " and a",
        () -> storage.create("held", IoMode.BUFFERED));
    assertSays(
        real
            + "/long: can't be created: file too large; raise the process's limit of a file's size"
            + " (ulimit -f), or use a file system that has larger files",
        () -> storage.create("long", IoMode.BUFFERED));
    assertSays(
        real + "/a: can't be created: it exists already",
        () -> storage.create("a", IoMode.BUFFERED));
    assertSays(
        real + "/b: can't be opened: no such file or directory",
        () -> storage.open("b", IoMode.BUFFERED));
    assertSays(
        real + "/a: can't be opened: not a directory",
        () -> DirectoryStorage.open(real.resolve("a"), false));
    assertSays(
        real + "/none: can't be opened: no such file or directory",
        () -> DirectoryStorage.open(real.resolve("none"), false));
  }

  /** Only a listing, or a link, leads to such a path: Java makes none of a text. */
  @Test
  void aNameThatIsNoTextIsRefused() throws IOException, InterruptedException {
    String make = "d=\"$0/a$(printf '\\377')\"; mkdir \"$d\" \"$d/made\"; ln -s \"$d\" \"$0/link\"";
    assumeTrue(
        new ProcessBuilder("sh", "-c", make, dir.toString()).inheritIO().start().waitFor() == 0);
    Path odd;
    try (Stream<Path> names = Files.list(dir)) {
      odd = names.filter(path -> !path.endsWith("link")).findFirst().orElseThrow();
    }
    assumeTrue(!Path.of(odd.toString()).equals(odd), "the encoding has a character for the byte");
    for (Path path : List.of(odd, odd.resolve("new"), dir.resolve("link/new"))) {
      String said =
          assertThrows(IllegalArgumentException.class, () -> DirectoryStorage.open(path, true))
              .getMessage();
      assertTrue(said.startsWith(odd.toString()) && said.contains("rename it"), said);
    }
    assertThrows(
        IllegalArgumentException.class,
        () -> NewFile.create(odd.resolve("file"), FileAccess.OWNER));
    try (Stream<Path> files = Files.list(odd)) {
      assertEquals(List.of("made"), files.map(file -> file.getFileName().toString()).toList());
    }
    DirectoryStorage.openToRead(odd).close();
  }

  @Test
  void aProbeOfDirectIoLeavesNothingBehind() throws IOException {
    DirectoryStorage storage = DirectoryStorage.open(dir, false);
    assertEquals(storage.supportsDirect(), storage.supportsDirect());
    try (Stream<Path> files = Files.list(dir)) {
      assertEquals(0, files.count());
    }
  }

  /** A store would use the system's page cache until it is opened again. */
  @Test
  void neitherAnInterruptNorAFullDiskMeansThatThereIsNoDirectIo() throws IOException {
    assumeTrue(DirectoryStorage.open(dir, false).supportsDirect());
    boolean[] once = {true};
    GuardedFiles.Guard interrupting =
        new GuardedFiles.Guard() {
          @Override
          public void check(GuardedFiles.Access access, Path path) {}

          @Override
          public FileChannel opened(Path path, FileChannel channel) {
            if (once[0]) {
              once[0] = false;
              Thread.currentThread().interrupt();
            }
            return channel;
          }
        };
    Path real = dir.toRealPath();
    assertTrue(
        DirectoryStorage.open(GuardedFiles.guard(real, interrupting), false).supportsDirect());
    assertTrue(Thread.interrupted());
    GuardedFiles.Guard full =
        new GuardedFiles.Guard() {
          @Override
          public void check(GuardedFiles.Access access, Path path) {}

          @Override
          public FileChannel opened(Path path, FileChannel channel) {
            return new ShortChannel(channel, 1, null) {
              @Override
              public int write(ByteBuffer source, long position) throws IOException {
                throw new IOException("No space left on device");
              }
            };
          }
        };
    assertTrue(DirectoryStorage.open(GuardedFiles.guard(real, full), false).supportsDirect());
    assertEquals(List.of(), DirectoryStorage.open(dir, false).list());
  }

  @Test
  void whatADeletionLeftBehindInACrashIsGoneAfterLock() throws IOException {
    DirectoryStorage crashed = DirectoryStorage.open(dir, false);
    DataFile open = crashed.create("a", IoMode.BUFFERED);
    crashed.delete("a");
    try (Stream<Path> files = Files.list(dir)) {
      assertEquals(1, files.count(), "a deleted file that is open only moves aside");
    }
    DirectoryStorage next = DirectoryStorage.open(dir, false);
    next.lock();
    try (Stream<Path> files = Files.list(dir)) {
      assertEquals(List.of(dir.resolve("LOCK")), files.toList());
    }
    next.close();
    open.close();
  }

  @Test
  void aDeletedFileIsGoneWithItsLastHandle() throws IOException {
    DirectoryStorage storage = DirectoryStorage.open(dir, false);
    DataFile first = storage.create("a", IoMode.BUFFERED);
    DataFile second = storage.open("a", IoMode.BUFFERED);
    assertEquals(2, storage.openFiles());
    storage.delete("a");
    first.close();
    assertEquals(1, storage.openFiles());
    second.close();
    assertEquals(0, storage.openFiles());
    try (Stream<Path> files = Files.list(dir)) {
      assertEquals(0, files.count());
    }
  }

  /** As on FAT. */
  @Test
  void aRenameReplacesAnOpenFileWhereFilesHaveOneName() throws IOException {
    Path withoutLinks =
        GuardedFiles.guard(
            dir.toRealPath(),
            (access, path) -> {
              if (access == GuardedFiles.Access.WRITE && path.toString().endsWith(".deleted")) {
                throw new FileSystemException(path.toString(), null, "Operation not permitted");
              }
            });
    DirectoryStorage storage = DirectoryStorage.open(withoutLinks, false);
    DataFile old = storage.create("current", IoMode.BUFFERED);
    Bytes.write(old, 0, 5, 100);
    try (DataFile fresh = storage.create("tmp", IoMode.BUFFERED)) {
      Bytes.write(fresh, 0, 6, 50);
      storage.rename("tmp", "current");
      assertArrayEquals(Bytes.of(100, 5), Bytes.contents(old));
    }
    old.close();
    assertArrayEquals(Bytes.of(50, 6), Bytes.contents(storage, "current"));
    assertEquals(List.of("current"), storage.list());
    assertEquals(0, storage.openFiles());
  }

  @Test
  void aFullDeviceIsToldApart() throws IOException {
    Path full = Path.of("/dev/full");
    assumeTrue(Files.isWritable(full));
    FileChannel device = FileChannel.open(full, StandardOpenOption.WRITE);
    DirectoryStorage storage = DirectoryStorage.open(dir, false, 16, channel -> device);
    try (DataFile file = storage.create("a", IoMode.BUFFERED)) {
      assertThrows(DiskFullException.class, () -> Bytes.write(file, 0, 1, 100));
      Memory memory = Bytes.filled(100, 1);
      Memory[] sources = {memory, memory};
      assertThrows(
          DiskFullException.class, () -> file.writeAll(0, sources, new int[] {0, 0}, 2, 100));
    }
  }

  @Test
  void anInterruptedThreadWorksOnAndKeepsItsFlag() throws IOException {
    DirectoryStorage storage = DirectoryStorage.open(dir.resolve("x"), true);
    Thread.currentThread().interrupt();
    storage.lock();
    DataFile file = storage.create("a", IoMode.BUFFERED);
    Bytes.write(file, 0, 5, 100);
    file.sync();
    storage.rename("a", "b");
    Bytes.write(file, 100, 5, 100);
    storage.syncDirectory();
    assertArrayEquals(Bytes.of(200, 5), Bytes.contents(file));
    file.truncate(50);
    storage.delete("b");
    assertEquals(50, file.size());
    file.close();
    storage.close();
    assertTrue(Thread.interrupted(), "the flag is kept");
  }

  @Test
  void aStormOfInterruptsHarmsNobody() throws Exception {
    long seed = 20_260_101;
    DirectoryStorage storage = DirectoryStorage.open(dir, false);
    List<IoMode> modes = new ArrayList<>(List.of(IoMode.BUFFERED));
    if (storage.supportsDirect()) {
      modes.add(IoMode.DIRECT);
    }
    for (IoMode mode : modes) {
      for (String fate : List.of("stays", "is renamed", "is deleted")) {
        storm(storage, mode, fate, new SplittableRandom(seed));
      }
    }
    assertEquals(0, storage.openFiles());
  }

  /** Four threads each own a quarter of a file's pages, and a fifth interrupts them. */
  private void storm(DirectoryStorage storage, IoMode mode, String fate, SplittableRandom random)
      throws Exception {
    DataFile file = storage.create("storm", mode);
    file.write(0, Bytes.filled(PAGES * 4096, 0), 0, PAGES * 4096);
    if (fate.equals("is deleted")) {
      storage.delete("storm");
    }
    AtomicReference<Throwable> failure = new AtomicReference<>();
    List<Thread> threads = new ArrayList<>();
    for (int t = 0; t < 4; t++) {
      int owner = t;
      SplittableRandom own = random.split();
      threads.add(
          new Thread(
              () -> {
                try {
                  work(file, owner, own);
                } catch (Throwable e) {
                  failure.compareAndSet(null, e);
                }
              }));
    }
    threads.forEach(Thread::start);
    for (int i = 0; threads.stream().anyMatch(Thread::isAlive); i++) {
      threads.get(i % 4).interrupt();
      Thread.yield();
      if (i == 50 && fate.equals("is renamed")) {
        storage.rename("storm", "renamed");
      }
    }
    for (Thread thread : threads) {
      thread.join();
    }
    if (failure.get() != null) {
      throw new AssertionError(mode + ", the file " + fate, failure.get());
    }
    assertEquals(PAGES * 4096, file.size());
    file.close();
    storage.delete("storm");
    storage.delete("renamed");
  }

  private static void work(DataFile file, int owner, SplittableRandom random) throws IOException {
    int[] values = new int[PAGES];
    Memory page = Bytes.filled(4 * 4096, 0);
    for (int i = 0; i < 300; i++) {
      Thread.currentThread().interrupt();
      int at = (owner + 4 * random.nextInt(PAGES / 4 - 2)) % PAGES;
      switch (random.nextInt(12)) {
        case 0, 1, 2 -> {
          values[at] = i % 100 + 1;
          page.fill(0, 4096, (byte) values[at]);
          file.write(at * 4096L, page, 0, 4096);
        }
        case 3 -> {
          values[at] = i % 100 + 1;
          page.fill(0, 4096, (byte) values[at]);
          file.writeAll(at * 4096L, new Memory[] {page}, new int[] {0}, 1, 4096);
        }
        case 4 -> file.sync();
        default -> {
          assertEquals(4096, file.read(at * 4096L, page, 0, 4096));
          assertEquals(values[at], page.getByte(0));
          assertEquals(values[at], page.getByte(4095));
        }
      }
      assertTrue(Thread.currentThread().isInterrupted(), "the flag is kept");
    }
  }

  /**
   * A sync fails, of which each handle that was open then tells once, and no other, as on Linux.
   */
  private static final class FailingSync {
    private final boolean interrupted;
    private boolean failed;

    FailingSync(boolean interrupted) {
      this.interrupted = interrupted;
    }

    FileChannel through(FileChannel channel) {
      boolean early = !failed;
      return new ShortChannel(channel, 1, null) {
        private boolean told = !early;

        @Override
        public void force(boolean metaData) throws IOException {
          boolean first = !failed;
          failed = true;
          if (told) {
            return;
          }
          told = true;
          if (first && interrupted) {
            Thread.currentThread().interrupt();
            close();
            throw new ClosedByInterruptException();
          }
          throw new IOException("Input/output error");
        }
      };
    }
  }

  @Test
  void aSyncOfTheDirectoryThatFailedIsNotTriedAgain(@TempDir Path dir) throws IOException {
    for (boolean interrupted : new boolean[] {false, true}) {
      FailingSync failing = new FailingSync(interrupted);
      try (DirectoryStorage storage = DirectoryStorage.open(dir, false, 16, failing::through)) {
        IOException failed = assertThrows(IOException.class, storage::syncDirectory);
        assertEquals(interrupted, Thread.interrupted());
        assertTrue(failed.getMessage().startsWith(dir + ": can't be synced: input/output error"));
        // It may have taken names that others are about to sync.
        assertThrows(IOException.class, storage::syncDirectory);
        storage.lock();
        storage.syncDirectory();
      }
    }
  }
}
