package io.isobardb.lsm.io;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.option.FileAccess;
import io.isobardb.lsm.option.IoMode;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntConsumer;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OpenFilesTest {
  private static final int LIMIT = 16;
  private static final int BYTES = 10_000;

  @TempDir Path dir;

  /** Channels opened so far. */
  private final AtomicInteger opened = new AtomicInteger();

  private DirectoryStorage storage() throws IOException {
    return DirectoryStorage.open(
        dir,
        false,
        LIMIT,
        channel -> {
          opened.incrementAndGet();
          return channel;
        });
  }

  private static void create(Storage storage, String name, int fill) throws IOException {
    try (DataFile file = storage.create(name, IoMode.BUFFERED)) {
      Bytes.write(file, 0, fill, BYTES);
      file.sync();
    }
  }

  private static void assertHolds(int fill, DataFile file) throws IOException {
    assertArrayEquals(Bytes.of(BYTES, fill), Bytes.contents(file));
  }

  private static List<DataFile> open(Storage storage, int count) throws IOException {
    List<DataFile> files = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      create(storage, "file" + i, i % 100);
      files.add(storage.open("file" + i, IoMode.BUFFERED));
    }
    return files;
  }

  private static long holding(List<DataFile> files) {
    return files.stream().filter(DataFile::holdsDescriptor).count();
  }

  @Test
  void filesBeyondTheLimitAreReadAllTheSame() throws IOException {
    DirectoryStorage storage = storage();
    List<DataFile> files = open(storage, 100);
    for (int round = 0; round < 3; round++) {
      for (int i = 0; i < 100; i++) {
        assertHolds(i % 100, files.get(i));
        assertTrue(storage.descriptorsHeld() <= LIMIT);
        assertTrue(holding(files) <= LIMIT);
      }
    }
    storage.rename("file5", "renamed");
    storage.delete("file6");
    assertEquals(BYTES, files.get(5).size());
    assertHolds(5, files.get(5));
    assertHolds(6, files.get(6));
    assertEquals(100, storage.openFiles());
    for (DataFile file : files) {
      file.close();
      assertThrows(IOException.class, file::size);
    }
    assertEquals(0, storage.openFiles());
    assertEquals(0, storage.descriptorsHeld());
    assertFalse(storage.list().contains("file6"));
  }

  @Test
  void whatIsReadAllTheTimeStaysOpen() throws IOException {
    DirectoryStorage storage = storage();
    List<DataFile> files = open(storage, 100);
    assertHolds(0, files.get(0));
    int before = opened.get();
    for (int i = 1; i < 100; i++) {
      assertHolds(i, files.get(i));
      assertHolds(0, files.get(0));
    }
    // Once all had been read, the hand may have taken it for as cold as the others.
    assertTrue(opened.get() - before <= 102, opened.get() - before + " files opened");
    for (DataFile file : files) {
      file.close();
    }
  }

  @Test
  void whatIsWrittenToStaysOpen() throws IOException {
    DirectoryStorage storage = storage();
    List<DataFile> written = new ArrayList<>();
    for (int i = 0; i < LIMIT; i++) {
      DataFile file = storage.create("written" + i, IoMode.BUFFERED);
      Bytes.write(file, 0, i, BYTES);
      written.add(file);
    }
    int before = opened.get();
    List<DataFile> files = open(storage, 10);
    for (int i = 0; i < LIMIT; i++) {
      assertTrue(written.get(i).holdsDescriptor());
      written.get(i).sync();
      assertHolds(i, written.get(i));
    }
    assertEquals(20, opened.get() - before);
    assertTrue(holding(files) <= 1, "there is no room for those that are read");
    for (DataFile file : written) {
      file.close();
    }
    for (int i = 0; i < 10; i++) {
      assertHolds(i, files.get(i));
      files.get(i).close();
    }
    assertEquals(0, storage.descriptorsHeld());
  }

  @Test
  void threadsReadWhileFilesAreClosedUnderThem() throws Exception {
    DirectoryStorage storage = storage();
    List<DataFile> files = open(storage, 64);
    AtomicReference<Throwable> failure = new AtomicReference<>();
    List<Thread> threads = new ArrayList<>();
    for (int t = 0; t < 4; t++) {
      SplittableRandom random = new SplittableRandom(t);
      boolean interrupts = t == 0;
      threads.add(
          new Thread(
              () -> {
                try {
                  for (int i = 0; i < 1500; i++) {
                    if (interrupts && i % 10 == 0) {
                      Thread.currentThread().interrupt();
                    }
                    int at = random.nextInt(64);
                    assertHolds(at, files.get(at));
                    int held = storage.descriptorsHeld();
                    assertTrue(held <= LIMIT + 8, () -> held + " descriptors");
                  }
                } catch (Throwable e) {
                  failure.compareAndSet(null, e);
                }
              }));
    }
    threads.forEach(Thread::start);
    for (int i = 0; i < 200; i++) {
      create(storage, "other", i % 100);
      storage.delete("other");
    }
    for (Thread thread : threads) {
      thread.join();
    }
    if (failure.get() != null) {
      throw new AssertionError(failure.get());
    }
    for (DataFile file : files) {
      file.close();
    }
    assertEquals(0, storage.descriptorsHeld());
    assertEquals(0, storage.openFiles());
  }

  /** What the system says, in English and in German. */
  private static final String ENGLISH = "Too many open files";

  private static final String GERMAN = "Zu viele offene Dateien";

  private static final String OTHER_GERMAN = "Eingabe-/Ausgabefehler";

  /** A process that soon has no descriptor left; in its pauses others give theirs back. */
  private record UsedUp(AtomicInteger looks, AtomicInteger pauses, IntConsumer others)
      implements OpenFiles.Descriptors {
    @Override
    public long spare() {
      return looks.getAndIncrement() == 0 ? 10_000 : 0;
    }

    @Override
    public void pause() {
      others.accept(pauses.incrementAndGet());
    }
  }

  private static UsedUp usedUp(IntConsumer others) {
    return new UsedUp(new AtomicInteger(), new AtomicInteger(), others);
  }

  private DirectoryStorage refusing(AtomicInteger refusals, String text, UsedUp process)
      throws IOException {
    Path guarded = refusing(refusals, text);
    return DirectoryStorage.open(
        guarded, false, 1000, FileAccess.OWNER, UnaryOperator.identity(), process);
  }

  /** The directory, in which the next so many files can't be opened. */
  private Path refusing(AtomicInteger refusals, String text) throws IOException {
    return GuardedFiles.guard(
        dir.toRealPath(),
        (access, path) -> {
          boolean opens = access == GuardedFiles.Access.READ || access == GuardedFiles.Access.WRITE;
          if (refusals.get() > 0 && opens) {
            refusals.decrementAndGet();
            throw new FileSystemException(path.toString(), null, text);
          }
        });
  }

  @ParameterizedTest
  @ValueSource(strings = {ENGLISH, GERMAN})
  void ifTheSystemRefusesADescriptorOthersAreGivenBack(String text) throws IOException {
    AtomicInteger refusals = new AtomicInteger();
    DirectoryStorage storage = refusing(refusals, text, usedUp(pause -> {}));
    List<DataFile> files = open(storage, 100);
    for (int i = 0; i < 100; i++) {
      assertHolds(i, files.get(i));
    }
    assertEquals(100, holding(files));
    create(storage, "new", 1);
    refusals.set(1);
    files.add(storage.open("new", IoMode.BUFFERED));
    assertHolds(1, files.get(100));
    assertEquals(51, holding(files));
    for (int i = 0; i < 100; i++) {
      assertHolds(i, files.get(i));
    }
    assertEquals(51, holding(files), "the limit is lower from then on");
    refusals.set(1);
    storage.syncDirectory();
    refusals.set(1);
    assertEquals(101, storage.list().size());
    refusals.set(Integer.MAX_VALUE);
    IOException e = assertThrows(IOException.class, () -> storage.create("more", IoMode.BUFFERED));
    assertTrue(e.getMessage().contains("raise the process's limit"), e::toString);
    assertEquals(0, holding(files), "before anybody waits");
    refusals.set(0);
    for (DataFile file : files) {
      file.close();
    }
    assertEquals(0, storage.descriptorsHeld());
  }

  @ParameterizedTest
  @ValueSource(strings = {ENGLISH, GERMAN})
  void aMomentWithoutDescriptorsIsWaitedFor(String text) throws IOException {
    AtomicInteger refusals = new AtomicInteger();
    UsedUp process =
        usedUp(
            pause -> {
              if (pause % 10 == 0) {
                refusals.set(0);
              }
            });
    DirectoryStorage storage = refusing(refusals, text, process);
    List<StorageCall> calls =
        List.of(
            () -> create(storage, "file", 1),
            () -> storage.open("file", IoMode.BUFFERED).close(),
            storage::list,
            storage::syncDirectory,
            storage::lock,
            storage::close);
    int call = 0;
    for (StorageCall made : calls) {
      refusals.set(Integer.MAX_VALUE);
      made.run();
      refusals.set(0);
      call++;
      assertTrue(process.pauses().get() <= 10 * call, () -> "pauses: " + process.pauses());
    }
    assertEquals(50, process.pauses().get(), "closing takes no descriptor");
  }

  /** Takes a descriptor. */
  private interface StorageCall {
    void run() throws IOException;
  }

  /** They may be back when they are counted. */
  @Test
  void aCallThatFailsForAReasonUnknownIsMadeOnceMore() throws IOException {
    AtomicInteger refusals = new AtomicInteger(1);
    DirectoryStorage storage = DirectoryStorage.open(refusing(refusals, GERMAN), false);
    create(storage, "file", 1);
    refusals.set(2);
    assertThrows(FileSystemException.class, () -> storage.open("file", IoMode.BUFFERED));
    assertEquals(0, refusals.get());
    DirectoryStorage full = refusing(refusals, OTHER_GERMAN, usedUp(pause -> {}));
    refusals.set(Integer.MAX_VALUE);
    IOException e = assertThrows(IOException.class, () -> full.open("file", IoMode.BUFFERED));
    assertTrue(e.getMessage().contains("no file descriptor left"), e::toString);
    assertEquals(OpenFiles.MOST_PAUSES, Integer.MAX_VALUE - refusals.get() - 1);
  }

  @Test
  void ifAFileCannotBeClosedTheLimitHoldsNevertheless() throws IOException {
    AtomicInteger refusals = new AtomicInteger();
    AtomicInteger failures = new AtomicInteger();
    Path guarded = refusing(refusals, ENGLISH);
    DirectoryStorage storage =
        DirectoryStorage.open(
            guarded,
            false,
            1000,
            channel ->
                new ShortChannel(channel, 1, null) {
                  @Override
                  protected void implCloseChannel() throws IOException {
                    super.implCloseChannel();
                    if (failures.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
                      throw new IOException("the system can't close it");
                    }
                  }
                });
    List<DataFile> files = open(storage, 100);
    for (int i = 0; i < 100; i++) {
      assertHolds(i, files.get(i));
    }
    refusals.set(1);
    failures.set(1);
    assertThrows(IOException.class, () -> storage.create("new", IoMode.BUFFERED));
    for (int i = 0; i < 100; i++) {
      assertHolds(i, files.get(i));
    }
    assertTrue(holding(files) <= 51, () -> holding(files) + " files hold a descriptor");
    for (DataFile file : files) {
      file.close();
    }
    assertEquals(0, storage.descriptorsHeld());
  }
}
