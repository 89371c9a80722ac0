package io.isobardb.lsm.tuning;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.isobardb.tuner.memory.TunerOptions;
import org.junit.jupiter.api.Test;

class TuningTest {
  private static long cycleBytes(long logLimitBytes, long budgetBytes) {
    Tuning tuning = new Tuning(true, 1, logLimitBytes, TunerOptions.DEFAULT);
    return tuning.cycleBytes(budgetBytes);
  }

  @Test
  void aCycleIsALogOrTwoBudgets() {
    assertEquals(16, cycleBytes(15, 8));
    assertEquals(17, cycleBytes(17, 8));
    assertEquals(18, cycleBytes(17, 9), "of the budget that there is now");
  }
}
