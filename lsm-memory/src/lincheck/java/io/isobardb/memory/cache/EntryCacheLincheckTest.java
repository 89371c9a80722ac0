package io.isobardb.memory.cache;

import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * An entry that is found has the value that was put in for its key, and what the cache counts is
 * what it holds, whoever puts others in, has a page ordered anew, takes pages away or gives some.
 *
 * <p>Model checking with each access to a page as a step ({@link Steps}), and stress.
 */
@Tag("any-jdk")
@Param(name = "pages", gen = IntGen.class, conf = "0:2")
public class EntryCacheLincheckTest {
  private static final int FILE = 1;
  private static final int VALUE_BYTES = 230;

  /** Entries that fill a page. */
  private static final int FULL = 15;

  private static final byte OURS = 0x5A;

  /** The values of all keys, one after another: each is its key, repeated. */
  private static final Memory VALUES = values();

  private final PagePool pool = new PagePool(1 << 20, 4096, true);
  private final EntryCache cache = new EntryCache(pool);
  private final List<Integer> taken = new ArrayList<>();

  public EntryCacheLincheckTest() {
    fill();
  }

  /** One page, full, with key 1 next to go; key 0 is not there. */
  private void fill() {
    cache.resize(1);
    for (int key = 1; key <= FULL; key++) {
      bringIn(key);
    }
  }

  private static Memory values() {
    ByteBuffer values = ByteBuffer.allocateDirect((FULL + 1) * VALUE_BYTES);
    for (int i = 0; i < values.capacity(); i++) {
      values.put(i, (byte) (i / VALUE_BYTES));
    }
    return new Memory(values);
  }

  private static byte[] name(int key) {
    return new byte[] {'k', (byte) key};
  }

  private static long hash(int key) {
    return key * 0x9E37_79B9_7F4A_7C15L;
  }

  private void bringIn(int key) {
    EntryCache.Value value = new EntryCache.Value(VALUES, key * VALUE_BYTES, VALUE_BYTES, 8);
    int slot = pool.epochs().enter();
    cache.put(FILE, name(key), 0, 2, hash(key), value);
    pool.epochs().exit(slot);
  }

  private boolean isRight(int key) {
    byte[] value = new byte[VALUE_BYTES];
    int slot = pool.epochs().enter();
    int length = cache.get(FILE, name(key), 0, 2, hash(key), 8, ByteBuffer.wrap(value));
    pool.epochs().exit(slot);
    if (length == EntryCache.ABSENT) {
      return true;
    }
    byte[] expected = new byte[VALUE_BYTES];
    Arrays.fill(expected, (byte) key);
    return length == VALUE_BYTES && Arrays.equals(value, expected);
  }

  /** Whether nothing wrong was found for the entry that is next to go and for the one to come. */
  @Operation
  public boolean get() {
    return isRight(1) && isRight(0);
  }

  /** Needs room: if the page is still full it is ordered anew. */
  @Operation
  public void put() {
    bringIn(0);
  }

  @Operation
  public void resize(@Param(name = "pages") int pages) {
    cache.resize(pages);
  }

  /** What the cache gives up somebody else takes, and nobody writes to it any more. */
  @Operation(runOnce = true)
  public void giveUp() {
    cache.resize(0);
    for (int i = 0; i < 2; i++) {
      int page = pool.allocate(Purpose.WRITE);
      pool.memory(page).fill(pool.base(page), pool.pageSize(), OURS);
      taken.add(page);
    }
  }

  /** An empty cache counts no entries, and has no pages. */
  @Validate
  public void nothingIsLeft() {
    close();
  }

  private void close() {
    cache.resize(0);
    long held = cache.gained();
    if (held != 0 || pool.pages(Purpose.ENTRIES) != 0) {
      throw new IllegalStateException(
          held + " entries, " + pool.pages(Purpose.ENTRIES) + " pages left");
    }
    for (int page : taken) {
      for (int i = 0; i < pool.pageSize(); i++) {
        if (pool.memory(page).getByte(pool.base(page) + i) != OURS) {
          throw new IllegalStateException("somebody else wrote to page " + page);
        }
      }
      pool.release(page, Purpose.WRITE);
    }
    pool.close();
  }

  /** All that is found is right. */
  public static class Sequential {
    public boolean get() {
      return true;
    }

    public void put() {}

    public void giveUp() {}

    public void resize(int pages) {}
  }

  @Test
  void everyInterleaving() {
    Steps.options()
        .addGuarantee(Steps.none(EntryCacheLincheckTest.class, "fill", "close"))
        .addGuarantee(Steps.one(EntryCache.class, "order", "carry", "bytes", "isGhost"))
        .iterations(Integer.getInteger("isobar.lincheck.iterations", 1))
        .invocationsPerIteration(100)
        .threads(2)
        .actorsPerThread(2)
        .sequentialSpecification(Sequential.class)
        .check(EntryCacheLincheckTest.class);
  }

  @Test
  void realThreads() {
    new StressOptions()
        .actorsBefore(0)
        .actorsAfter(0)
        .iterations(Integer.getInteger("isobar.lincheck.iterations", 1))
        .invocationsPerIteration(100)
        .threads(3)
        .actorsPerThread(3)
        .sequentialSpecification(Sequential.class)
        .check(EntryCacheLincheckTest.class);
  }
}
