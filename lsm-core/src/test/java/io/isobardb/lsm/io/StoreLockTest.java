package io.isobardb.lsm.io;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.isobardb.lsm.error.StoreLockedException;
import io.isobardb.lsm.option.FileAccess;
import io.isobardb.lsm.option.IoMode;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

final class StoreLockTest {
  @TempDir Path dir;

  /** Another process: says what became of an attempt to lock the directory. */
  static final class Other {
    public static void main(String[] arguments) throws IOException {
      Path dir = Path.of(arguments[0]);
      boolean read = arguments[1].equals("read");
      try (DirectoryStorage storage =
          read ? DirectoryStorage.openToRead(dir) : DirectoryStorage.open(dir, false)) {
        if (read) {
          System.out.println("to read: " + storage.lockToRead());
        } else {
          storage.lock();
          System.out.println("locked");
        }
      } catch (StoreLockedException e) {
        System.out.println("refused: " + e.getMessage());
      }
    }
  }

  private String inAnotherProcess() throws Exception {
    return inAnotherProcess("write");
  }

  private String inAnotherProcess(String way) throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx64m",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                Other.class.getName(),
                dir.toString(),
                way)
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    String output =
        new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    assertEquals(0, process.waitFor());
    return output;
  }

  /** Refuses nothing. */
  private abstract static class Unguarded implements GuardedFiles.Guard {
    @Override
    public void check(GuardedFiles.Access access, Path path) {}
  }

  private static void assertRefused(Path path) throws IOException {
    DirectoryStorage second = DirectoryStorage.open(path, false);
    StoreLockedException e = assertThrows(StoreLockedException.class, second::lock);
    assertTrue(e.getMessage().contains("" + ProcessHandle.current().pid()), e.getMessage());
    second.close();
  }

  @Test
  void aFullDiskDoesNotKeepAStoreFromBeingLocked() throws IOException {
    Path full = Path.of("/dev/full");
    assumeTrue(Files.isWritable(full), "a device that is always full");
    Path onFull =
        GuardedFiles.guard(
            dir.toRealPath(),
            new Unguarded() {
              @Override
              public FileChannel opened(Path path, FileChannel channel) throws IOException {
                channel.close();
                return FileChannel.open(full, StandardOpenOption.READ, StandardOpenOption.WRITE);
              }
            });
    try (DirectoryStorage storage = DirectoryStorage.open(onFull, false)) {
      storage.lock();
      assertRefused(dir);
    }
  }

  @Test
  void aFileThatCantBeLockedIsTold() throws IOException {
    Path without =
        GuardedFiles.guard(
            dir.toRealPath(),
            new Unguarded() {
              @Override
              public FileChannel opened(Path path, FileChannel channel) {
                return new ShortChannel(channel, 1, null) {
                  @Override
                  public FileLock tryLock(long position, long size, boolean shared)
                      throws IOException {
                    throw new IOException("No locks available");
                  }
                };
              }
            });
    String told =
        dir.toRealPath().resolve("LOCK")
            + ": can't be locked: no locks available; use a file system of this machine that has"
            + " locks";
    try (DirectoryStorage storage = DirectoryStorage.open(without, false)) {
      IOException e = assertThrows(IOException.class, storage::lock);
      assertEquals(told, e.getMessage());
    }
    try (DirectoryStorage storage = DirectoryStorage.openToRead(without)) {
      assertEquals(told, storage.lockToRead());
    }
  }

  /** The look at it fails: the path leads to another directory by then. */
  @Test
  void aLockThatIsLostWhileItIsTakenIsGivenBack() throws IOException {
    Path path = Files.createDirectory(dir.toRealPath().resolve("store"));
    List<FileChannel> channels = new ArrayList<>();
    Path watched =
        GuardedFiles.guard(
            path,
            new Unguarded() {
              @Override
              public FileChannel opened(Path path, FileChannel channel) {
                channels.add(channel);
                return channel;
              }
            });
    try (OpenDirectory opened = OpenDirectory.hold(watched, FileAccess.OWNER)) {
      Files.move(path, path.resolveSibling("moved"));
      Files.createFile(Files.createDirectory(path).resolve(StoreLock.FILE));
      IOException e = assertThrows(IOException.class, () -> StoreLock.take(opened, path));
      assertTrue(e.getMessage().contains("the lock was lost"), e.getMessage());
    }
    assertEquals(1, channels.size());
    assertFalse(channels.get(0).isOpen(), "what holds the lock");
  }

  @Test
  void everyWayToTheDirectoryIsRefusedAndTheLockStays() throws Exception {
    Path link = dir.resolveSibling(dir.getFileName() + "-link");
    Files.createSymbolicLink(link, dir);
    Path relative = Path.of("").toAbsolutePath().relativize(dir.toRealPath());
    try (DirectoryStorage storage = DirectoryStorage.open(dir, false)) {
      storage.lock();
      assertRefused(dir);
      assertRefused(link);
      assertRefused(relative);
      assertRefused(dir.resolve("..").resolve(dir.getFileName()));
      String other = inAnotherProcess();
      assertTrue(other.startsWith("refused"), other);
      assertTrue(other.contains("process " + ProcessHandle.current().pid()), other);
    } finally {
      Files.delete(link);
    }
    assertEquals("locked", inAnotherProcess());
    try (DirectoryStorage storage = DirectoryStorage.open(dir, false)) {
      storage.lock();
    }
  }

  @Test
  void processesLookAtAStoreTogetherAndNoneOpensIt() throws Exception {
    Files.writeString(dir.resolve("LOCK"), "process 1 on elsewhere");
    try (DirectoryStorage storage = DirectoryStorage.openToRead(dir)) {
      assertNull(storage.lockToRead());
      assertEquals("to read: null", inAnotherProcess("read"));
      String other = inAnotherProcess();
      assertTrue(other.contains("is being looked at by another process"), other);
      DirectoryStorage second = DirectoryStorage.openToRead(dir);
      assertThrows(StoreLockedException.class, second::lockToRead);
    }
    assertEquals("process 1 on elsewhere", Files.readString(dir.resolve("LOCK")));
    try (DirectoryStorage storage = DirectoryStorage.open(dir, false)) {
      storage.lock();
      String other = inAnotherProcess("read");
      assertTrue(other.contains("process " + ProcessHandle.current().pid()), other);
    }
  }

  @Test
  void whatWasOpenedToBeReadCanNotBeChanged() throws IOException {
    Files.createFile(dir.resolve("a"));
    try (DirectoryStorage storage = DirectoryStorage.openToRead(dir)) {
      List<Executable> changes =
          List.of(
              storage::lock,
              storage::syncDirectory,
              () -> storage.create("b", IoMode.BUFFERED),
              () -> storage.rename("a", "b"),
              () -> storage.delete("a"));
      changes.forEach(change -> assertThrows(IllegalStateException.class, change));
    }
    assertTrue(Files.exists(dir.resolve("a")));
  }

  @Test
  void anotherClassLoaderIsRefused() throws Exception {
    List<URL> urls = new ArrayList<>();
    for (String entry : System.getProperty("java.class.path").split(":")) {
      urls.add(Path.of(entry).toUri().toURL());
    }
    try (DirectoryStorage storage = DirectoryStorage.open(dir, false);
        URLClassLoader loader =
            new URLClassLoader(urls.toArray(new URL[0]), ClassLoader.getPlatformClassLoader())) {
      storage.lock();
      Class<?> type = loader.loadClass(DirectoryStorage.class.getName());
      Object other =
          type.getMethod("open", Path.class, boolean.class).invoke(null, dir, Boolean.FALSE);
      InvocationTargetException e =
          assertThrows(InvocationTargetException.class, () -> type.getMethod("lock").invoke(other));
      assertEquals("StoreLockedException", e.getCause().getClass().getSimpleName());
    }
  }

  @Test
  void aRegistryThatWasForgottenDoesNotCostTheLock() throws Exception {
    try (DirectoryStorage storage = DirectoryStorage.open(dir, false)) {
      storage.lock();
      String key = "io.isobardb.lsm.locked:" + dir.toRealPath();
      assertTrue(System.getProperties().remove(key) != null);
      DirectoryStorage second = DirectoryStorage.open(dir, false);
      assertThrows(StoreLockedException.class, second::lock);
      String other = inAnotherProcess();
      assertTrue(other.startsWith("refused"), other);
    }
  }

  /** As a test does that gives the system properties back as they were. */
  @Test
  void aRegistryThatWasPutBackKeepsNoDirectoryLocked() throws IOException {
    String key = "io.isobardb.lsm.locked:" + dir.toRealPath();
    Object entry;
    try (DirectoryStorage storage = DirectoryStorage.open(dir, false)) {
      storage.lock();
      entry = System.getProperties().get(key);
    }
    System.getProperties().put(key, entry);
    try (DirectoryStorage storage = DirectoryStorage.open(dir, false)) {
      storage.lock();
      assertRefused(dir);
    }
    assertFalse(System.getProperties().containsKey(key));
  }

  @Test
  void aLockFileThatIsGoneIsNoticed() throws IOException {
    try (DirectoryStorage storage = DirectoryStorage.open(dir, false)) {
      storage.lock();
      storage.syncDirectory();
      Files.delete(dir.resolve("LOCK"));
      assertThrows(IOException.class, storage::syncDirectory);
      Files.createFile(dir.resolve("LOCK"));
      assertThrows(IOException.class, storage::syncDirectory);
    }
  }

  @Test
  void whatCanNotBeNotedIsNotLocked() throws IOException {
    DirectoryStorage storage = DirectoryStorage.open(dir, false);
    Properties saved = System.getProperties();
    Properties full = new FullProperties();
    full.putAll(saved);
    System.setProperties(full);
    try {
      assertThrows(OutOfMemoryError.class, storage::lock);
    } finally {
      System.setProperties(saved);
    }
    storage.lock();
    assertRefused(dir);
    storage.close();
  }

  private static final class FullProperties extends Properties {
    private static final long serialVersionUID = 1;

    @Override
    public synchronized Object putIfAbsent(Object key, Object value) {
      throw new OutOfMemoryError("planted: no heap to note " + key);
    }
  }

  @Test
  void aLockThatCouldNotBeClosedIsGivenBackOnce() throws IOException {
    Path guarded =
        GuardedFiles.guard(
            dir.toRealPath(),
            new GuardedFiles.Guard() {
              @Override
              public void check(GuardedFiles.Access access, Path path) {}

              @Override
              public FileChannel opened(Path path, FileChannel channel) throws IOException {
                return new ShortChannel(channel, 1, null) {
                  @Override
                  public FileLock tryLock(long position, long size, boolean shared)
                      throws IOException {
                    return channel.tryLock(position, size, shared);
                  }

                  @Override
                  protected void implCloseChannel() throws IOException {
                    super.implCloseChannel();
                    throw new IOException("Input/output error");
                  }
                };
              }
            });
    DirectoryStorage first = DirectoryStorage.open(guarded, false);
    first.lock();
    assertThrows(IOException.class, first::close);
    DirectoryStorage second = DirectoryStorage.open(dir, false);
    second.lock();
    first.close();
    DirectoryStorage third = DirectoryStorage.open(dir, false);
    StoreLockedException e = assertThrows(StoreLockedException.class, third::lock);
    assertTrue(e.getMessage().contains("it was opened by thread"), e.getMessage());
    second.close();
  }
}
