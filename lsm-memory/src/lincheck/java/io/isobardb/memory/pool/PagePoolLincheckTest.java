package io.isobardb.memory.pool;

import io.isobardb.memory.stats.Purpose;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Pages are handed out while there are any, each to one owner. Real threads. */
@Tag("any-jdk")
public class PagePoolLincheckTest {
  private static final int PAGE = 65536;

  /** Room for one slab of four pages. */
  private static final long LIMIT = 4 * PAGE + 4096;

  private final PagePool pool = new PagePool(LIMIT, PAGE, true);
  private final Deque<Integer> held = new ArrayDeque<>();

  @Operation
  public boolean take() {
    int page = pool.allocate(Purpose.WRITE);
    if (page == PagePool.NONE) {
      return false;
    }
    synchronized (held) {
      if (held.contains(page)) {
        throw new IllegalStateException("page " + page + " has two owners");
      }
      held.add(page);
    }
    return true;
  }

  /** The pages charged to the purpose. */
  @Operation
  public long count() {
    return pool.pages(Purpose.WRITE);
  }

  /** All pages come back. */
  @Validate
  public void nothingIsLeft() {
    held.forEach(page -> pool.release(page, Purpose.WRITE));
    pool.close();
  }

  /** What a pool of four pages is. */
  public static class Sequential {
    private int held;

    public boolean take() {
      return held < 4 && held++ < 4;
    }

    public long count() {
      return held;
    }
  }

  @Test
  void poolIsACounter() {
    new StressOptions()
        .iterations(Integer.getInteger("isobar.lincheck.iterations", 1))
        .invocationsPerIteration(300)
        .threads(2)
        .actorsPerThread(4)
        .sequentialSpecification(Sequential.class)
        .check(PagePoolLincheckTest.class);
  }
}
