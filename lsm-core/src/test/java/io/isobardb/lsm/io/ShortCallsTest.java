package io.isobardb.lsm.io;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.schedule.ThreadScheduler;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.memory.page.Memory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The system reads and writes less than it is asked to, and is interrupted: nobody notices. */
class ShortCallsTest {
  private static final long SEED = Long.getLong("isobar.seed", 20_261_122L);
  private static final int FILE_BYTES = 64 * DataFile.BLOCK;
  private static final int KEYS = 3000;

  @TempDir Path dir;

  private DirectoryStorage storage(IoMode mode) throws IOException {
    System.out.println("isobar.seed=" + SEED);
    SplittableRandom random = new SplittableRandom(SEED);
    int unit = mode == IoMode.DIRECT ? DataFile.BLOCK : 1;
    DirectoryStorage storage =
        DirectoryStorage.open(
            dir, false, 100, channel -> new ShortChannel(channel, unit, split(random)));
    assumeTrue(mode == IoMode.BUFFERED || storage.supportsDirect());
    return storage;
  }

  private static SplittableRandom split(SplittableRandom random) {
    synchronized (random) {
      return random.split();
    }
  }

  @AfterEach
  @BeforeEach
  void clearInterrupt() {
    Thread.interrupted();
  }

  @ParameterizedTest
  @EnumSource
  void aFileHoldsWhatWasWritten(IoMode mode) throws IOException {
    SplittableRandom random = new SplittableRandom(SEED + 1);
    byte[] model = new byte[FILE_BYTES];
    try (DataFile file = storage(mode).create("a", mode)) {
      Memory memory = Bytes.filled(FILE_BYTES, 0);
      file.write(0, memory, 0, FILE_BYTES);
      for (int i = 0; i < 400; i++) {
        int from = random.nextInt(64);
        int blocks = 1 + random.nextInt(64 - from);
        byte[] part = new byte[blocks * DataFile.BLOCK];
        random.nextBytes(part);
        int at = from * DataFile.BLOCK;
        memory.put(0, part, 0, part.length);
        if (random.nextBoolean()) {
          file.write(at, memory, 0, part.length);
          System.arraycopy(part, 0, model, at, part.length);
        } else {
          // The last block first, so that there is more than one run of them.
          for (int b = 0; b < blocks; b++) {
            System.arraycopy(
                part,
                (blocks - 1 - b) * DataFile.BLOCK,
                model,
                at + b * DataFile.BLOCK,
                DataFile.BLOCK);
          }
          Memory[] sources = new Memory[blocks];
          int[] offsets = new int[blocks];
          for (int b = 0; b < blocks; b++) {
            sources[b] = memory;
            offsets[b] = (blocks - 1 - b) * DataFile.BLOCK;
          }
          file.writeAll(at, sources, offsets, blocks, DataFile.BLOCK);
        }
        if (i % 20 == 0) {
          file.sync();
        }
        assertArrayEquals(model, Bytes.contents(file), "round " + i);
      }
      assertEquals(FILE_BYTES, file.size());
    }
    assertTrue(Thread.interrupted(), "the flag is kept");
  }

  @ParameterizedTest
  @EnumSource
  void aStoreHoldsWhatWasWritten(IoMode mode) throws IOException {
    StoreOptions options =
        StoreOptions.builder()
            .memoryBudget(4 << 20)
            .pageSize(4096)
            .logLimit(1 << 20)
            .ioMode(mode)
            .build();
    DirectoryStorage storage = storage(mode);
    try (Store store = open(storage, options)) {
      Tree tree = store.openTree("t");
      for (int i = 0; i < 3 * KEYS; i++) {
        Durability durability = i % 100 == 0 ? Durability.SYNC : Durability.ASYNC;
        tree.put(key(i % KEYS), value(i), durability);
      }
      check(tree);
      assertTrue(store.stats().flushes() > 0);
    }
    try (Store store = open(storage, options)) {
      check(store.tree("t"));
    }
    assertEquals(0, storage.openFiles());
    assertTrue(Thread.interrupted(), "the flag is kept");
  }

  private static Store open(Storage storage, StoreOptions options) {
    return Inside.open(
        new Environment(
            storage, Clock.SYSTEM, new ThreadScheduler("short", 1), new SplittableRandom(SEED)),
        options);
  }

  private static void check(Tree tree) {
    for (int i = 0; i < KEYS; i++) {
      assertArrayEquals(value(2 * KEYS + i), tree.get(key(i)), "key " + i);
    }
  }

  private static byte[] key(int i) {
    return ByteBuffer.allocate(4).putInt(i).array();
  }

  private static byte[] value(int i) {
    return ByteBuffer.allocate(400).putInt(i).putInt(396, i).array();
  }
}
