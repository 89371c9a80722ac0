package io.isobardb.lsm.component;

import static io.isobardb.lsm.component.MemoryComponent.MONOLITHIC;
import static io.isobardb.lsm.component.MemoryComponent.PARTITIONED;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.component.MemoryComponent.Use;
import org.junit.jupiter.api.Test;

class MemoryComponentTest {
  private static final long MB = 1 << 20;
  private static final long WRITE_BYTES = 1024 * MB;

  private static boolean mayGrow(long heldBytes, long writtenBytes, long readNanos) {
    return PARTITIONED.mayGrow(
        new Use(heldBytes, heldBytes, writtenBytes, readNanos, false), 2 * heldBytes, WRITE_BYTES);
  }

  private static Use held(long heldBytes, long treeBytes, long readNanos, boolean fits) {
    return new Use(heldBytes, treeBytes, heldBytes, readNanos, fits);
  }

  @Test
  void aTreeIsSmallBelowHalfOfTheWriteMemoryAnd128MB() {
    assertTrue(MemoryComponent.isSmall(0, 2 * MB));
    assertTrue(MemoryComponent.isSmall(MB - 1, 2 * MB));
    assertFalse(MemoryComponent.isSmall(MB, 2 * MB));
    assertTrue(MemoryComponent.isSmall(128 * MB - 1, 1L << 40));
    assertFalse(MemoryComponent.isSmall(128 * MB, 1L << 40));
  }

  @Test
  void onlyThePartitionedOneOfASmallTreeGrowsOnUpTo32MBWhateverOthersHave() {
    for (MemoryComponent component : MemoryComponent.values()) {
      boolean grows = component == PARTITIONED;
      Use small = held(2 * MB, 7 * MB, 0, false);
      assertEquals(grows, component.mayGrow(small, 16 * MB, 16 * MB), component.name());
      Use large = held(2 * MB, 8 * MB, 0, false);
      assertFalse(component.mayGrow(large, 16 * MB, 16 * MB), component.name());
      Use most = held(32 * MB - 1, 32 * MB, 0, false);
      assertEquals(grows, component.mayGrow(most, WRITE_BYTES, WRITE_BYTES), component.name());
      Use beyond = held(32 * MB, 32 * MB, 0, false);
      assertFalse(component.mayGrow(beyond, 0, WRITE_BYTES), component.name());
    }
  }

  @Test
  void itGrowsOnIfReadsWouldLoseMoreByAnotherRunThanPutsByALargeTree() {
    // Entries that are all new, and 3 ns a byte for them, of which the merge that is saved is 2.
    assertTrue(mayGrow(100 * MB, 100 * MB, 25 * MB));
    assertFalse(mayGrow(100 * MB, 100 * MB, 24 * MB));
  }

  @Test
  void whatIsOverwrittenCostsPutsAndSavesNoMerge() {
    assertTrue(mayGrow(100 * MB, 400 * MB, 250 * MB));
    assertFalse(mayGrow(100 * MB, 400 * MB, 249 * MB));
  }

  @Test
  void nothingGrowsLargeOnceMemoryIsWanted() {
    Use read = held(100 * MB, 100 * MB, Long.MAX_VALUE / 8, false);
    assertTrue(PARTITIONED.mayGrow(read, WRITE_BYTES / 2 - 1, WRITE_BYTES));
    assertFalse(PARTITIONED.mayGrow(read, WRITE_BYTES / 2, WRITE_BYTES));
    assertFalse(MONOLITHIC.mayGrow(read, 0, WRITE_BYTES));
  }

  @Test
  void whatMayFitGrowsUntilThreeQuartersAreUsed() {
    for (long held : new long[] {8 * MB, 100 * MB}) {
      Use fits = held(held, 200 * MB, Long.MAX_VALUE / 8, true);
      assertTrue(PARTITIONED.mayGrow(fits, WRITE_BYTES / 4 * 3 - 1, WRITE_BYTES));
      assertFalse(PARTITIONED.mayGrow(fits, WRITE_BYTES / 4 * 3, WRITE_BYTES));
    }
  }

  @Test
  void aSmallActiveSSTableIsAnEighthOfTheWriteMemory() {
    assertEquals(2 * MB, PARTITIONED.smallBytes(16 * MB));
    assertEquals(32 * MB, PARTITIONED.smallBytes(WRITE_BYTES));
  }
}
