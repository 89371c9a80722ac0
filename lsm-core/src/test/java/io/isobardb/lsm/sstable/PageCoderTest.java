package io.isobardb.lsm.sstable;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.DeflateCodec;
import io.isobardb.lsm.error.FormatException;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.memory.page.Memory;
import io.isobardb.repair.format.SSTableCheck;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class PageCoderTest {
  private static final int PAGE = 4096;
  private static final int SEED = 4711;
  private static final byte[] ONE = DeflateCodec.dictionary(1000);
  private static final byte[] OTHER = "another".repeat(100).getBytes(StandardCharsets.US_ASCII);

  private final Memory page = new Memory(ByteBuffer.allocateDirect(PAGE));
  private final Memory stored = new Memory(ByteBuffer.allocateDirect(PAGE + 64));
  private final Memory back = new Memory(ByteBuffer.allocateDirect(PAGE));

  private static PageCoder coder(byte[] dictionary) {
    return new PageCoder(DeflateCodec.NAME, dictionary, PAGE, SEED);
  }

  private static byte[] bytes(Memory memory) {
    byte[] bytes = new byte[PAGE];
    memory.get(0, bytes, 0, PAGE);
    return bytes;
  }

  @Test
  void aPageOfAnotherDictionaryIsDamaged() {
    page.put(0, DeflateCodec.dictionary(PAGE), 0, PAGE);
    try (PageCoder one = coder(ONE);
        PageCoder other = coder(OTHER);
        PageCoder none = coder(null)) {
      int length = one.pack(page, 0, 5, stored, 0);
      assertTrue(length < PAGE / 2);
      assertEquals(null, one.unpack(5, length, stored, 0, back, 0));
      assertArrayEquals(bytes(page), bytes(back));
      for (PageCoder wrong : new PageCoder[] {other, none}) {
        String told = wrong.unpack(5, length, stored, 0, back, 0);
        assertEquals("page 5 has a wrong checksum", told);
        assertEquals(-1, wrong.pageNo(stored, 0, length, 0, 100));
      }
      assertEquals(5, one.pageNo(stored, 0, length, 0, 100));
    }
    assertEquals(0, Codecs.dictionaries());
  }

  @Test
  void lengthsThatCanNotBeAreTold() {
    byte[] noise = new byte[PAGE];
    new SplittableRandom(SEED).nextBytes(noise);
    page.put(0, noise, 0, PAGE);
    try (PageCoder coder = coder(null)) {
      int length = coder.pack(page, 0, 5, stored, 0);
      assertEquals(PAGE + FileLayout.STORED_UNIT, length);
      assertEquals(null, coder.unpack(5, length, stored, 0, back, 0));
      assertArrayEquals(noise, bytes(back));
      // A page as it was, that says it is shorter, in less room.
      for (int bytes : new int[] {0, 40, PAGE - 1, PAGE + 1}) {
        int room = Math.min(length, (bytes + 23) / 16 * 16);
        stored.putInt(4, bytes | FileLayout.STORED_RAW);
        PageLayout.seal(stored, 0, room, SEED, 5);
        String told = coder.unpack(5, room, stored, 0, back, 0);
        assertEquals("page 5 has a wrong length", told, "bytes " + bytes);
      }
      assertEquals("page 5 has a wrong checksum", coder.unpack(5, 0, stored, 0, back, 0));
    }
  }

  @Test
  void whatDecompressesToLessIsNoPage() {
    try (PageCoder half = new PageCoder(DeflateCodec.NAME, null, PAGE / 2, SEED);
        PageCoder whole = coder(null)) {
      int length = half.pack(page, 0, 5, stored, 0);
      String told = whole.unpack(5, length, stored, 0, back, 0);
      assertEquals("page 5 has " + PAGE / 2 + " bytes", told);
    }
  }

  @Test
  void tablesThatAreOpenAtOnceHaveTheirOwnDictionaries() throws IOException {
    try (Run run = new Run(PAGE, KeyOrder.BYTES, 200)) {
      run.randomEntries(new SplittableRandom(SEED), 500, 2000);
      SSTable one = run.onDisk(5, new Packer(DeflateCodec.NAME, ONE, null), false);
      SSTable twin = run.onDisk(6, new Packer(DeflateCodec.NAME, ONE.clone(), null), false);
      SSTable other = run.onDisk(7, new Packer(DeflateCodec.NAME, OTHER, null), false);
      for (SSTable table : new SSTable[] {one, other, twin}) {
        assertEquals(List.of(), SSTableCheck.check(table));
      }
      assertEquals(2, Codecs.dictionaries());
      one.release();
      assertEquals(2, Codecs.dictionaries());
      twin.release();
      assertEquals(1, Codecs.dictionaries());
      other.release();
    }
    assertEquals(0, Codecs.dictionaries());
  }

  @Test
  void aCodecThatIsMissingIsToldOf() {
    FormatException e =
        assertThrows(FormatException.class, () -> new PageCoder("NOSUCH", null, PAGE, SEED));
    assertTrue(e.getMessage().contains("codec 'NOSUCH'"), e::getMessage);
    assertTrue(e.getMessage().contains("io.isobardb.lsm.option.PageCodec"), e::getMessage);
  }
}
