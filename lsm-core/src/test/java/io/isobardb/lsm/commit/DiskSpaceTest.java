package io.isobardb.lsm.commit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.isobardb.lsm.ForwardingScheduler;
import io.isobardb.lsm.error.DiskFullException;
import io.isobardb.lsm.event.FailureLatch;
import io.isobardb.lsm.schedule.Scheduler;
import io.isobardb.lsm.schedule.Service;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedScheduler;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class DiskSpaceTest {
  private final SimulatedScheduler threads = new SimulatedScheduler(new SimulatedClock(), 1);
  private final List<Throwable> told = new ArrayList<>();
  private final FailureLatch failure = new FailureLatch(told::add);
  private final DiskFullException full = new DiskFullException("no room", new Exception());

  @Test
  void aFlushThatFoundNoRoomIsTriedAgain() {
    int[] tries = {0};
    DiskSpace space = new DiskSpace(threads, failure, () -> tries[0]++);
    space.onJobFailed(full);
    assertTrue(space.isFull());
    threads.runFor(1_000_000_000L);
    assertFalse(space.isFull());
    assertEquals(1, tries[0]);
    assertEquals(List.of(), told);
    threads.close();
  }

  /** Nobody would ever try again, and writers would be told of a full disk for ever. */
  @Test
  void theStoreStopsIfThereIsNoThreadToTryAgain() {
    OutOfMemoryError none = new OutOfMemoryError("planted: unable to create native thread");
    Scheduler exhausted =
        new ForwardingScheduler(threads) {
          @Override
          public Service.Handle start(Service service) {
            throw none;
          }
        };
    DiskSpace space = new DiskSpace(exhausted, failure, () -> {});
    try {
      space.onJobFailed(full);
    } catch (OutOfMemoryError e) {
      fail("the job can't tell", e); // JUnit would end with the error itself.
    }
    assertEquals(1, told.size());
    assertSame(none, told.get(0));
    threads.close();
  }
}
