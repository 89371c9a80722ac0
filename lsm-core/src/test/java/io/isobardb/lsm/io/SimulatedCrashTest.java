package io.isobardb.lsm.io;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.simulation.CrashMode;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.memory.page.Memory;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

final class SimulatedCrashTest {
  private static final long SEED = 42;

  private final SimulatedStorage storage = new SimulatedStorage();
  private final SplittableRandom random = new SplittableRandom(SEED);

  private DataFile durableFile(String name, int value, int length) throws IOException {
    DataFile file = storage.create(name, IoMode.BUFFERED);
    Bytes.write(file, 0, value, length);
    file.sync();
    storage.syncDirectory();
    return file;
  }

  @Test
  void whatIsSyncedSurvivesEveryCrash() throws IOException {
    DataFile file = durableFile("a", 5, 10_000);
    Bytes.write(file, 20_000, 6, 3000);
    for (CrashMode mode : CrashMode.values()) {
      for (int i = 0; i < 50; i++) {
        byte[] after = Bytes.contents(storage.crash(random, mode), "a");
        assertTrue(after.length >= 10_000);
        assertArrayEquals(Bytes.of(10_000, 5), Arrays.copyOf(after, 10_000), mode.toString());
      }
    }
  }

  @Test
  void unsyncedDataIsGoneIfOnlySyncedSurvives() throws IOException {
    DataFile file = durableFile("a", 5, 100);
    Bytes.write(file, 50, 6, 100);
    SimulatedStorage crashed = storage.crash(random, CrashMode.ONLY_SYNCED);
    assertArrayEquals(Bytes.of(100, 5), Bytes.contents(crashed, "a"));
    SimulatedStorage whole = storage.crash(random, CrashMode.ALL);
    assertEquals(150, Bytes.contents(whole, "a").length);
    assertEquals(150, file.size(), "the disk itself goes on unharmed");
  }

  @Test
  void whatWasStoredInMappedMemoryIsThereAfterAKillAndInAnyStateAfterPowerLoss()
      throws IOException {
    DataFile file = durableFile("a", 5, 8192);
    Memory mapped = file.map(0, 8192);
    storage.onMutation(disk -> {});
    for (int value = 6; value < 9; value++) {
      mapped.fill(0, 8192, (byte) value);
      storage.syncDirectory();
    }
    mapped.putByte(0, (byte) 9);
    byte[] now = Bytes.of(8192, 8);
    now[0] = 9;
    assertArrayEquals(now, Bytes.contents(storage.copy(), "a"));
    Set<Integer> seen = new HashSet<>();
    boolean mixed = false;
    for (int i = 0; i < 200; i++) {
      byte[] after = Bytes.contents(storage.crash(random, CrashMode.RANDOM), "a");
      seen.add((int) after[0]);
      mixed |= after[1] != after[8191];
    }
    assertEquals(Set.of(5, 6, 7, 8, 9), seen);
    assertTrue(mixed, "pages are written back one by one");
    file.sync();
    assertArrayEquals(now, Bytes.contents(storage.crash(random, CrashMode.ONLY_SYNCED), "a"));
    file.close();
  }

  @Test
  void aNameWithoutADirectorySyncIsLost() throws IOException {
    DataFile file = storage.create("a", IoMode.BUFFERED);
    Bytes.write(file, 0, 1, 10);
    file.sync();
    assertFalse(storage.crash(random, CrashMode.ONLY_SYNCED).exists("a"));
    assertTrue(storage.crash(random, CrashMode.ALL).exists("a"));
    storage.syncDirectory();
    assertTrue(storage.crash(random, CrashMode.ONLY_SYNCED).exists("a"));
  }

  @Test
  void anUnsyncedRenameMayBeLostButIsNeverHalfDone() throws IOException {
    durableFile("current", 1, 10).close();
    durableFile("tmp", 2, 20).close();
    storage.rename("tmp", "current");
    Set<String> outcomes = new HashSet<>();
    for (int i = 0; i < 100; i++) {
      SimulatedStorage crashed =
          storage.crash(random, i % 2 == 0 ? CrashMode.RANDOM : CrashMode.PREFIX);
      byte[] current = Bytes.contents(crashed, "current");
      if (current.length == 20) {
        assertFalse(crashed.exists("tmp"));
        outcomes.add("done");
      } else {
        assertArrayEquals(Bytes.of(10, 1), current);
        assertTrue(crashed.exists("tmp"));
        outcomes.add("lost");
      }
    }
    assertEquals(Set.of("done", "lost"), outcomes);
  }

  @Test
  void anUnsyncedDeletionMayComeBack() throws IOException {
    durableFile("a", 1, 10).close();
    storage.delete("a");
    assertTrue(storage.crash(random, CrashMode.ONLY_SYNCED).exists("a"));
    assertFalse(storage.crash(random, CrashMode.ALL).exists("a"));
    storage.syncDirectory();
    assertFalse(storage.crash(random, CrashMode.ONLY_SYNCED).exists("a"));
  }

  @Test
  void aRenamedFileWithoutItsOwnSyncMayBeEmpty() throws IOException {
    durableFile("current", 1, 10).close();
    DataFile file = storage.create("tmp", IoMode.BUFFERED);
    Bytes.write(file, 0, 2, 20);
    storage.rename("tmp", "current");
    storage.syncDirectory();
    SimulatedStorage crashed = storage.crash(random, CrashMode.ONLY_SYNCED);
    assertEquals(0, Bytes.contents(crashed, "current").length);
  }

  @Test
  void aPrefixKeepsTheOrderOfWritesAndTearsOne() throws IOException {
    DataFile file = durableFile("a", 9, 1);
    for (int i = 1; i <= 10; i++) {
      Bytes.write(file, (i - 1) * 8192L, i, 8192);
    }
    Set<Integer> lengths = new HashSet<>();
    for (int i = 0; i < 200; i++) {
      byte[] after = Bytes.contents(storage.crash(random, CrashMode.PREFIX), "a");
      for (int at = 1; at < after.length; at++) {
        assertEquals(at / 8192 + 1, after[at], "at " + at);
      }
      lengths.add(after.length);
    }
    assertTrue(lengths.stream().anyMatch(length -> length % 8192 != 0 && length > 1), "torn");
    assertTrue(lengths.contains(10 * 8192), "whole");
    assertTrue(lengths.size() > 10);
  }

  @Test
  void aSectorIsInOneOfItsVersionsOrWasNeverWritten() throws IOException {
    DataFile file = durableFile("a", 1, 8192);
    Bytes.write(file, 1000, 2, 3000);
    Bytes.write(file, 2048, 3, 3000);
    // What each byte was after each change.
    byte[][] versions = {Bytes.of(8192, 1), Bytes.of(8192, 1), new byte[0]};
    Arrays.fill(versions[1], 1000, 4000, (byte) 2);
    versions[2] = versions[1].clone();
    Arrays.fill(versions[2], 2048, 5048, (byte) 3);
    Set<List<Integer>> seen = new HashSet<>();
    for (int i = 0; i < 300; i++) {
      byte[] after = Bytes.contents(storage.crash(random, CrashMode.RANDOM), "a");
      List<Integer> shape = new ArrayList<>();
      for (int sector = 0; sector < 16; sector++) {
        int from = sector * 512;
        int version = 2;
        while (version >= 0
            && !Arrays.equals(after, from, from + 512, versions[version], from, from + 512)) {
          version--;
        }
        assertTrue(version >= 0, "sector " + sector + " is in no version, seed " + SEED);
        shape.add(version);
      }
      seen.add(shape);
    }
    assertTrue(seen.size() > 30, "only " + seen.size() + " outcomes");
  }

  @Test
  void aFileThatGrewMayShowZerosOrStaleBytesWhereNothingWasWritten() throws IOException {
    durableFile("other", 77, 65536).close();
    DataFile file = durableFile("a", 1, 4096);
    Bytes.write(file, 4096, 2, 8 * 4096);
    Set<String> seen = new HashSet<>();
    for (int i = 0; i < 300; i++) {
      byte[] after = Bytes.contents(storage.crash(random, CrashMode.RANDOM), "a");
      for (int at = 4096; at + 512 <= after.length; at += 512) {
        seen.add(
            switch (after[at]) {
              case 0 -> "zeros";
              case 2 -> "written";
              case 77 -> "stale";
              default -> "garbage";
            });
      }
      seen.add(after.length == 4096 ? "not grown" : "grown");
    }
    assertEquals(Set.of("zeros", "written", "stale", "garbage", "grown", "not grown"), seen);
  }

  @Test
  void aTruncationMayBeLost() throws IOException {
    DataFile file = durableFile("a", 1, 10_000);
    file.truncate(100);
    assertEquals(10_000, Bytes.contents(storage.crash(random, CrashMode.ONLY_SYNCED), "a").length);
    assertEquals(100, Bytes.contents(storage.crash(random, CrashMode.ALL), "a").length);
    Bytes.write(file, 5000, 2, 10);
    file.sync();
    byte[] after = Bytes.contents(storage.crash(random, CrashMode.ONLY_SYNCED), "a");
    assertEquals(5010, after.length);
    assertEquals(0, after[4999]);
  }

  @Test
  void aDeletedFileThatIsOpenIsGoneAfterACrash() throws IOException {
    DataFile file = durableFile("a", 1, 10_000);
    storage.delete("a");
    storage.syncDirectory();
    Bytes.write(file, 0, 2, 10);
    file.sync();
    assertEquals(List.of(), storage.crash(random, CrashMode.ALL).list());
  }

  @Test
  void theDiskCanBeClonedBeforeEveryMutation() throws IOException {
    List<SimulatedStorage> clones = new ArrayList<>();
    List<Long> numbers = new ArrayList<>();
    storage.onMutation(
        disk -> {
          clones.add(disk.copy());
          numbers.add(disk.mutations());
        });
    DataFile file = storage.create("a", IoMode.BUFFERED);
    Bytes.write(file, 0, 1, 10);
    file.sync();
    Bytes.write(file, 0, 2, 10);
    storage.syncDirectory();
    storage.rename("a", "b");
    file.truncate(5);
    storage.delete("b");
    assertEquals(List.of(0L, 1L, 2L, 3L, 4L, 5L, 6L, 7L), numbers);
    assertFalse(clones.get(0).exists("a"));
    assertEquals(0, Bytes.contents(clones.get(1), "a").length);
    assertArrayEquals(Bytes.of(10, 1), Bytes.contents(clones.get(2), "a"));
    SimulatedStorage beforeDirectorySync = clones.get(4);
    assertFalse(beforeDirectorySync.crash(random, CrashMode.ONLY_SYNCED).exists("a"));
    assertArrayEquals(Bytes.of(10, 2), Bytes.contents(beforeDirectorySync, "a"));
    SimulatedStorage beforeRename = clones.get(5).crash(random, CrashMode.ONLY_SYNCED);
    assertArrayEquals(Bytes.of(10, 1), Bytes.contents(beforeRename, "a"));
    assertArrayEquals(Bytes.of(5, 2), Bytes.contents(clones.get(7), "b"));
    assertEquals(0, clones.get(7).openFiles());
  }

  @Test
  void aCloneIsIndependent() throws IOException {
    DataFile file = durableFile("a", 1, 10);
    SimulatedStorage clone = storage.copy();
    Bytes.write(file, 0, 2, 10);
    file.sync();
    storage.delete("a");
    assertArrayEquals(Bytes.of(10, 1), Bytes.contents(clone, "a"));
    try (DataFile cloned = clone.open("a", IoMode.BUFFERED)) {
      Bytes.write(cloned, 0, 3, 10);
    }
    assertArrayEquals(Bytes.of(10, 2), Bytes.contents(file));
  }
}
