package io.isobardb.memory.page;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

class MemoryTest {
  private final Memory memory = new Memory(ByteBuffer.allocateDirect(4096));
  private final Memory other = new Memory(ByteBuffer.allocateDirect(4096));

  @Test
  void valuesAreLittleEndianAndWordsBigEndian() {
    memory.putLong(8, 0x0102030405060708L);
    assertEquals(8, memory.getByte(8));
    assertEquals(0x0708, memory.getUnsignedShort(8));
    assertEquals(0x05060708, memory.getInt(8));
    assertEquals(0x0807060504030201L, memory.getWord(8));
    memory.putShort(8, 0xFFFE);
    assertEquals(0xFFFE, memory.getUnsignedShort(8));
  }

  @Test
  void comparisonIsThatOfUnsignedBytes() {
    for (long seed = 1; seed <= 50; seed++) {
      Random random = new Random(seed);
      for (int i = 0; i < 200; i++) {
        byte[] a = randomKey(random);
        byte[] b =
            random.nextInt(4) == 0 ? Arrays.copyOf(a, random.nextInt(40)) : randomKey(random);
        int offset = random.nextInt(9);
        memory.put(100 + offset, a, 0, a.length);
        other.put(300 + offset, b, 0, b.length);
        int expected = Integer.signum(Arrays.compareUnsigned(a, b));
        String what = "seed " + seed + ": " + Arrays.toString(a) + " and " + Arrays.toString(b);
        assertEquals(
            expected, Integer.signum(memory.compare(100 + offset, a.length, b, 0, b.length)), what);
        assertEquals(
            expected,
            Integer.signum(memory.compare(100 + offset, a.length, other, 300 + offset, b.length)),
            what);
      }
    }
  }

  @Test
  void copiesByWordsAreThoseOfBytes() {
    Random random = new Random(1);
    byte[] content = new byte[memory.size()];
    random.nextBytes(content);
    memory.put(0, content, 0, content.length);
    for (int length = 0; length < 100; length++) {
      for (int offset : new int[] {0, 13, content.length - length}) {
        for (int spare = 0; spare < 12; spare++) {
          byte[] target = new byte[5 + length + spare];
          memory.getWords(offset, target, 5, length);
          assertArrayEquals(
              Arrays.copyOfRange(content, offset, offset + length),
              Arrays.copyOfRange(target, 5, 5 + length));
          assertArrayEquals(new byte[5], Arrays.copyOf(target, 5));
        }
      }
    }
  }

  private static byte[] randomKey(Random random) {
    byte[] key = new byte[random.nextInt(40)];
    for (int i = 0; i < key.length; i++) {
      // Few values, so that keys share prefixes; the extremes of signed bytes among them.
      key[i] = new byte[] {0, 1, 127, -128, -1}[random.nextInt(5)];
    }
    return key;
  }

  @Test
  void headsOrderKeysAsTheirBytesDo() {
    Random random = new Random(3);
    for (int i = 0; i < 10_000; i++) {
      byte[] a = randomKey(random);
      byte[] b = randomKey(random);
      int byHead = Long.compareUnsigned(Words.head(a, 0, a.length), Words.head(b, 0, b.length));
      int byHead4 =
          Integer.compareUnsigned(Words.head4(a, 0, a.length), Words.head4(b, 0, b.length));
      int expected = Integer.signum(Arrays.compareUnsigned(a, b));
      assertTrue(byHead == 0 || byHead == expected);
      assertTrue(byHead4 == 0 || byHead4 == expected);
    }
  }

  @Test
  void movesMayOverlapInBothDirections() {
    byte[] bytes = new byte[300];
    new Random(5).nextBytes(bytes);
    for (int[] move : new int[][] {{10, 13, 200}, {13, 10, 200}, {0, 100, 50}, {20, 20, 30}}) {
      memory.put(0, bytes, 0, 300);
      byte[] expected = bytes.clone();
      System.arraycopy(bytes, move[0], expected, move[1], move[2]);
      memory.move(move[0], move[1], move[2]);
      byte[] actual = new byte[300];
      memory.get(0, actual, 0, 300);
      assertArrayEquals(expected, actual);
    }
  }

  @Test
  void fillTouchesItsRangeOnly() {
    for (int length = 0; length < 40; length++) {
      memory.fill(0, 128, (byte) 1);
      memory.fill(50, length, (byte) -3);
      for (int i = 0; i < 128; i++) {
        assertEquals(i >= 50 && i < 50 + length ? -3 : 1, memory.getByte(i));
      }
    }
  }

  @Test
  void atomicAccessSeesWhatPlainAccessWrote() {
    memory.putLong(16, 5);
    assertTrue(memory.compareAndSetLong(16, 5, 6));
    assertTrue(!memory.compareAndSetLong(16, 5, 7));
    assertEquals(6, memory.getAndOrLong(16, 1));
    assertEquals(7, memory.getLongAcquire(16));
    memory.putInt(24, 7);
    assertEquals(7, memory.getAndAddInt(24, -8));
    assertEquals(-1, memory.getIntAcquire(24));
    memory.putLongRelease(16, 9);
    assertEquals(9, memory.getLongOpaque(16));
  }

  @Test
  void accessOutsideTheRegionIsAnException() {
    assertThrows(IndexOutOfBoundsException.class, () -> memory.getLong(4089));
    assertThrows(IndexOutOfBoundsException.class, () -> memory.getLong(-1));
    assertThrows(IndexOutOfBoundsException.class, () -> memory.putByte(4096, (byte) 0));
    assertThrows(IndexOutOfBoundsException.class, () -> memory.getLongAcquire(4096));
    assertThrows(IndexOutOfBoundsException.class, () -> memory.fill(4090, 16, (byte) 0));
    assertThrows(IndexOutOfBoundsException.class, () -> memory.copyFrom(4000, other, 0, 100));
    assertThrows(IllegalArgumentException.class, () -> new Memory(ByteBuffer.allocate(8)));
  }

  @Test
  void bulkCopiesAndChecksumsAgreeWithTheBytes() {
    byte[] bytes = new byte[1000];
    new Random(9).nextBytes(bytes);
    memory.put(7, bytes, 0, 1000);
    other.copyFrom(11, memory, 7, 1000);
    ByteBuffer target = ByteBuffer.allocate(1005);
    other.get(11, target, 5, 1000);
    assertArrayEquals(bytes, Arrays.copyOfRange(target.array(), 5, 1005));
    CRC32C expected = new CRC32C();
    expected.update(bytes);
    CRC32C actual = new CRC32C();
    other.update(actual, 11, 1000);
    assertEquals(expected.getValue(), actual.getValue());
  }
}
