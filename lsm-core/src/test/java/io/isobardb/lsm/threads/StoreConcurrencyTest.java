package io.isobardb.lsm.threads;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Compression;
import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.DeflateCodec;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.WriteBatch;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Threads that write, read and walk at once, in a store with so little memory that flushes and
 * merges go on all along.
 *
 * <p>Each key belongs to one writer, which counts it up, in two trees by one batch, and notes the
 * count when the write is done and before it begins: a reader sees nothing older than the first and
 * nothing newer than the second. {@code -Disobar.concurrency.writes=N} makes it longer.
 */
class StoreConcurrencyTest {
  private static final int WRITES = Integer.getInteger("isobar.concurrency.writes", 1_000);
  private static final int WRITERS = 3;
  private static final int KEYS = 1500;

  @TempDir Path dir;

  private final AtomicLongArray begun = new AtomicLongArray(KEYS);
  private final AtomicLongArray done = new AtomicLongArray(KEYS);
  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  private volatile boolean writing = true;

  private static byte[] key(int number) {
    return ByteBuffer.allocate(10).putShort((short) 0x7573).putInt(number * 7).array();
  }

  private static int number(byte[] key) {
    return ByteBuffer.wrap(key).getInt(2) / 7;
  }

  private static byte[] value(int number, long count) {
    byte[] value = new byte[16 + (int) ((number * 31 + count * 17) % 600)];
    Arrays.fill(value, (byte) count);
    ByteBuffer.wrap(value).putInt(0, number).putLong(4, count);
    return value;
  }

  /** The count that a value carries; checks the value itself. */
  private static long count(int number, byte[] value) {
    long count = ByteBuffer.wrap(value).getLong(4);
    assertArrayEquals(value(number, count), value, "value of key " + number);
    return count;
  }

  @Test
  void readersCursorsAndSnapshotsSeeOneOrderOfWrites() throws Exception {
    StoreOptions options =
        StoreOptions.builder()
            .memoryBudget(8 << 20)
            .writeMemory(2 << 20)
            .logLimit(2 << 20)
            .pageSize(4096)
            .build();
    try (Store store = Store.open(dir.resolve("store"), options)) {
      Tree one = store.createTree("one", TreeOptions.defaults());
      Tree two =
          store.createTree(
              "two",
              TreeOptions.builder().compression(Compression.LZ4.last(DeflateCodec.NAME)).build());
      List<Thread> writers = new ArrayList<>();
      for (int i = 0; i < WRITERS; i++) {
        int writer = i;
        writers.add(start("writer " + i, () -> write(store, one, two, writer)));
      }
      List<Thread> readers = new ArrayList<>();
      readers.add(start("reader", () -> read(one, two)));
      readers.add(start("walker", () -> walk(one)));
      readers.add(start("snapshots", () -> compare(store, one, two)));
      for (Thread writer : writers) {
        writer.join();
      }
      writing = false;
      for (Thread reader : readers) {
        reader.join();
      }
      rethrow();
      assertTrue(store.stats().flushes() > 0, "no flush");
      checkFinal(one);
    }
    try (Store store = Store.open(dir.resolve("store"), options)) {
      checkFinal(store.tree("one"));
      checkFinal(store.tree("two"));
    }
  }

  private Thread start(String name, Runnable action) {
    Thread thread =
        new Thread(
            () -> {
              try {
                action.run();
              } catch (Throwable e) {
                failure.compareAndSet(null, e);
              }
            },
            name);
    thread.start();
    return thread;
  }

  private void rethrow() {
    Throwable cause = failure.get();
    if (cause != null) {
      throw new AssertionError(cause);
    }
  }

  private void write(Store store, Tree one, Tree two, int writer) {
    SplittableRandom random = new SplittableRandom(writer);
    WriteBatch batch = store.newBatch();
    for (int i = 0; i < WRITES && failure.get() == null; i++) {
      int number = random.nextInt(KEYS / WRITERS) * WRITERS + writer;
      long count = begun.incrementAndGet(number);
      batch.clear();
      batch.put(one, key(number), value(number, count));
      batch.put(two, key(number), value(number, count));
      store.write(batch, i % 500 == 0 ? Durability.SYNC : Durability.ASYNC);
      done.set(number, count);
    }
  }

  private void read(Tree one, Tree two) {
    SplittableRandom random = new SplittableRandom(100);
    while (writing && failure.get() == null) {
      int number = random.nextInt(KEYS);
      long least = done.get(number);
      byte[] value = (random.nextBoolean() ? one : two).get(key(number));
      long most = begun.get(number);
      if (value == null) {
        assertEquals(0, least, "key " + number + " is lost");
      } else {
        long count = count(number, value);
        assertTrue(
            least <= count && count <= most,
            least + " <= " + count + " <= " + most + ", " + number);
        byte[] again = one.get(key(number));
        assertNotNull(again);
      }
    }
  }

  private void walk(Tree tree) {
    SplittableRandom random = new SplittableRandom(200);
    while (writing && failure.get() == null) {
      long[] least = new long[KEYS];
      for (int i = 0; i < KEYS; i++) {
        least[i] = done.get(i);
      }
      try (Cursor cursor = tree.cursor()) {
        boolean forward = random.nextBoolean();
        int expected = forward ? -1 : KEYS;
        boolean valid = forward ? cursor.first() : cursor.last();
        while (valid) {
          byte[] key = cursor.key();
          int number = number(key);
          assertArrayEquals(key(number), key);
          assertTrue(forward ? number > expected : number < expected, "out of order");
          skipped(forward, expected, number, least);
          expected = number;
          assertTrue(count(number, cursor.value()) >= least[number], "key " + number);
          valid = forward ? cursor.next() : cursor.previous();
        }
        skipped(forward, expected, forward ? KEYS : -1, least);
      }
    }
  }

  /** Keys that a cursor passed over were not there when it was opened. */
  private static void skipped(boolean forward, int from, int to, long[] least) {
    for (int i = Math.min(from, to) + 1; i < Math.max(from, to); i++) {
      assertEquals(0, least[i], (forward ? "forward" : "backward") + " walk missed key " + i);
    }
  }

  /** Both trees of a snapshot are the same, however often they are looked at. */
  private void compare(Store store, Tree one, Tree two) {
    SplittableRandom random = new SplittableRandom(300);
    while (writing && failure.get() == null) {
      try (Snapshot snapshot = store.snapshot();
          Cursor walk = one.cursor(CursorOptions.all().snapshot(snapshot))) {
        boolean valid = walk.first();
        for (int i = 0; i < KEYS; i++) {
          byte[] first = one.get(key(i), snapshot);
          assertArrayEquals(first, two.get(key(i), snapshot), "the trees differ in key " + i);
          if (first == null) {
            assertTrue(!valid || number(walk.key()) > i, "the cursor alone has key " + i);
          } else {
            assertTrue(valid && number(walk.key()) == i, "the cursor has no key " + i);
            assertArrayEquals(first, walk.value());
            valid = walk.next();
          }
          int other = random.nextInt(KEYS);
          assertArrayEquals(one.get(key(other), snapshot), two.get(key(other), snapshot));
        }
      }
    }
  }

  private void checkFinal(Tree tree) {
    for (int i = 0; i < KEYS; i++) {
      byte[] value = tree.get(key(i));
      assertEquals(done.get(i), value == null ? 0 : count(i, value), "key " + i);
    }
  }
}
