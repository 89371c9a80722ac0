package io.isobardb.lsm.read;

import static io.isobardb.lsm.SimulatedStores.key;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.BulkLoad;
import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.error.StoreClosedException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** Values looked at in place, and many values at once. */
@Tag("any-jdk")
class TreeReadTest {
  private static final long SEED = Long.getLong("isobar.seed", 20_241_123L);
  private static final int[] SIZES = {0, 1, 100, 1024, 1025, 3000, 3900, 5000, 100_000};

  @TempDir Path temp;

  private Store open(long budget) {
    return Store.open(
        temp.resolve("store"), StoreOptions.builder().memoryBudget(budget).pageSize(4096).build());
  }

  /** Begins with its number, and consists of it. */
  private static byte[] value(int n, int length) {
    byte[] value = new byte[length];
    for (int i = 0; i < length; i++) {
      value[i] = (byte) (n >> 8 * (3 - i % 4));
    }
    return value;
  }

  private static byte[] copy(ByteBuffer view) {
    byte[] copy = new byte[view.remaining()];
    view.get(copy);
    return copy;
  }

  // ---- in place

  @Test
  void valuesOfAllSizesAreSeenWhereverTheyAre() {
    try (Store store = open(8 << 20)) {
      Tree tree = store.openTree("t");
      for (int i = 0; i < SIZES.length; i++) {
        tree.put(key(i), value(i, SIZES[i]));
      }
      tree.put(key(100), value(100, 2000));
      assertSeen(tree);
      store.flush();
      assertSeen(tree);
      tree.delete(key(100));
      assertNull(tree.read(key(100), TreeReadTest::copy));
      store.flush();
      assertNull(tree.read(key(100), TreeReadTest::copy));
    }
    try (Store store = open(8 << 20)) {
      assertSeen(store.tree("t"));
    }
  }

  private static void assertSeen(Tree tree) {
    for (int i = 0; i < SIZES.length; i++) {
      assertArrayEquals(value(i, SIZES[i]), tree.read(key(i), TreeReadTest::copy));
    }
    assertNull(tree.read(key(99), TreeReadTest::copy));
  }

  @Test
  void aLargeValueInAnSstableIsNotCopied() {
    // The last two fill one overflow page.
    int[] sizes = {1500, 2031, 2033};
    try (Store store = open(8 << 20)) {
      Tree tree = store.openTree("t");
      for (int size : sizes) {
        tree.put(key(size), value(1, size));
        assertEquals(Boolean.FALSE, tree.read(key(size), ByteBuffer::isDirect));
      }
      store.flush();
      for (int size : sizes) {
        assertEquals(Boolean.TRUE, tree.read(key(size), ByteBuffer::isDirect));
      }
      tree.put(key(1), value(1, 5000));
      store.flush();
      assertEquals(Boolean.FALSE, tree.read(key(1), ByteBuffer::isDirect));
    }
    try (Store store = open(8 << 20)) {
      for (int size : sizes) {
        assertEquals(Boolean.TRUE, store.tree("t").read(key(size), ByteBuffer::isDirect));
      }
    }
  }

  @Test
  void theViewIsReadOnlyAndBigEndianAndEmptyAfterTheCall() {
    try (Store store = open(8 << 20)) {
      Tree tree = store.openTree("t");
      for (int size : new int[] {100, 3000, 100_000}) {
        tree.put(key(size), value(0x01020304, size));
        store.flush();
        ByteBuffer kept =
            tree.read(
                key(size),
                view -> {
                  assertTrue(view.isReadOnly());
                  assertEquals(ByteOrder.BIG_ENDIAN, view.order());
                  assertEquals(0, view.position());
                  assertEquals(size, view.remaining());
                  assertEquals(0x01020304, view.getInt(0));
                  return view;
                });
        assertNotNull(kept);
        assertThrows(IndexOutOfBoundsException.class, () -> kept.get(0));
        assertEquals(0, kept.remaining());
      }
    }
  }

  @Test
  void whoLooksMayReadAndWriteAndThrow() {
    try (Store store = open(8 << 20)) {
      Tree tree = store.openTree("t");
      for (int i = 0; i < SIZES.length; i++) {
        tree.put(key(i), value(i, SIZES[i]));
      }
      store.flush();
      for (int i = 0; i < SIZES.length; i++) {
        int n = i;
        byte[] seen =
            tree.read(
                key(n),
                view -> {
                  for (int other = 0; other < SIZES.length; other++) {
                    byte[] nested = tree.read(key(other), TreeReadTest::copy);
                    assertArrayEquals(value(other, SIZES[other]), nested);
                    assertArrayEquals(nested, tree.get(key(other)));
                  }
                  tree.put(key(n), value(77, 2000));
                  store.flush();
                  return copy(view);
                });
        assertArrayEquals(value(n, SIZES[n]), seen);
        assertArrayEquals(value(77, 2000), tree.read(key(n), TreeReadTest::copy));
        tree.put(key(n), value(n, SIZES[n]));
        store.flush();
        assertThrows(
            IllegalStateException.class,
            () ->
                tree.read(
                    key(n),
                    view -> {
                      throw new IllegalStateException("mine");
                    }));
      }
    }
  }

  @Test
  void aClosedStoreSaysSo() {
    Store store = open(8 << 20);
    Tree tree = store.openTree("t");
    tree.put(key(1), value(1, 3000));
    store.close();
    assertThrows(StoreClosedException.class, () -> tree.read(key(1), TreeReadTest::copy));
    assertThrows(StoreClosedException.class, () -> tree.multiGet(List.of(key(1))));
  }

  @Test
  @Timeout(value = 120, unit = TimeUnit.SECONDS)
  void whoLooksMustNotWaitForTheRead() {
    Store other = Store.open(temp.resolve("other"), StoreOptions.defaults());
    try (Store store = open(8 << 20)) {
      Tree tree = store.openTree("t");
      tree.put(key(1), value(1, 3000));
      store.flush();
      try (BulkLoad load = store.bulkLoad(tree)) {
        load.add(tree, key(2), value(2, 10));
        tree.read(
            key(1),
            view -> {
              assertRefused("BulkLoad.commit", load::commit);
              assertRefused("Store.close", store::close);
              assertRefused("transaction", store::begin);
              assertRefused("conditional", () -> tree.putIfAbsent(key(3), value(3, 10)));
              assertRefused("a new tree", () -> store.openTree("new"));
              assertRefused("Store.renameTree", () -> store.renameTree("t", "u"));
              assertRefused("Store.dropTree", () -> store.dropTree("t"));
              assertRefused("copy", () -> store.checkpointTo(temp.resolve("copy")));
              other.close(); // It has nothing to do with this read.
              return null;
            });
        load.commit();
      }
      assertArrayEquals(value(2, 10), tree.get(key(2)));
      store.begin().rollback();
      Boolean begun =
          tree.read(
              key(1),
              view -> {
                store.begin().rollback(); // Waits for nobody any more.
                return true;
              });
      assertEquals(Boolean.TRUE, begun);
      assertEquals(List.of("t"), store.treeNames());
    }
  }

  private static void assertRefused(String call, Executable refused) {
    String told = assertThrows(IllegalStateException.class, refused).getMessage();
    assertTrue(told.contains(call) && told.contains("ValueReader"), told);
  }

  private interface Work {
    void run(int n);
  }

  /** Runs all of these again and again until the first one has done so {@code times} times. */
  private static void together(int times, Work first, Work... others) throws Exception {
    AtomicReference<Throwable> failure = new AtomicReference<>();
    AtomicBoolean stop = new AtomicBoolean();
    List<Thread> threads = new ArrayList<>();
    for (Work work : others) {
      threads.add(new Thread(() -> repeat(Integer.MAX_VALUE, work, stop, failure)));
    }
    threads.forEach(Thread::start);
    repeat(times, first, stop, failure);
    stop.set(true);
    for (Thread thread : threads) {
      thread.join();
    }
    if (failure.get() != null) {
      throw new AssertionError("seed " + SEED, failure.get());
    }
  }

  private static void repeat(
      int times, Work work, AtomicBoolean stop, AtomicReference<Throwable> failure) {
    try {
      for (int n = 0; n < times && !stop.get() && failure.get() == null; n++) {
        work.run(n);
      }
    } catch (RuntimeException | Error e) {
      failure.compareAndSet(null, e);
    }
  }

  @Test
  @Timeout(value = 120, unit = TimeUnit.SECONDS)
  void whatIsLookedAtStaysWhateverFlushesMergesAndTheCacheDo() throws Exception {
    System.out.println("isobar.seed=" + SEED);
    int keys = 3000;
    try (Store store = open(6 << 20)) {
      Tree tree = store.openTree("t");
      for (int i = 0; i < keys; i++) {
        tree.put(key(i), value(i, 2000));
      }
      Work look =
          n -> {
            SplittableRandom random = new SplittableRandom(SEED + n);
            int i = random.nextInt(keys);
            Boolean good =
                tree.read(
                    key(i),
                    view -> {
                      int first = view.getInt(0);
                      for (int pass = 0; pass < 3; pass++) {
                        for (int at = 0; at < 2000; at += 4) {
                          assertEquals(first, view.getInt(at));
                        }
                        Thread.yield();
                      }
                      return first % keys == i;
                    });
            assertEquals(Boolean.TRUE, good);
          };
      Work write =
          n -> {
            int i = new SplittableRandom(SEED - n).nextInt(keys);
            tree.put(key(i), value(keys * (n % 1000) + i, 2000));
          };
      together(8_000, write, look, look, look);
    }
  }

  // ---- many at once

  @Test
  void manyAtOnceAreWhatTheyAreOneByOne() {
    System.out.println("isobar.seed=" + SEED);
    SplittableRandom random = new SplittableRandom(SEED);
    try (Store store = open(6 << 20)) {
      Tree tree = store.openTree("t");
      int keys = 1500;
      for (int round = 0; round < 12; round++) {
        for (int i = 0; i < keys / 2; i++) {
          int n = random.nextInt(keys);
          if (random.nextInt(5) == 0) {
            tree.delete(key(n));
          } else {
            int bound = random.nextInt(50) == 0 ? 50_000 : 2000;
            tree.put(key(n), value(n, random.nextInt(bound)));
          }
        }
        if (round % 3 == 1) {
          store.flush();
        }
        List<byte[]> sought = new ArrayList<>();
        for (int i = random.nextInt(2000); i > 0; i--) {
          sought.add(key(random.nextInt(keys + 200)));
        }
        try (Snapshot snapshot = store.snapshot()) {
          assertSame(tree, sought, tree.multiGet(sought), null);
          tree.put(key(0), value(0, round));
          tree.delete(key(1));
          assertSame(tree, sought, tree.multiGet(sought, snapshot), snapshot);
        }
      }
      assertEquals(List.of(), tree.multiGet(List.of()));
      byte[] tooLong = new byte[tree.maxKeyBytes() + 1];
      assertThrows(IllegalArgumentException.class, () -> tree.multiGet(List.of(key(1), tooLong)));
    }
  }

  private static void assertSame(
      Tree tree, List<byte[]> keys, List<byte[]> found, Snapshot snapshot) {
    assertEquals(keys.size(), found.size());
    for (int i = 0; i < keys.size(); i++) {
      byte[] one = snapshot == null ? tree.get(keys.get(i)) : tree.get(keys.get(i), snapshot);
      assertArrayEquals(one, found.get(i));
    }
  }

  @Test
  @Timeout(value = 120, unit = TimeUnit.SECONDS)
  void manyAtOnceAreOfOneMomentWhileOthersWrite() throws Exception {
    int[] sizes = {10, 900, 3000, 6000};
    try (Store store = open(6 << 20)) {
      Tree tree = store.openTree("t");
      List<byte[]> keys = new ArrayList<>();
      for (int i = 0; i < 40; i++) {
        keys.add(key(i * 7919 % 1000));
      }
      Work write =
          n -> {
            WriteBatch batch = store.newBatch();
            for (int i = 0; i < keys.size(); i++) {
              batch.put(tree, keys.get(i), value(n, sizes[i % sizes.length]));
            }
            store.write(batch);
          };
      Work noise = n -> tree.put(key(1000 + n % 5000), value(n, 500));
      write.run(0);
      Work read =
          n -> {
            List<byte[]> values = tree.multiGet(keys);
            byte[] first = Arrays.copyOf(values.get(0), 4);
            for (byte[] value : values) {
              assertArrayEquals(first, Arrays.copyOf(value, 4));
            }
          };
      together(1500, read, write, noise);
    }
  }

  @Test
  void aBufferThatIsReadOnlyIsRefusedAsATarget() {
    ByteBuffer target = ByteBuffer.allocate(100).asReadOnlyBuffer();
    try (Store store = open(8 << 20)) {
      Tree tree = store.openTree("t");
      tree.put(key(1), value(1, 10));
      try (Snapshot snapshot = store.snapshot();
          Transaction transaction = store.begin();
          Cursor cursor = tree.cursor()) {
        assertTrue(cursor.first());
        for (Executable read :
            List.<Executable>of(
                () -> tree.get(key(1), target),
                () -> tree.get(key(2), target),
                () -> tree.get(key(1), target, snapshot),
                () -> transaction.get(tree, key(1), target),
                () -> cursor.key(target),
                () -> cursor.value(target))) {
          IllegalArgumentException e = assertThrows(IllegalArgumentException.class, read);
          assertTrue(e.getMessage().contains("read-only"), e.getMessage());
        }
      }
      assertEquals(0, target.position());
    }
  }
}
