package io.isobardb.lsm.handle;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.memory.pool.DirectMemory;
import org.junit.jupiter.api.Test;

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

  private static String refused(MemoryLimits limits, long budget) {
    return String.valueOf(
        assertThrows(IllegalArgumentException.class, () -> limits.check(budget)).getMessage());
  }
}
