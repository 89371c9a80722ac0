package io.isobardb.memory.cache;

import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import java.io.IOException;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A page that is pinned, or looked at within an epoch, is the page of its key, and a key has one
 * page, whoever loads, evicts, adopts or drops meanwhile. All frames but one are pinned, so that
 * every load of the other page evicts.
 *
 * <p>Model checking with each access to the page table and the pages as a step ({@link Steps}), and
 * stress.
 */
@Tag("any-jdk")
@Param(name = "file", gen = IntGen.class, conf = "1:2")
public class BufferCacheLincheckTest {
  private static final int PAGE = 4096;

  /** Room for a slab, more than the least cache by some pages, and for the page tables. */
  private static final long LIMIT = 40 * PAGE;

  private static final int FILES = 2;

  /** Whose pages are pinned all the time. */
  private static final int PINNED_FILE = FILES + 1;

  private static final int PINNED_PAGES = BufferCache.MINIMUM_PAGES - 1;

  private final PagePool pool = new PagePool(LIMIT, PAGE, true);
  private final BufferCache cache =
      new BufferCache(pool, BufferCache.MINIMUM_PAGES * PAGE, 0, CacheNeighbours.NONE, Guides.NONE);

  /** What is pinned until the end. */
  private final Queue<Long> held = new ConcurrentLinkedQueue<>();

  public BufferCacheLincheckTest() throws IOException {
    fill();
  }

  /** Page 0 of file 1 is in the only frame that is not pinned. */
  private void fill() throws IOException {
    for (int i = 0; i < PINNED_PAGES; i++) {
      long key = BufferCache.key(PINNED_FILE, i);
      cache.load(key, BufferCacheLincheckTest::write, Access.QUERY);
      held.add(key);
    }
    cache.load(key(1), BufferCacheLincheckTest::write, Access.QUERY);
    cache.unpin(key(1));
  }

  private static long key(int file) {
    return BufferCache.key(file, 0);
  }

  private static void write(long key, Memory memory, int base) {
    memory.putLong(base, key);
    memory.putLong(base + PAGE - 8, key);
  }

  private boolean isRight(long key, int page) {
    Memory memory = pool.memory(page);
    int base = pool.base(page);
    return memory.getLong(base) == key && memory.getLong(base + PAGE - 8) == key;
  }

  /** Whether the page is the right one, if it is there. */
  @Operation
  public boolean find(@Param(name = "file") int file) {
    int slot = pool.epochs().enter();
    int page = cache.find(key(file));
    boolean right = page == BufferCache.ABSENT || isRight(key(file), page);
    pool.epochs().exit(slot);
    return right;
  }

  /** Whether the page is the right one, as long as it is pinned. */
  @Operation
  public boolean load(@Param(name = "file") int file) throws IOException {
    int page = cache.load(key(file), BufferCacheLincheckTest::write, Access.QUERY);
    boolean right = isRight(key(file), page) && isRight(key(file), page);
    cache.unpin(key(file));
    return right;
  }

  /** Pins a page for the rest of the time. */
  @Operation
  public void hold(@Param(name = "file") int file) throws IOException {
    cache.load(key(file), BufferCacheLincheckTest::write, Access.SCAN);
    held.add(key(file));
  }

  /** Brings a page in that somebody has made. */
  @Operation
  public void adopt(@Param(name = "file") int file) {
    int page = pool.allocate(Purpose.WRITE);
    write(key(file), pool.memory(page), pool.base(page));
    cache.adopt(key(file), page, Purpose.WRITE, Access.QUERY);
  }

  @Operation
  public void drop(@Param(name = "file") int file) {
    cache.drop(file, 1);
  }

  /** A key has one page, pins are given back, and so is all memory. */
  @Validate
  public void nothingIsLeft() {
    close();
  }

  private void close() {
    for (long key : held) {
      int page = cache.pin(key);
      if (page == BufferCache.ABSENT || !isRight(key, page)) {
        throw new IllegalStateException(BufferCache.describe(key) + ", pinned, is gone");
      }
      cache.unpin(key);
      cache.unpin(key);
    }
    for (int file = 1; file <= FILES; file++) {
      cache.drop(file, 1);
      if (cache.pin(key(file)) != BufferCache.ABSENT) {
        throw new IllegalStateException(BufferCache.describe(key(file)) + " was there twice");
      }
    }
    if (cache.stats().heldPages() != pool.pages(Purpose.CACHE)) {
      throw new IllegalStateException(cache.stats() + " " + pool.ledger());
    }
    cache.close();
    pool.close();
  }

  /** All that is found is right. */
  public static class Sequential {
    public boolean find(int file) {
      return true;
    }

    public boolean load(int file) {
      return true;
    }

    public void hold(int file) {}

    public void adopt(int file) {}

    public void drop(int file) {}
  }

  @Test
  void everyInterleaving() {
    Steps.options()
        .addGuarantee(Steps.none(BufferCacheLincheckTest.class, "fill", "close"))
        // PageTableLincheckTest looks into it.
        .addGuarantee(Steps.one(PageTable.class, "sweep"))
        // No time passes for the model checker, so a wait for some would last for ever.
        .addGuarantee(Steps.one(Frames.class, "lookAgainLater", "wakeWaiters"))
        .iterations(Integer.getInteger("isobar.lincheck.iterations", 1))
        .invocationsPerIteration(100)
        .threads(2)
        .actorsPerThread(2)
        .sequentialSpecification(Sequential.class)
        .check(BufferCacheLincheckTest.class);
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
        .check(BufferCacheLincheckTest.class);
  }
}
