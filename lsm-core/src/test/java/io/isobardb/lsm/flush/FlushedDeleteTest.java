package io.isobardb.lsm.flush;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Durability;
import io.isobardb.lsm.SimulatedStores;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.simulation.CrashMode;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedScheduler;
import io.isobardb.lsm.simulation.SimulatedStorage;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A delete of a tree that has nothing on disk is not written by a flush, and takes effect by it all
 * the same: not before the log has the batch that it is of.
 */
class FlushedDeleteTest {
  private final SimulatedClock clock = new SimulatedClock();
  private final SimulatedStorage storage = new SimulatedStorage(clock);

  private int crashes;

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aBatchWhoseDeleteAFlushCarriesOutIsNotTornByACrash(boolean somethingIsLeft) {
    Environment environment =
        new Environment(storage, clock, new SimulatedScheduler(clock, 1), new SplittableRandom(1));
    try (Store store = Inside.open(environment, SimulatedStores.SMALL)) {
      Tree one = store.openTree("one");
      Tree other = store.openTree("other");
      one.put(bytes("k"), bytes("old"));
      if (somethingIsLeft) {
        one.put(bytes("kept"), bytes("v"));
      }
      store.sync();
      WriteBatch batch = store.newBatch();
      batch.delete(one, bytes("k"));
      batch.put(other, bytes("k"), bytes("new"));
      store.write(batch, Durability.ASYNC);

      storage.onMutation(this::crash);
      store.flush();
      storage.onMutation(untouched -> {});
    }
    assertTrue(crashes > 5, crashes + " crashes");
  }

  private void crash(SimulatedStorage before) {
    crashes++;
    SimulatedStorage crashed = before.crash(new SplittableRandom(1), CrashMode.ONLY_SYNCED);
    try (Store store = SimulatedStores.open(crashed, new SimulatedClock(), 2)) {
      boolean deleted = store.tree("one").get(bytes("k")) == null;
      boolean put = store.tree("other").get(bytes("k")) != null;
      assertEquals(put, deleted, "crash number " + crashes);
    }
  }
}
