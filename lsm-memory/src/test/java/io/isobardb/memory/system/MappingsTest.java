package io.isobardb.memory.system;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.isobardb.memory.page.Memory;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

@EnabledOnOs(OS.LINUX)
class MappingsTest {
  private static final int MB = 1 << 20;
  private static final Path SHARED = Path.of("/dev/shm");

  @TempDir Path dir;
  private final Arenas arenas = Arenas.SUPPORTED ? new Arenas() : null;
  private final List<Integer> takenOtherwise = new ArrayList<>();
  private final DirectBuffers buffers = new DirectBuffers(arenas);

  @BeforeEach
  void canUnmap() {
    assumeTrue(Arenas.SUPPORTED || DirectBuffers.canFree());
  }

  private Mappings in(Path... directories) {
    return new Mappings(
        List.of(directories),
        arenas,
        bytes -> {
          takenOtherwise.add(bytes);
          return buffers.take(bytes);
        });
  }

  @Test
  void regionsAreZerosAndDoNotSeeWhatIsWrittenToOthers() throws IOException {
    Mappings mappings = in(dir);
    long held = Region.heldBytes();
    List<Region> regions = new ArrayList<>();
    for (int bytes : new int[] {4096, MB, 5 * MB, 9 * MB + 8192, 128 << 10, 100_000}) {
      Region region = mappings.take(bytes);
      assertEquals(bytes, region.memory().size());
      assertZeros(region.memory());
      region.memory().fill(0, bytes, (byte) 7);
      regions.add(region);
    }
    assertEquals(List.of(), takenOtherwise);
    assertNull(mappings.failure());
    assertTrue(Region.heldBytes() - held > 15 * MB);
    regions.forEach(Region::free);
    assertEquals(held, Region.heldBytes());
  }

  private static void assertZeros(Memory memory) {
    for (int i = 0; i < memory.size(); i += 100) {
      assertEquals(0, memory.getByte(i));
    }
  }

  @Test
  void nothingIsLeftInTheDirectoryAndNoBlockOfItsDiskIsTaken() throws IOException {
    long usable = Files.getFileStore(dir).getUnallocatedSpace();
    Region region = in(dir).take(1 << 30);
    try (Stream<Path> files = Files.list(dir)) {
      assertEquals(List.of(), files.toList());
    }
    // Other processes may write meanwhile, but hardly that much.
    assertTrue(Files.getFileStore(dir).getUnallocatedSpace() > usable - (512L << 20));
    region.memory().putLong((1 << 30) - 8, 1);
    region.free();
  }

  @Test
  void inAFileSystemOfMemoryTheFileIsFilled() throws IOException {
    assumeTrue(Files.isWritable(SHARED));
    Region region = in(SHARED).take(MB);
    assertZeros(region.memory());
    region.memory().putLong(MB - 8, 1);
    Region larger = in(SHARED).take(3 * MB + 4096);
    assertZeros(larger.memory());
    assertEquals(List.of(), takenOtherwise);
    region.free();
    larger.free();
  }

  /** Others want the room, too: a container has few megabytes of it. */
  @Test
  void aFileThatCanNotBeFilledKeepsNoMoreThanItHad() throws Exception {
    assumeTrue(Files.isWritable(SHARED));
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    String limited = "ulimit -f 2048 && exec \"$0\" -Xmx32m -cp \"$1\" \"$2\"";
    String classPath = System.getProperty("java.class.path");
    Process process =
        new ProcessBuilder("sh", "-c", limited, java, classPath, Limited.class.getName())
            .redirectErrorStream(true)
            .start();
    String output = new String(process.getInputStream().readAllBytes(), UTF_8).strip();
    assertEquals("262144, otherwise 8388608, 262144", output);
  }

  /** In a process that may have no large files. */
  static final class Limited {
    public static void main(String[] arguments) throws IOException {
      DirectBuffers buffers = new DirectBuffers(Arenas.SUPPORTED ? new Arenas() : null);
      StringBuilder told = new StringBuilder();
      Mappings mappings =
          new Mappings(
              List.of(SHARED),
              Arenas.SUPPORTED ? new Arenas() : null,
              bytes -> {
                told.append(", otherwise ").append(bytes);
                return buffers.take(bytes);
              });
      mappings.take(256 << 10);
      told.append(fileBytes());
      mappings.take(8 * MB);
      System.out.println(told + ", " + fileBytes());
    }

    private static long fileBytes() throws IOException {
      try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
        for (Path one : open.toList()) {
          if (Files.isSymbolicLink(one)
              && Files.readSymbolicLink(one).toString().contains(".isobar-memory-")) {
            return Files.size(one);
          }
        }
      }
      return -1;
    }
  }

  @Test
  void theNextDirectoryIsTriedAndThenBuffersAreTaken() throws IOException {
    Path missing = dir.resolve("missing");
    Mappings mappings = in(missing, dir);
    mappings.take(MB).free();
    assertEquals(List.of(), takenOtherwise);
    Mappings none = in(missing, missing);
    Region region = none.take(MB);
    assertEquals(List.of(MB), takenOtherwise);
    String failure = none.failure();
    assertNotNull(failure);
    assertTrue(failure.contains(missing.toString()), failure);
    assertZeros(region.memory());
    region.free();
  }

  @Test
  void aNameThatIsTakenIsPassedOver() throws IOException {
    long pid = ProcessHandle.current().pid();
    Files.createFile(dir.resolve(".isobar-memory-" + pid + "-0"));
    in(dir).take(MB).free();
    assertEquals(List.of(), takenOtherwise);
  }

  @Test
  void interruptsAreKeptAndDoNoHarm() throws Exception {
    Mappings mappings = in(dir);
    Region before = mappings.take(MB);
    Thread.currentThread().interrupt();
    Region during = mappings.take(MB);
    assertTrue(Thread.interrupted());
    before.free();
    during.free();
    CountDownLatch begun = new CountDownLatch(1);
    AtomicReference<Throwable> failed = new AtomicReference<>();
    Thread taker =
        new Thread(
            () -> {
              for (int i = 0; i < 3000; i++) {
                mappings.take(MB).free();
                begun.countDown();
              }
            });
    taker.setUncaughtExceptionHandler((thread, e) -> failed.set(e));
    taker.start();
    begun.await();
    while (taker.isAlive()) {
      taker.interrupt();
    }
    assertNull(failed.get());
    assertEquals(List.of(), takenOtherwise);
  }

  /** By its name: newer compilers warn of the type. */
  private static OpenOption direct() throws IOException {
    try {
      for (Object option :
          Class.forName("com.sun.nio.file.ExtendedOpenOption").getEnumConstants()) {
        if (option.toString().equals("DIRECT")) {
          return (OpenOption) option;
        }
      }
    } catch (ClassNotFoundException e) {
      throw new IOException(e);
    }
    throw new IOException("no direct I/O");
  }

  @Test
  void directReadsAndWritesWorkOnPagesThatWereNeverWritten() throws IOException {
    Path path = dir.resolve("data");
    Region source = in(dir).take(MB);
    Region target = in(dir).take(MB);
    try (FileChannel file =
        FileChannel.open(
            path,
            StandardOpenOption.CREATE,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE,
            direct())) {
      assertEquals(MB, file.write(source.memory().slice(0, MB), 0));
      target.memory().fill(0, MB / 2, (byte) 9);
      assertEquals(MB, file.read(target.memory().slice(0, MB), 0));
      assertZeros(target.memory());
      source.memory().fill(4096, 8192, (byte) 3);
      assertEquals(MB, file.write(source.memory().slice(0, MB), 0));
      Region fresh = in(dir).take(MB);
      assertEquals(MB, file.read(fresh.memory().slice(0, MB), 0));
      assertEquals(0, fresh.memory().getByte(4095));
      assertEquals(3, fresh.memory().getByte(4096));
      assertEquals(3, fresh.memory().getByte(4096 + 8191));
      assertEquals(0, fresh.memory().getByte(4096 + 8192));
      fresh.free();
    } catch (UnsupportedOperationException noDirectIo) {
      assertFalse(noDirectIo.getMessage() == null);
    }
    source.free();
    target.free();
  }
}
