package io.isobardb.lsm.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.io.ForwardingStorage;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedWorld;
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
}
