package io.isobardb.lsm.component;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class MemoryRulesTest {
  @Test
  void entriesAreIndexedWhileWriteMemoryIsNotShort() {
    for (boolean fits : new boolean[] {true, false}) {
      assertTrue(MemoryRules.indexes(10, 40, 100, fits));
      assertFalse(MemoryRules.indexes(10, 70, 100, fits), "a flush is near");
    }
    assertTrue(MemoryRules.indexes(10, 60, 100, true), "nothing of the tree is on disk");
    assertFalse(MemoryRules.indexes(10, 60, 100, false), "what it takes is flushed the earlier");
  }
}
