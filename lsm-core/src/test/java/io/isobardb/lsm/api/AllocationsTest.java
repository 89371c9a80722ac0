package io.isobardb.lsm.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.function.IntConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What calls allocate on the heap, on the thread that makes them. The bounds leave room for what
 * happens once in many calls. They hold for interpreted code, too. Left out are puts that are
 * slowed down, and those into an active SSTable that has grown beyond its size.
 */
@Tag("any-jdk")
class AllocationsTest {
  private static final int KEYS = 2000;
  private static final int TIMES = 20_000;
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  @TempDir private Path directory;
  private Store store;
  private Tree tree;
  private final byte[] key = new byte[8];
  private final byte[] value = new byte[100];
  private final ByteBuffer keyBytes = ByteBuffer.wrap(key);
  private final ByteBuffer target = ByteBuffer.allocate(200);

  @BeforeEach
  void load() {
    StoreOptions options = StoreOptions.builder().memoryBudget(64 << 20).memoryTuner(false).build();
    store = Store.open(directory.resolve("store"), options);
    tree = store.openTree("tree");
    for (int i = 0; i < KEYS; i++) {
      put(i);
    }
  }

  @AfterEach
  void close() {
    store.close();
  }

  private byte[] key(int i) {
    keyBytes.putInt(0, i % 13).putInt(4, i);
    return key;
  }

  private void put(int i) {
    tree.put(key(i % KEYS), value);
  }

  private void get(int i) {
    target.clear();
    assertEquals(value.length, tree.get(key(i % KEYS), target));
  }

  private void getAbsent(int i) {
    target.clear();
    assertEquals(Tree.NOT_FOUND, tree.get(key(KEYS + i % KEYS), target));
  }

  private void scan(int i) {
    try (Cursor cursor = tree.cursor()) {
      int seen = 0;
      for (boolean more = cursor.seek(key(i % KEYS)); more && seen < 100; more = cursor.next()) {
        seen++;
      }
    }
  }

  @Test
  void aPutAllocatesNothing() {
    expect("a put", 2, TIMES, this::put);
  }

  @Test
  void aGetFromWriteMemoryAllocatesNothing() {
    expect("a get", 1, TIMES, this::get);
    expect("a get of an absent key", 1, TIMES, this::getAbsent);
  }

  @Test
  void aGetFromTheCacheAllocatesNothing() {
    store.flush();
    store.awaitQuiet();
    expect("a get", 1, TIMES, this::get);
    expect("a get of an absent key", 1, TIMES, this::getAbsent);
  }

  @Test
  void theStepsOfAScanAllocateNothing() {
    store.flush();
    store.awaitQuiet();
    // The cursor and what it holds take 2,120; an object at each step would take 1,600 more.
    expect("a scan of 100", 3000, TIMES / 20, this::scan);
  }

  private static void expect(String call, long most, int times, IntConsumer calls) {
    for (int i = 0; i < times; i++) {
      calls.accept(i);
    }
    long before = THREADS.getThreadAllocatedBytes(Thread.currentThread().getId());
    for (int i = 0; i < times; i++) {
      calls.accept(i);
    }
    long bytes = THREADS.getThreadAllocatedBytes(Thread.currentThread().getId()) - before;
    assertTrue(
        bytes <= most * times, () -> call + " allocates " + (double) bytes / times + " bytes");
  }
}
