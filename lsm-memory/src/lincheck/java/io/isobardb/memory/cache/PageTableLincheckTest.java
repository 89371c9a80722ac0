package io.isobardb.memory.cache;

import io.isobardb.memory.pool.PagePool;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The page table is a set of keys, each with the page it was put in with, and gives a page to one
 * remover only, also while it is replaced by a larger one: every interleaving, within bounds, with
 * each access to the table as a step.
 */
@Tag("any-jdk")
@Param(name = "key", gen = IntGen.class, conf = "1:2")
public class PageTableLincheckTest {
  /** Pages are numbered so that the remainder is their key: no number is used again. */
  private static final int KEYS = 4;

  private final PagePool pool = new PagePool(1 << 20, 4096);

  /** Held for inserts and growth, as by the cache. */
  private final Object growth = new Object();

  private final Set<Integer> removed = new HashSet<>();
  private final List<PageTable> old = new ArrayList<>();
  private volatile PageTable table = new PageTable(pool, 1);
  private int inserts;

  public PageTableLincheckTest() {
    inserts = 1;
    table.insert(1, KEYS + 1 | PageTable.VALID);
  }

  private boolean isRight(int key, int page) {
    return page % KEYS == key;
  }

  /** The page is nobody else's any more. */
  private void take(int page) {
    synchronized (removed) {
      if (!removed.add(page)) {
        throw new IllegalStateException("page " + page + " was removed twice");
      }
    }
  }

  /** Whether the key is there. */
  @Operation
  public boolean find(@Param(name = "key") int key) {
    int page = table.find(key, true);
    if (page != BufferCache.ABSENT && !isRight(key, page)) {
      throw new IllegalStateException("page " + page + " for key " + key);
    }
    return page != BufferCache.ABSENT;
  }

  /** Whether it was not there before. */
  @Operation
  public boolean insert(@Param(name = "key") int key) {
    synchronized (growth) {
      if (table.value(key) != 0) {
        return false;
      }
      inserts++;
      table.insert(key, (long) inserts * KEYS + key | PageTable.VALID);
      return true;
    }
  }

  /** Whether it was there; pinned ones are, for a moment, and stay. */
  @Operation
  public boolean remove(@Param(name = "key") int key) {
    while (true) {
      long value = table.remove(key);
      if (value != 0) {
        take((int) value);
        return true;
      }
      if (change(key, 0) == 0) {
        return false;
      }
    }
  }

  /** Whether it is there, and is the same, pinned, until the pin is given back. */
  @Operation
  public boolean pin(@Param(name = "key") int key) {
    int page = (int) change(key, 1);
    if (page == 0) {
      return false;
    }
    boolean same = table.find(key, false) == page;
    change(key, -1);
    if (!same || !isRight(key, page)) {
      throw new IllegalStateException("page " + page + ", pinned for key " + key);
    }
    return true;
  }

  private long change(int key, int pins) {
    while (true) {
      long value = table.change(key, pins, 0);
      if ((value & PageTable.MOVED) == 0) {
        return value;
      }
      synchronized (growth) {
        // Until the larger table stands.
      }
    }
  }

  /** As {@link #remove}, by the clock's hand. */
  @Operation
  public boolean evict(@Param(name = "key") int key) {
    while (true) {
      Victims victims = new Victims(1);
      PageTable now = table;
      now.sweep(0, now.slots(), victims, page -> isRight(key, page), true, 0);
      if (victims.count > 0) {
        if (victims.keys[0] != key) {
          throw new IllegalStateException(victims.pages[0] + " is not of " + victims.keys[0]);
        }
        take(victims.pages[0]);
        return true;
      }
      if (change(key, 0) == 0) {
        return false;
      }
    }
  }

  @Operation(runOnce = true)
  public void grow() {
    synchronized (growth) {
      PageTable larger = new PageTable(pool, 32);
      table.moveTo(larger);
      old.add(table);
      table = larger;
    }
  }

  /** What is left is what was put in and not removed. */
  @Validate
  public void nothingIsLost() {
    close();
  }

  private void close() {
    int left = 0;
    for (int key = 0; key < KEYS; key++) {
      while (table.remove(key) != 0) {
        left++;
      }
    }
    old.forEach(each -> pool.release(each.block()));
    pool.release(table.block());
    pool.close();
    if (left != inserts - removed.size()) {
      throw new IllegalStateException(inserts + " put in, " + removed + " removed, left: " + left);
    }
  }

  /** A set. */
  public static class Sequential {
    private final Set<Integer> keys = new HashSet<>(Set.of(1));

    public boolean find(int key) {
      return keys.contains(key);
    }

    public boolean insert(int key) {
      return keys.add(key);
    }

    public boolean remove(int key) {
      return keys.remove(key);
    }

    public boolean pin(int key) {
      return keys.contains(key);
    }

    public boolean evict(int key) {
      return keys.remove(key);
    }

    public void grow() {}
  }

  @Test
  void everyInterleaving() {
    Steps.options()
        .addGuarantee(Steps.none(PageTableLincheckTest.class, "close"))
        .iterations(Integer.getInteger("isobar.lincheck.iterations", 1))
        .invocationsPerIteration(100)
        .threads(2)
        .actorsPerThread(2)
        .sequentialSpecification(Sequential.class)
        .check(PageTableLincheckTest.class);
  }
}
