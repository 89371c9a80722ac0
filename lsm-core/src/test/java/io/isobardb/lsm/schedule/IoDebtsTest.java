package io.isobardb.lsm.schedule;

import static io.isobardb.lsm.schedule.Job.Priority.FLUSH;
import static io.isobardb.lsm.schedule.Job.Priority.IDLE;
import static io.isobardb.lsm.schedule.Job.Priority.MERGE_DEEP;
import static io.isobardb.lsm.schedule.Job.Priority.MERGE_L0;
import static io.isobardb.lsm.schedule.Job.Priority.MERGE_MEMORY;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** Who waits for how long, after what was read and written. */
class IoDebtsTest {
  private static final long MB = 1 << 20;
  private static final long SECOND = 1_000_000_000;

  private final IoDebts debts = new IoDebts();

  private void limit(long urgentMegabytes, long allMegabytes) {
    debts.limit(
        new IoLimits(urgentMegabytes * MB, allMegabytes * MB, false, 16 << 10, 16 << 10, "test"),
        0);
  }

  @Test
  void nobodyPaysWithoutALimit() {
    debts.charge(FLUSH, 100 * MB, 0);
    for (Job.Priority priority : Job.Priority.values()) {
      assertEquals(0, debts.waitNanos(priority, 0), priority::name);
    }
  }

  @Test
  void aDebtIsPaidWithTime() {
    limit(100, 100);
    debts.charge(MERGE_L0, MB, 0);
    assertEquals(SECOND / 100, debts.waitNanos(MERGE_L0, 0));
    assertEquals(SECOND / 200, debts.waitNanos(MERGE_L0, SECOND / 200));
    assertEquals(0, debts.waitNanos(MERGE_L0, SECOND / 100));
  }

  @Test
  void timeWithoutJobsIsNotSavedUp() {
    limit(100, 100);
    debts.charge(MERGE_L0, MB, 50 * SECOND);
    assertEquals(SECOND / 100, debts.waitNanos(MERGE_L0, 50 * SECOND));
  }

  @Test
  void deeperMergesGetWhatUrgentJobsLeave() {
    limit(100, 40);
    debts.charge(FLUSH, MB, 0);
    assertEquals(SECOND / 100, debts.waitNanos(MERGE_L0, 0));
    assertEquals(SECOND / 40, debts.waitNanos(MERGE_DEEP, 0));
    assertEquals(SECOND / 40, debts.waitNanos(IDLE, 0));
    debts.charge(MERGE_DEEP, MB, 0);
    assertEquals(SECOND / 100, debts.waitNanos(MERGE_L0, 0), "it pays for none of the deeper ones");
  }

  @Test
  void neitherFlushesNorMergesInMemoryWait() {
    limit(1, 1);
    debts.charge(MERGE_MEMORY, 0, 0);
    debts.charge(FLUSH, MB, 0);
    assertEquals(0, debts.waitNanos(FLUSH, 0));
    assertEquals(0, debts.waitNanos(MERGE_MEMORY, 0));
  }

  @Test
  void nothingLeftIsNoWaitForEver() {
    limit(10, 0);
    debts.charge(MERGE_DEEP, MB, 0);
    long wait = debts.waitNanos(MERGE_DEEP, 0);
    assertTrue(wait > 0 && wait <= SECOND, wait + " ns");
    limit(10, 10);
    assertTrue(debts.waitNanos(MERGE_DEEP, SECOND / 5) == 0, "the new limit does not count");
  }

  @Test
  void aDebtFromBeforeALimitEndedIsForgotten() {
    limit(1, 1);
    debts.charge(FLUSH, 10 * MB, 0);
    debts.limit(IoLimits.NONE, 1);
    assertEquals(0, debts.waitNanos(FLUSH, 1));
    assertEquals(0, debts.waitNanos(MERGE_DEEP, 1));
  }
}
