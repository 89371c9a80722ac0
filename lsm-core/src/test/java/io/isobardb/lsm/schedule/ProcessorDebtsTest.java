package io.isobardb.lsm.schedule;

import static io.isobardb.lsm.schedule.Job.Priority.FLUSH;
import static io.isobardb.lsm.schedule.Job.Priority.MERGE_DEEP;
import static io.isobardb.lsm.schedule.Job.Priority.MERGE_L0;
import static io.isobardb.lsm.schedule.Job.Priority.MERGE_MEMORY;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.isobardb.lsm.schedule.BandwidthRules.Pressure;
import org.junit.jupiter.api.Test;

/** Who waits for processors, and how long. */
class ProcessorDebtsTest {
  private static final long SECOND = 1_000_000_000;
  private static final long STEP = SECOND / 1000;

  private final ProcessorDebts debts = new ProcessorDebts();

  @Test
  void nobodyWaitsWithoutALimit() {
    debts.charge(MERGE_DEEP, SECOND, 0);
    assertEquals(0, debts.waitNanos(MERGE_DEEP, 0));
  }

  @Test
  void mergesInMemoryAndDeeperOnesWaitForWhatAllJobsUsed() {
    debts.limit(new ProcessorLimits(SECOND / 2, 1), 0);
    debts.charge(FLUSH, STEP, 0);
    debts.charge(MERGE_MEMORY, STEP, 0);
    assertEquals(4 * STEP, debts.waitNanos(MERGE_MEMORY, 0), "half a processor, two steps");
    assertEquals(4 * STEP, debts.waitNanos(MERGE_DEEP, 0));
    assertEquals(3 * STEP, debts.waitNanos(MERGE_DEEP, STEP));
    assertEquals(0, debts.waitNanos(MERGE_DEEP, 4 * STEP));
  }

  @Test
  void theTimeOfAStepPaysForIt() {
    debts.limit(new ProcessorLimits(SECOND, 1), 0);
    debts.charge(MERGE_MEMORY, STEP, STEP);
    assertEquals(0, debts.waitNanos(MERGE_MEMORY, STEP), "one processor, one worker");
    debts.charge(MERGE_MEMORY, STEP, 2 * STEP);
    debts.charge(MERGE_L0, STEP, 2 * STEP);
    assertEquals(STEP, debts.waitNanos(MERGE_MEMORY, 2 * STEP), "two workers");
  }

  @Test
  void flushesAndMergesOfL0NeverWait() {
    debts.limit(new ProcessorLimits(1, 1), 0);
    debts.charge(MERGE_DEEP, SECOND, 0);
    assertEquals(0, debts.waitNanos(FLUSH, 0));
    assertEquals(0, debts.waitNanos(MERGE_L0, 0));
  }

  @Test
  void theyGetTheirLeastHoweverMuchOthersUse() {
    debts.limit(new ProcessorLimits(0, SECOND / 4), 0);
    debts.charge(MERGE_L0, SECOND, 0);
    assertEquals(0, debts.waitNanos(MERGE_MEMORY, 0), "nothing used by those that wait");
    debts.charge(MERGE_MEMORY, STEP, 0);
    assertEquals(4 * STEP, debts.waitNanos(MERGE_MEMORY, 0));
  }

  @Test
  void jobsGetWhatClientsLeaveLessAReserve() {
    ProcessorRules rules = new ProcessorRules(SECOND / 4);
    assertEquals(
        new ProcessorLimits(SECOND * 14 / 10, SECOND / 4),
        rules.next(2, SECOND / 2, Pressure.NONE),
        "2 processors, a twentieth of which is kept, and half of one that is used");
    assertEquals(0, rules.next(2, 2 * SECOND, Pressure.NONE).allNanos());
    for (Pressure pressure : new Pressure[] {Pressure.WRITERS, Pressure.ALL}) {
      assertEquals(ProcessorLimits.NONE, rules.next(2, SECOND, pressure), "somebody waits");
    }
    assertEquals(ProcessorLimits.NONE, rules.next(0, 0, Pressure.NONE), "it is not known");
  }
}
