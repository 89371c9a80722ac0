package io.isobardb.lsm.io;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.isobardb.lsm.option.IoMode;
import io.isobardb.memory.page.Memory;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** What every storage promises. */
abstract class StorageContractTest {
  abstract Storage storage() throws IOException;

  @Test
  void whatIsWrittenIsReadBackAtItsOffset() throws IOException {
    for (IoMode mode : IoMode.values()) {
      Storage storage = storage();
      assumeTrue(mode == IoMode.BUFFERED || storage.supportsDirect());
      try (DataFile file = storage.create("a-" + mode, mode)) {
        Bytes.write(file, 8192, 7, 4096);
        Bytes.write(file, 0, 5, 4096);
        file.sync();
        byte[] expected = Bytes.of(12288, 0);
        Arrays.fill(expected, 0, 4096, (byte) 5);
        Arrays.fill(expected, 8192, 12288, (byte) 7);
        assertArrayEquals(expected, Bytes.contents(file), mode.toString());
        assertEquals(12288, file.size());
        assertEquals("a-" + mode, file.name());
      }
    }
  }

  @Test
  void mappedMemoryIsThePartOfTheFile() throws IOException {
    Storage storage = storage();
    try (DataFile file = storage.create("a", IoMode.BUFFERED)) {
      Bytes.write(file, 0, 3, 4096);
      Bytes.write(file, 4096, 4, 8192);
      Thread.currentThread().interrupt();
      Memory mapped = file.map(4096, 8192);
      assertTrue(Thread.interrupted(), "the interrupt is kept");
      assertEquals(8192, mapped.size());
      assertEquals(4, mapped.getByte(0));
      mapped.putByte(1, (byte) 7);
      mapped.putByte(8191, (byte) 8);
      byte[] expected = Bytes.of(12288, 4);
      Arrays.fill(expected, 0, 4096, (byte) 3);
      expected[4097] = 7;
      expected[12287] = 8;
      assertArrayEquals(expected, Bytes.contents(file));
      file.sync();
      Bytes.write(file, 4096, 9, 100);
      assertEquals(9, mapped.getByte(99));
      assertEquals(4, mapped.getByte(100));
      assertThrows(IllegalStateException.class, () -> file.map(0, 4096));
    }
    try (DataFile file = storage.open("a", IoMode.BUFFERED)) {
      assertEquals(8, Bytes.contents(file)[12287], "what was stored outlives the mapping");
    }
  }

  @Test
  void aReadAtTheEndIsShort() throws IOException {
    for (IoMode mode : IoMode.values()) {
      Storage storage = storage();
      assumeTrue(mode == IoMode.BUFFERED || storage.supportsDirect());
      try (DataFile file = storage.create("a-" + mode, IoMode.BUFFERED)) {
        Bytes.write(file, 0, 5, 5000);
      }
      try (DataFile file = storage.open("a-" + mode, mode)) {
        Memory memory = Bytes.filled(16384, 1);
        assertEquals(5000, file.read(0, memory, 0, 16384));
        assertEquals(904, file.read(4096, memory, 0, 4096));
        assertEquals(0, file.read(8192, memory, 0, 4096));
        assertEquals(0, file.read(1 << 20, memory, 0, 4096));
      }
    }
  }

  @Test
  void manyRegionsAreWrittenOneAfterAnother() throws IOException {
    // More than one system call takes.
    int count = 2500;
    for (IoMode mode : IoMode.values()) {
      Storage storage = storage();
      assumeTrue(mode == IoMode.BUFFERED || storage.supportsDirect());
      Memory[] sources = new Memory[count];
      int[] offsets = new int[count];
      Memory pages = Bytes.filled(4 * 4096, 0);
      for (int i = 0; i < 4; i++) {
        pages.fill(i * 4096, 4096, (byte) (i + 1));
      }
      for (int i = 0; i < count; i++) {
        sources[i] = pages;
        offsets[i] = i * 7 % 4 * 4096;
      }
      try (DataFile file = storage.create("a-" + mode, mode)) {
        file.writeAll(4096, sources, offsets, count, 4096);
        byte[] bytes = Bytes.contents(file);
        assertEquals((count + 1) * 4096, bytes.length);
        for (int i = 0; i < count; i++) {
          assertEquals(i * 7 % 4 + 1, bytes[(i + 1) * 4096], "page " + i);
          assertEquals(i * 7 % 4 + 1, bytes[(i + 2) * 4096 - 1], "page " + i);
        }
      }
    }
  }

  @Test
  void neighbouringRegionsAreWrittenInTheirOrder() throws IOException {
    Memory memory = Bytes.filled(8 * 4096, 0);
    Memory other = Bytes.filled(4096, 100);
    for (int i = 0; i < 8; i++) {
      memory.fill(i * 4096, 4096, (byte) i);
    }
    int[] pages = {0, 1, 2, 7, 6, 3, 4, -1, 5};
    Memory[] sources = new Memory[pages.length];
    int[] offsets = new int[pages.length];
    for (int i = 0; i < pages.length; i++) {
      sources[i] = pages[i] < 0 ? other : memory;
      offsets[i] = Math.max(0, pages[i]) * 4096;
    }
    try (DataFile file = storage().create("a", IoMode.BUFFERED)) {
      file.writeAll(0, sources, offsets, pages.length, 4096);
      byte[] bytes = Bytes.contents(file);
      assertEquals(pages.length * 4096, bytes.length);
      for (int i = 0; i < pages.length; i++) {
        assertEquals(pages[i] < 0 ? 100 : pages[i], bytes[i * 4096 + 4095], "region " + i);
      }
    }
  }

  @Test
  void aTruncatedFileEndsThereAndGrowsWithZeros() throws IOException {
    Storage storage = storage();
    try (DataFile file = storage.create("a", IoMode.BUFFERED)) {
      Bytes.write(file, 0, 5, 10000);
      file.truncate(100);
      assertArrayEquals(Bytes.of(100, 5), Bytes.contents(file));
      file.truncate(5000);
      assertEquals(100, file.size(), "truncation never extends");
      Bytes.write(file, 9000, 6, 10);
      byte[] expected = Bytes.of(9010, 0);
      Arrays.fill(expected, 0, 100, (byte) 5);
      Arrays.fill(expected, 9000, 9010, (byte) 6);
      assertArrayEquals(expected, Bytes.contents(file));
    }
  }

  @Test
  void creatingWhatExistsAndOpeningWhatDoesNotAreRefused() throws IOException {
    Storage storage = storage();
    storage.create("a", IoMode.BUFFERED).close();
    assertThrows(FileAlreadyExistsException.class, () -> storage.create("a", IoMode.BUFFERED));
    assertThrows(NoSuchFileException.class, () -> storage.open("b", IoMode.BUFFERED));
    assertThrows(NoSuchFileException.class, () -> storage.rename("b", "c"));
    storage.delete("b");
    assertTrue(storage.exists("a"));
    assertFalse(storage.exists("b"));
  }

  @Test
  void namesAreListedWithoutTheLock() throws IOException {
    Storage storage = storage();
    storage.lock();
    for (String name : Set.of("a", "b", "c")) {
      storage.create(name, IoMode.BUFFERED).close();
    }
    storage.rename("b", "d");
    storage.delete("c");
    assertEquals(new TreeSet<>(Set.of("a", "d")), new TreeSet<>(storage.list()));
    storage.syncDirectory();
    storage.close();
  }

  @Test
  void onlyPlainNamesAreTaken() throws IOException {
    Storage storage = storage();
    for (String name : Set.of("", ".", "..", "a/b", "../a", "LOCK", "a.isobar-0-0.deleted")) {
      assertThrows(
          IllegalArgumentException.class, () -> storage.create(name, IoMode.BUFFERED), name);
    }
  }

  @Test
  void aDeletedFileStaysReadableWhileItIsOpen() throws IOException {
    Storage storage = storage();
    DataFile old = storage.create("a", IoMode.BUFFERED);
    Bytes.write(old, 0, 5, 100);
    DataFile second = storage.open("a", IoMode.BUFFERED);
    storage.delete("a");
    assertFalse(storage.exists("a"));
    assertEquals(0, storage.list().size());
    DataFile fresh = storage.create("a", IoMode.BUFFERED);
    Bytes.write(fresh, 0, 6, 50);
    old.close();
    Bytes.write(second, 100, 7, 1);
    assertEquals(101, Bytes.contents(second).length);
    assertArrayEquals(Bytes.of(50, 6), Bytes.contents(fresh));
    second.close();
    fresh.close();
    assertArrayEquals(Bytes.of(50, 6), Bytes.contents(storage, "a"));
  }

  @Test
  void aRenameReplacesAFileThatIsOpen() throws IOException {
    Storage storage = storage();
    DataFile old = storage.create("current", IoMode.BUFFERED);
    Bytes.write(old, 0, 5, 100);
    DataFile fresh = storage.create("tmp", IoMode.BUFFERED);
    Bytes.write(fresh, 0, 6, 50);
    storage.rename("tmp", "current");
    assertArrayEquals(Bytes.of(100, 5), Bytes.contents(old));
    assertArrayEquals(Bytes.of(50, 6), Bytes.contents(fresh));
    assertArrayEquals(Bytes.of(50, 6), Bytes.contents(storage, "current"));
    assertFalse(storage.exists("tmp"));
    old.close();
    fresh.close();
    assertEquals(1, storage.list().size());
  }

  @Test
  void aClosedFileRefusesWork() throws IOException {
    Storage storage = storage();
    DataFile file = storage.create("a", IoMode.BUFFERED);
    file.close();
    file.close();
    assertThrows(ClosedChannelException.class, () -> Bytes.write(file, 0, 1, 10));
    assertThrows(ClosedChannelException.class, file::sync);
    assertThrows(ClosedChannelException.class, file::size);
    Memory memory = Bytes.filled(10, 0);
    assertThrows(ClosedChannelException.class, () -> file.read(0, memory, 0, 10));
  }

  @Test
  void theLockIsTakenOnceAndComesBackOnClose() throws IOException {
    Storage storage = storage();
    storage.lock();
    assertThrows(RuntimeException.class, storage::lock);
    storage.close();
    storage.lock();
    storage.close();
  }

  @Test
  void usableBytesAreAPositiveNumber() throws IOException {
    assertTrue(storage().usableBytes() > 0);
  }
}
