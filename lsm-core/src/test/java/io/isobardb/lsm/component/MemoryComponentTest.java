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
        new Use(heldBytes, writtenBytes, readNanos, false), 2 * heldBytes, WRITE_BYTES);
  }

  @Test
  void anActiveSSTableThatTheProcessorsCacheHelpsWithGrows() {
    assertTrue(mayGrow(31 * MB, 500 * MB, 0));
    assertFalse(mayGrow(32 * MB, 32 * MB, 0));
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
  void nothingGrowsBeyondItsSizeOnceMemoryIsWanted() {
    Use read = new Use(8 * MB, 8 * MB, Long.MAX_VALUE / 8, false);
    assertTrue(PARTITIONED.mayGrow(read, WRITE_BYTES / 2 - 1, WRITE_BYTES));
    assertFalse(PARTITIONED.mayGrow(read, WRITE_BYTES / 2, WRITE_BYTES));
    Use fits = new Use(8 * MB, 8 * MB, 0, true);
    assertTrue(PARTITIONED.mayGrow(fits, WRITE_BYTES / 4 * 3 - 1, WRITE_BYTES));
    assertFalse(PARTITIONED.mayGrow(fits, WRITE_BYTES / 4 * 3, WRITE_BYTES));
    assertFalse(MONOLITHIC.mayGrow(read, 0, WRITE_BYTES));
  }

  @Test
  void aSmallActiveSSTableIsAnEighthOfTheWriteMemory() {
    assertEquals(2 * MB, PARTITIONED.smallBytes(16 * MB));
    assertEquals(32 * MB, PARTITIONED.smallBytes(WRITE_BYTES));
  }
}
