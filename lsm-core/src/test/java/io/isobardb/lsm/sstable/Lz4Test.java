package io.isobardb.lsm.sstable;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.option.PageCodec;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.SplittableRandom;
import net.jpountz.lz4.LZ4Compressor;
import net.jpountz.lz4.LZ4Factory;
import net.jpountz.lz4.LZ4SafeDecompressor;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Our LZ4 and that of lz4-java, which wrote the stores of earlier releases, read each other. */
@Tag("any-jdk")
class Lz4Test {
  private static final long SEED = 20261128;
  private static final PageCodec.Coder OURS = Lz4.CODEC.coder();
  private static final LZ4Compressor FAST = LZ4Factory.safeInstance().fastCompressor();
  private static final LZ4Compressor HIGH = LZ4Factory.safeInstance().highCompressor();
  private static final LZ4SafeDecompressor THEIRS = LZ4Factory.safeInstance().safeDecompressor();

  /** What pages may hold: noise, runs of one byte, words, and things said before, far or near. */
  private static byte[] page(SplittableRandom random) {
    byte[] page =
        new byte[random.nextInt(4) == 0 ? random.nextInt(1, 200) : 4096 << random.nextInt(5)];
    for (int at = 0; at < page.length; ) {
      int length = Math.min(page.length - at, 1 + random.nextInt(1 << random.nextInt(1, 13)));
      switch (random.nextInt(5)) {
        case 0 -> {
          byte[] noise = new byte[length];
          random.nextBytes(noise);
          System.arraycopy(noise, 0, page, at, length);
        }
        case 1 -> Arrays.fill(page, at, at + length, (byte) random.nextInt(3));
        case 2 -> {
          for (int i = 0; i < length; i++) {
            page[at + i] = (byte) ('a' + random.nextInt(4));
          }
        }
        default -> {
          int back = at == 0 ? 0 : 1 + random.nextInt(Math.min(at, 1 << random.nextInt(1, 17)));
          for (int i = 0; i < length; i++) {
            page[at + i] = back == 0 ? 7 : page[at + i - back];
          }
        }
      }
      at += length;
    }
    return page;
  }

  private static ByteBuffer direct(byte[] bytes) {
    return ByteBuffer.allocateDirect(bytes.length + 6).position(3).put(bytes).flip().position(3);
  }

  private static byte[] bytes(ByteBuffer buffer, int from, int length) {
    byte[] bytes = new byte[length];
    buffer.get(from, bytes);
    return bytes;
  }

  @Test
  void eachReadsWhatTheOtherWrote() {
    for (int round = 0; round < 1500; round++) {
      String what = "seed " + SEED + " round " + round;
      byte[] page = page(new SplittableRandom(SEED + round));
      int most = FAST.maxCompressedLength(page.length);
      ByteBuffer to = ByteBuffer.allocateDirect(most + 7).position(7);
      int length = OURS.compress(direct(page), to.duplicate());
      assertTrue(length > 0, what);
      byte[] ours = bytes(to, 7, length);
      assertArrayEquals(page, THEIRS.decompress(ours, page.length), what);
      for (byte[] packed : new byte[][] {ours, FAST.compress(page), HIGH.compress(page)}) {
        ByteBuffer back = ByteBuffer.allocateDirect(page.length + 16);
        int got =
            OURS.decompress(direct(packed), back.duplicate().position(8).limit(8 + page.length));
        assertEquals(page.length, got, what);
        assertArrayEquals(page, bytes(back, 8, page.length), what);
        assertEquals(0, back.getLong(0) | back.getLong(8 + page.length), what);
      }
    }
  }

  @Test
  void itIsAboutAsShortAsTheirs() {
    long ours = 0;
    long theirs = 0;
    for (int round = 0; round < 300; round++) {
      byte[] page = page(new SplittableRandom(SEED + round));
      ByteBuffer to = ByteBuffer.allocateDirect(FAST.maxCompressedLength(page.length));
      ours += OURS.compress(direct(page), to);
      theirs += FAST.compress(page).length;
    }
    assertTrue(ours < 1.02 * theirs, ours + " and " + theirs);
  }

  @Test
  void nothingIsWrittenBeyondTheRoom() {
    for (int round = 0; round < 1500; round++) {
      SplittableRandom random = new SplittableRandom(SEED + round);
      byte[] page = page(random);
      ByteBuffer all = ByteBuffer.allocateDirect(FAST.maxCompressedLength(page.length));
      int length = OURS.compress(direct(page), all);
      int room = random.nextInt(length + 20);
      ByteBuffer to = ByteBuffer.allocateDirect(room + 8);
      int got = OURS.compress(direct(page), to.duplicate().limit(room));
      assertTrue(got <= room && (got == length || got == -1), room + " of " + length + ": " + got);
      assertTrue(room < length + 3 || got == length, room + " of " + length + ": " + got);
      assertEquals(0, to.getLong(room));
    }
  }

  @Test
  void damagedBytesAreRefusedOrMakeAnotherPage() {
    int refused = 0;
    for (int round = 0; round < 1500; round++) {
      SplittableRandom random = new SplittableRandom(SEED + round);
      byte[] page = page(random);
      byte[] packed = FAST.compress(page);
      for (int i = random.nextInt(1, 5); i > 0; i--) {
        packed[random.nextInt(packed.length)] = (byte) random.nextInt(256);
      }
      int length = random.nextInt(3) == 0 ? random.nextInt(packed.length) : packed.length;
      ByteBuffer to = ByteBuffer.allocateDirect(page.length + 8);
      try {
        byte[] cut = Arrays.copyOf(packed, length);
        int got = OURS.decompress(direct(cut), to.duplicate().limit(page.length));
        assertTrue(got <= page.length);
      } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
        refused++;
      }
      assertEquals(0, to.getLong(page.length));
    }
    assertTrue(refused > 300, "refused: " + refused);
  }
}
