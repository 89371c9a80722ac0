package io.isobardb.lsm.component;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class MemoryComponentTest {
  private static final long MB = 1 << 20;

  @Test
  void aTreeIsSmallBelowHalfOfTheWriteMemoryAnd128MB() {
    assertTrue(MemoryComponent.isSmall(0, 2 * MB));
    assertTrue(MemoryComponent.isSmall(MB - 1, 2 * MB));
    assertFalse(MemoryComponent.isSmall(MB, 2 * MB));
    assertTrue(MemoryComponent.isSmall(128 * MB - 1, 1L << 40));
    assertFalse(MemoryComponent.isSmall(128 * MB, 1L << 40));
  }

  @Test
  void onlyThePartitionedOneOfASmallTreeGrowsOnUpTo32MB() {
    for (MemoryComponent component : MemoryComponent.values()) {
      boolean grows = component == MemoryComponent.PARTITIONED;
      assertEquals(grows, component.mayGrow(2 * MB, 7 * MB, 16 * MB), component.name());
      assertFalse(component.mayGrow(2 * MB, 8 * MB, 16 * MB), component.name());
      assertEquals(grows, component.mayGrow(32 * MB - 1, 32 * MB, 1L << 30), component.name());
      assertFalse(component.mayGrow(32 * MB, 32 * MB, 1L << 30), component.name());
    }
  }
}
