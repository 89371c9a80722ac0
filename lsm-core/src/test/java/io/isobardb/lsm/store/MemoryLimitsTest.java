package io.isobardb.lsm.store;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.memory.pool.DirectMemory;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MemoryLimitsTest {
  private static final long MB = 1 << 20;

  @Test
  void aBudgetThatFitsBesideTheHeapIsNoProblem() {
    assertNull(new MemoryLimits(256 * MB, 744 * MB, 1000 * MB).check(256 * MB));
    assertNull(new MemoryLimits(256 * MB, 744 * MB, Long.MAX_VALUE).check(256 * MB));
    assertNull(MemoryLimits.ofProcess().check(4 * MB));
    assertTrue(DirectMemory.systemBytes() > 64 * MB);
  }

  @Test
  void aBudgetBeyondDirectMemoryIsRefusedWithTheJvmsOption() {
    String told = refused(new MemoryLimits(256 * MB, 10 * MB, 1000 * MB), 256 * MB + 1);
    assertTrue(told.contains("-XX:MaxDirectMemorySize=320m"), told);
  }

  @Test
  void aBudgetBeyondTheContainersMemoryIsRefused() {
    String told = refused(new MemoryLimits(2000 * MB, 10 * MB, 1000 * MB), 1000 * MB);
    assertTrue(told.contains((1000 * MB) + " bytes that the container"), told);
  }

  @Test
  void aBudgetThatDoesNotFitBesideTheHeapIsWarnedOf() {
    String warning = new MemoryLimits(2000 * MB, 745 * MB, 1000 * MB).check(256 * MB);
    assertNotNull(warning);
    assertTrue(warning.contains("-Xmx") && warning.contains("" + 745 * MB), warning);
    assertNotNull(new MemoryLimits(2000 * MB, Long.MAX_VALUE, 1000 * MB).check(256 * MB));
  }

  /** Budgets go up and down, as with what Kafka Streams holds back. */
  @Test
  void aBudgetThatAStoreHadBeforeIsNotWarnedOfAgain() {
    MemoryLimits limits = new MemoryLimits(2000 * MB, 745 * MB, 1000 * MB);
    assertNull(limits.check(256 * MB, 256 * MB));
    assertNotNull(limits.check(257 * MB, 256 * MB));
    assertThrows(IllegalArgumentException.class, () -> limits.check(1000 * MB, 1000 * MB));
  }

  /** The measured cases of docs/operations.md. */
  @Test
  void aHeapThatIsTooSmallForTheTreesIsWarnedOf() {
    assertNull(heapWarning(12, new MemoryLimits.OnHeap(1, 500, 0)));
    assertNull(heapWarning(12, new MemoryLimits.OnHeap(300, 150_000, 0)));
    assertNull(heapWarning(16, new MemoryLimits.OnHeap(1000, 500_000, 0)));
    String warning = heapWarning(12, new MemoryLimits.OnHeap(1000, 500_000, 0));
    assertNotNull(warning);
    assertTrue(warning.contains("-Xmx17m") && warning.contains("1000 trees"), warning);
    assertNotNull(heapWarning(40, new MemoryLimits.OnHeap(1, 0, 100_000)));
    assertNotNull(heapWarning(40, new MemoryLimits.OnHeap(1, 20_000_000, 0)));
  }

  @Test
  void anOpeningAsksForTheHeapThatItsTreesNeed(@TempDir Path directory) throws Exception {
    StoreOptions options = StoreOptions.builder().memoryBudget(8 * MB).build();
    try (Store store = Store.open(directory, options)) {
      store.openTree("a");
      store.openTree("b");
    }
    try (Store store = Store.open(directory, options)) {
      OpenStore open = (OpenStore) store;
      assertNull(open.heapWarning(MemoryLimits.ofProcess()));
      String warning = open.heapWarning(new MemoryLimits(0, 2 * MB, 0));
      assertNotNull(warning);
      assertTrue(warning.contains("2 trees"), warning);
    }
  }

  private static @Nullable String heapWarning(long heapMegabytes, MemoryLimits.OnHeap kept) {
    return new MemoryLimits(0, heapMegabytes * MB, 0).checkHeap("the store", kept);
  }

  private static String refused(MemoryLimits limits, long budget) {
    return String.valueOf(
        assertThrows(IllegalArgumentException.class, () -> limits.check(budget)).getMessage());
  }
}
