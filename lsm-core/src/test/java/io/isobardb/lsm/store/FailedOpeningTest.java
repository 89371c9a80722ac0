package io.isobardb.lsm.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.ForwardingScheduler;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.io.ForwardingStorage;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.schedule.Scheduler;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedScheduler;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.simulation.SimulatedWorld;
import java.io.IOException;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

final class FailedOpeningTest {
  private final SimulatedWorld world = new SimulatedWorld(1);

  @Test
  void aStoreThatCanNotBeWatchedIsClosed() throws Exception {
    OutOfMemoryError refused = new OutOfMemoryError("unable to create native thread");
    Storage disk =
        new ForwardingStorage(world.storage()) {
          @Override
          protected DataFile wrap(DataFile file, IoMode mode) {
            return file;
          }

          @Override
          public void describeHolder(String holder) {
            throw refused; // Stands for what comes next: the cleaner starts a thread.
          }
        };
    OpenStore store = Inside.of(world.open(StoreOptions.defaults(), disk));
    Tree tree = store.openTree("t");
    tree.put(new byte[1], new byte[1]);
    assertSame(refused, assertThrows(OutOfMemoryError.class, store::closeIfLost));
    world.checkClosed();
    try (Store again = world.open(StoreOptions.defaults())) {
      assertEquals(1, again.tree("t").get(new byte[1]).length);
    }
  }

  @Test
  void itsDirectoryIsFreeAgainWhateverElseFails() {
    SimulatedClock clock = new SimulatedClock();
    boolean[] closed = {false};
    Storage disk =
        new ForwardingStorage(new SimulatedStorage(clock)) {
          @Override
          protected DataFile wrap(DataFile file, IoMode mode) {
            return file;
          }

          @Override
          public void close() throws IOException {
            closed[0] = true;
            super.close();
          }
        };
    Scheduler scheduler =
        new ForwardingScheduler(new SimulatedScheduler(clock, 1)) {
          @Override
          public void close() {
            super.close();
            throw new StackOverflowError();
          }
        };
    Environment environment = new Environment(disk, clock, scheduler, new SplittableRandom(1));
    StoreOptions none = StoreOptions.builder().createIfMissing(false).build();
    Throwable why = assertThrows(Throwable.class, () -> OpenStore.open(environment, none));
    assertTrue(closed[0]);
    assertInstanceOf(StackOverflowError.class, why.getSuppressed()[0], why.toString());
  }
}
