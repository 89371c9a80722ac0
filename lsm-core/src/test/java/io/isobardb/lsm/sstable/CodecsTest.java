package io.isobardb.lsm.sstable;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.error.FormatException;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.option.PageCodec;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.Block;
import io.isobardb.memory.stats.Purpose;
import java.io.IOException;
import java.io.InputStream;
import java.lang.ref.WeakReference;
import java.net.URL;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Codecs that do what they should not. */
@Tag("any-jdk")
class CodecsTest {
  private static final int PAGE = 4096;
  private static final String SERVICE = "META-INF/services/" + PageCodec.class.getName();

  @TempDir Path temp;

  /** One whose name can't be had. */
  public static final class Nameless implements PageCodec {
    @Override
    public String name() {
      throw new UnsupportedOperationException();
    }

    @Override
    public Coder coder() {
      throw new UnsupportedOperationException();
    }
  }

  /** One that can't be made, as if native code were denied to it. */
  public static final class Denied implements PageCodec {
    public Denied() {
      throw new IllegalStateException("native access is denied");
    }

    @Override
    public String name() {
      return "DENIED";
    }

    @Override
    public Coder coder() {
      throw new UnsupportedOperationException();
    }
  }

  /** One that says it wrote more than there was room for, and makes a dictionary as it is told. */
  public static final class Boasting implements PageCodec, PageCodec.Coder {
    private Supplier<byte[]> dictionary = () -> new byte[0];

    @Override
    public String name() {
      return "BOASTING";
    }

    @Override
    public Coder coder() {
      return this;
    }

    @Override
    public byte[] train(ByteBuffer samples, int[] lengths, int most) {
      return dictionary.get();
    }

    @Override
    public int compress(ByteBuffer from, ByteBuffer to) {
      return to.remaining() + 1;
    }

    @Override
    public int decompress(ByteBuffer from, ByteBuffer to) {
      return to.remaining();
    }
  }

  /** With a class loader of the program's own that has these services, or fails. */
  private static <T> T with(Callable<URL> services, Callable<T> call) throws Exception {
    ClassLoader before = Thread.currentThread().getContextClassLoader();
    ClassLoader own =
        new ClassLoader(before) {
          @Override
          public Enumeration<URL> getResources(String name) throws IOException {
            if (!name.equals(SERVICE)) {
              return super.getResources(name);
            }
            try {
              return Collections.enumeration(List.of(services.call()));
            } catch (Exception e) {
              throw new IOException(e);
            }
          }
        };
    Thread.currentThread().setContextClassLoader(own);
    try {
      return call.call();
    } finally {
      Thread.currentThread().setContextClassLoader(before);
    }
  }

  private URL services(Class<?>... codecs) throws IOException {
    StringBuilder names = new StringBuilder();
    for (Class<?> codec : codecs) {
      names.append(codec.getName()).append('\n');
    }
    return Files.write(temp.resolve("services"), names.toString().getBytes(UTF_8)).toUri().toURL();
  }

  @Test
  void aClassLoaderThatFailsHasNoCodecs() {
    assertTimeoutPreemptively(
        Duration.ofSeconds(60),
        () ->
            with(
                () -> {
                  throw new IOException("the program was stopped");
                },
                () ->
                    assertThrows(IllegalArgumentException.class, () -> Codecs.given("NO-LOADER"))));
  }

  @Test
  void aCodecWithoutANameHidesNoOther() throws Exception {
    URL services = services(Nameless.class, Boasting.class);
    assertNotNull(with(() -> services, () -> Codecs.given("BOASTING")));
  }

  @Test
  void aCodecThatCantBeLoadedIsToldWithItsCause() throws Exception {
    URL services = services(Denied.class);
    Logger logger = Logger.getLogger(Codecs.class.getName());
    List<String> logged = new ArrayList<>();
    Handler handler =
        new Handler() {
          @Override
          public void publish(LogRecord entry) {
            logged.add(new SimpleFormatter().formatMessage(entry));
          }

          @Override
          public void flush() {}

          @Override
          public void close() {}
        };
    Level before = logger.getLevel();
    logger.setLevel(Level.WARNING);
    logger.setUseParentHandlers(false);
    logger.addHandler(handler);
    try {
      Exception given =
          with(
              () -> services,
              () -> assertThrows(IllegalArgumentException.class, () -> Codecs.given("ZSTD")));
      assertTold(given.getMessage());
      assertTrue(given.getMessage().contains("or add the artifact io.isobardb:lsm-zstd"));
      Exception stored =
          with(
              () -> services,
              () -> assertThrows(FormatException.class, () -> Codecs.require("DENIED", "this")));
      assertTold(stored.getMessage());
    } finally {
      logger.removeHandler(handler);
      logger.setUseParentHandlers(true);
      logger.setLevel(before);
    }
    assertEquals(2, logged.size(), logged::toString);
    logged.forEach(CodecsTest::assertTold);
  }

  private static void assertTold(String text) {
    assertTrue(text.contains(Denied.class.getName()), text);
    assertTrue(text.contains("native access is denied"), text);
  }

  /** One that applications bring along, each its own class. */
  public static final class Deployed implements PageCodec {
    @Override
    public String name() {
      return "DEPLOYED";
    }

    @Override
    public Coder coder() {
      return new Boasting();
    }

    @Override
    public Coder coder(byte[] dictionary) {
      return new Boasting();
    }
  }

  /** An application's class loader, which has a class {@link Deployed} of its own. */
  private static final class Application extends ClassLoader {
    private final URL services;

    Application(URL services) {
      super(CodecsTest.class.getClassLoader());
      this.services = services;
    }

    @Override
    public Enumeration<URL> getResources(String name) throws IOException {
      return name.equals(SERVICE)
          ? Collections.enumeration(List.of(services))
          : super.getResources(name);
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (!name.equals(Deployed.class.getName())) {
        return super.loadClass(name, resolve);
      }
      Class<?> loaded = findLoadedClass(name);
      if (loaded != null) {
        return loaded;
      }
      try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
        byte[] bytes = in.readAllBytes();
        return defineClass(name, bytes, 0, bytes.length);
      } catch (IOException e) {
        throw new ClassNotFoundException(name, e);
      }
    }
  }

  /** Uses the codec as an application's thread does; where its class is from. */
  private static ClassLoader use(ClassLoader application) {
    ClassLoader before = Thread.currentThread().getContextClassLoader();
    Thread.currentThread().setContextClassLoader(application);
    try (PageCoder plain = new PageCoder("DEPLOYED", null, PAGE, 4711);
        PageCoder other = new PageCoder("DEPLOYED", new byte[300], PAGE, 4711)) {
      assertNotNull(plain);
      assertNotNull(other);
      return Codecs.given("DEPLOYED").getClass().getClassLoader();
    } finally {
      Thread.currentThread().setContextClassLoader(before);
    }
  }

  private static void awaitGone(WeakReference<?> unused) throws InterruptedException {
    for (int i = 0; i < 100 && unused.get() != null; i++) {
      System.gc();
      Thread.sleep(20);
    }
    assertNull(unused.get(), "the class loader of an application that has ended");
  }

  @Test
  void eachApplicationHasItsOwnCodecAndGoesWithIt() throws Exception {
    URL services = services(Deployed.class);
    ClassLoader first = new Application(services);
    ClassLoader second = new Application(services);
    assertSame(first, use(first));
    assertSame(second, use(second), "the class of an application that was deployed again");
    assertSame(first, use(first));
    // Threads of the engine may see none.
    assertSame(second, use(CodecsTest.class.getClassLoader()));
    WeakReference<?> gone = new WeakReference<>(first);
    first = null;
    awaitGone(gone);
    assertSame(second, use(second));
    gone = new WeakReference<>(second);
    second = null;
    awaitGone(gone);
    assertThrows(FormatException.class, () -> use(CodecsTest.class.getClassLoader()));
  }

  @Test
  void aCodecThatSaysItWroteMoreThanItCanHaveWritesNoPage() throws Exception {
    URL services = services(Boasting.class);
    Memory page = new Memory(ByteBuffer.allocateDirect(PAGE));
    Memory stored = new Memory(ByteBuffer.allocateDirect(2 * PAGE));
    try (PageCoder coder =
        with(() -> services, () -> new PageCoder("BOASTING", null, PAGE, 4711))) {
      String message =
          assertThrows(IllegalStateException.class, () -> coder.pack(page, 0, 5, stored, 0))
              .getMessage();
      assertTrue(message.contains("'BOASTING'"), message);
    }
  }

  @Test
  void aCodecThatFailsAtADictionaryHasNone() {
    List<Supplier<byte[]>> failures =
        List.of(
            () -> null,
            () -> {
              throw new NoClassDefFoundError("a.b.C");
            },
            () -> {
              throw new StackOverflowError();
            },
            () -> {
              throw new IllegalStateException();
            });
    try (Run run = new Run(PAGE, KeyOrder.BYTES, 200)) {
      for (Supplier<byte[]> failure : failures) {
        Boasting codec = new Boasting();
        codec.dictionary = failure;
        long before = run.pool.blocks().roomBytes();
        Block block = run.pool.blocks().allocate(16 * PAGE, Purpose.MERGE);
        Samples samples = new Samples(new TreeDictionary(), codec, run.pool, block, 256);
        Memory page = new Memory(ByteBuffer.allocateDirect(PAGE));
        page.putByte(PageLayout.TYPE, (byte) PageLayout.DATA);
        for (int i = 0; i < 16; i++) {
          samples.offer(page, 0);
        }
        samples.train();
        assertEquals(before, run.pool.blocks().roomBytes());
      }
    }
  }
}
