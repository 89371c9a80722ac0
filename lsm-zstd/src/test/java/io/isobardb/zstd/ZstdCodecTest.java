package io.isobardb.zstd;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.option.PageCodec;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class ZstdCodecTest {
  private static final int PAGE = 8192;
  private static final PageCodec CODEC = new ZstdCodec();

  private static byte[] page(int seed) {
    SplittableRandom random = new SplittableRandom(seed);
    StringBuilder text = new StringBuilder();
    while (text.length() < PAGE) {
      text.append("{\"id\":").append(random.nextInt());
      text.append(",\"city\":\"").append(random.nextInt(50)).append("\",\"active\":true}");
    }
    return Arrays.copyOf(text.toString().getBytes(UTF_8), PAGE);
  }

  private static ByteBuffer direct(byte[] bytes) {
    return ByteBuffer.allocateDirect(bytes.length).put(bytes).flip();
  }

  private static byte[] dictionary(int seed) {
    byte[] samples = new byte[100 * PAGE];
    int[] lengths = new int[100];
    for (int i = 0; i < lengths.length; i++) {
      System.arraycopy(page(seed + i), 0, samples, i * PAGE, PAGE);
      lengths[i] = PAGE;
    }
    return CODEC.train(direct(samples), lengths, CODEC.dictionaryBytes());
  }

  private static ByteBuffer compressed(PageCodec.Coder coder, byte[] page) {
    ByteBuffer to = ByteBuffer.allocateDirect(PAGE + 100).position(50).limit(50 + PAGE - 1);
    int bytes = coder.compress(direct(page), to);
    assertTrue(bytes > 0);
    return to.limit(50 + bytes).position(50);
  }

  private static byte[] decompressed(PageCodec.Coder coder, ByteBuffer from) {
    ByteBuffer to = ByteBuffer.allocateDirect(PAGE);
    assertEquals(PAGE, coder.decompress(from.duplicate(), to));
    byte[] page = new byte[PAGE];
    to.get(0, page);
    return page;
  }

  @Test
  void pagesComeBack() {
    byte[] dictionary = dictionary(1000);
    assertTrue(dictionary.length > 256 && dictionary.length <= CODEC.dictionaryBytes());
    try (PageCodec.Coder plain = CODEC.coder();
        PageCodec.Coder with = CODEC.coder(dictionary)) {
      int plainBytes = 0;
      int withBytes = 0;
      for (int i = 0; i < 50; i++) {
        ByteBuffer first = compressed(plain, page(i));
        ByteBuffer second = compressed(with, page(i));
        plainBytes += first.remaining();
        withBytes += second.remaining();
        assertArrayEquals(page(i), decompressed(plain, first));
        assertArrayEquals(page(i), decompressed(with, second));
      }
      assertTrue(withBytes < plainBytes, withBytes + " and " + plainBytes);
    }
  }

  @Test
  void samplesThatAreTooFewMakeNoDictionary() {
    ByteBuffer samples = ByteBuffer.allocateDirect(2 * 4096);
    assertEquals(0, new ZstdCodec().train(samples, new int[] {4096, 4096}, 4096).length);
  }

  @Test
  void whatDoesNotShrinkIsNotWritten() {
    byte[] noise = new byte[PAGE];
    new SplittableRandom(1).nextBytes(noise);
    try (PageCodec.Coder coder = CODEC.coder();
        PageCodec.Coder with = CODEC.coder(dictionary(1000))) {
      ByteBuffer room = ByteBuffer.allocateDirect(PAGE - 1);
      assertEquals(-1, coder.compress(direct(noise), room.duplicate()));
      assertEquals(-1, with.compress(direct(noise), room.duplicate()));
      assertArrayEquals(page(1), decompressed(coder, compressed(coder, page(1))));
    }
  }

  @Test
  void aWrongDictionaryAndWrongBytesAreRefused() {
    try (PageCodec.Coder plain = CODEC.coder();
        PageCodec.Coder one = CODEC.coder(dictionary(1000));
        PageCodec.Coder other = CODEC.coder(dictionary(2000))) {
      ByteBuffer by = compressed(one, page(3));
      assertThrows(RuntimeException.class, () -> decompressed(other, by));
      assertThrows(RuntimeException.class, () -> decompressed(plain, by));
      SplittableRandom random = new SplittableRandom(5);
      for (int i = 0; i < 2000; i++) {
        byte[] bytes = new byte[by.remaining()];
        by.get(by.position(), bytes);
        bytes[random.nextInt(bytes.length)] ^= (byte) (1 + random.nextInt(255));
        // It may make something of them, but does not write beyond the page.
        ByteBuffer to = ByteBuffer.allocateDirect(PAGE + 8);
        try {
          one.decompress(direct(bytes), to.duplicate().limit(PAGE));
        } catch (RuntimeException e) {
          assertTrue(e.getMessage() != null);
        }
        assertEquals(0, to.getLong(PAGE));
      }
      assertArrayEquals(page(3), decompressed(one, by));
    }
  }

  @Test
  void manyThreadsShareContexts() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(8);
    try (PageCodec.Coder plain = CODEC.coder();
        PageCodec.Coder one = CODEC.coder(dictionary(1000));
        PageCodec.Coder other = CODEC.coder(dictionary(2000))) {
      List<Future<Boolean>> runs = new ArrayList<>();
      for (int t = 0; t < 8; t++) {
        PageCodec.Coder coder = List.of(plain, one, other).get(t % 3);
        int seed = t;
        Callable<Boolean> run =
            () -> {
              for (int i = 0; i < 200; i++) {
                byte[] page = page(seed * 1000 + i);
                assertArrayEquals(page, decompressed(coder, compressed(coder, page)));
              }
              return true;
            };
        runs.add(threads.submit(run));
      }
      for (Future<Boolean> run : runs) {
        assertTrue(run.get());
      }
    } finally {
      threads.shutdown();
    }
  }
}
