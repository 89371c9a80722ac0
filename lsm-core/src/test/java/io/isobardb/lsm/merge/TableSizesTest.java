package io.isobardb.lsm.merge;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class TableSizesTest {
  private static final int KB = 1 << 10;
  private static final int MB = 1 << 20;

  private final TableSizes sizes = new TableSizes(4096, 0);

  @Test
  void aFlushedOneIsAnEighthOfTheWriteMemoryWithinLimits() {
    assertEquals(256 * KB, sizes.flushed(0));
    assertEquals(256 * KB + 1, sizes.flushed(2 * MB + 8));
    assertEquals(16 * MB, sizes.flushed(128 * MB));
    assertEquals(16 * MB, sizes.flushed(1L << 40));
  }

  @Test
  void itHasSixteenPagesAtLeast() {
    assertEquals(MB, new TableSizes(64 * KB, 0).flushed(MB));
  }

  @Test
  void aGivenSizeIsThatOfAllAndSixteenPagesAtLeast() {
    TableSizes given = new TableSizes(4096, 3 * MB);
    assertEquals(3 * MB, given.flushed(128 * MB, 100, true));
    assertEquals(3 * MB, given.merged(128 * MB, 100L << 30, 100, true));
    assertEquals(3 * MB, given.merged(MB, 0, 100, false));
    assertEquals(MB, new TableSizes(64 * KB, 32 * KB).merged(MB, MB, MB, false));
  }

  @Test
  void mergedOnesGrowWithTheTree() {
    long much = 16L * MB;
    assertEquals(2 * MB, sizes.merged(16 * MB, 200L * MB, much, false));
    assertEquals(4 * MB, sizes.merged(16 * MB, 512L * MB, much, false));
    assertEquals(16 * MB, sizes.merged(16 * MB, 1L << 40, much, false));
  }

  @Test
  void thoseOfATreeThatIsFlushedWholeHaveAMegabyteAtLeast() {
    assertEquals(MB, sizes.merged(4 * MB, 0, 2 * MB - 1, false));
    assertEquals(512 * KB, sizes.merged(4 * MB, 0, 2 * MB, false));
    assertEquals(512 * KB, sizes.merged(4 * MB, 0, 2 * MB, true));
  }

  @Test
  void thoseOfATreeThatSharesTheMemoryAreAsLargeAsItsSlices() {
    assertEquals(8 * MB, sizes.flushed(64 * MB, 12 * MB, false));
    assertEquals(3 * MB / 2, sizes.flushed(64 * MB, 12 * MB, true));
    assertEquals(MB, sizes.flushed(64 * MB, 4 * MB, true));
    assertEquals(8 * MB, sizes.flushed(64 * MB, 16 * MB, true));
    assertEquals(8 * MB, sizes.merged(64 * MB, 200L * MB, 12 * MB, false));
    assertEquals(25 * MB / 16, sizes.merged(64 * MB, 200L * MB, 12 * MB, true));
  }
}
