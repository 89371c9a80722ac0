package io.isobardb.lsm.wal;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.SimulatedStores.value;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.isobardb.lsm.SimulatedStores;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.error.DiskFullException;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.simulation.CrashMode;
import io.isobardb.lsm.simulation.Fault;
import io.isobardb.lsm.simulation.FaultPlan;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.Operation;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedScheduler;
import io.isobardb.lsm.simulation.SimulatedStorage;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Where the log must begin is a promise of the manifest: it must hold with every edit alone. */
class LogStartTest {
  private final SimulatedClock clock = new SimulatedClock();
  private final SimulatedStorage storage = new SimulatedStorage(clock);

  @Test
  void whatAFlushFoundNoRoomToNoteIsStillReplayedAfterAnotherTreesFlush() {
    SimulatedScheduler scheduler = new SimulatedScheduler(clock, 1);
    Environment environment = new Environment(storage, clock, scheduler, new SplittableRandom(1));
    try (Store store = Inside.open(environment, SimulatedStores.SMALL)) {
      Tree kept = store.openTree("kept");
      Tree other = store.openTree("other", TreeOptions.builder().logged(false).build());
      for (int i = 0; i < 100; i++) {
        kept.put(key(i), value(i, 100));
      }
      other.put(bytes("k"), bytes("v"));
      store.sync();
      FaultPlan noRoom =
          (operation, file, index) ->
              operation == Operation.WRITE && file.startsWith("MANIFEST")
                  ? Fault.ENOSPC
                  : Fault.NONE;
      storage.faults(noRoom);
      assertThrows(DiskFullException.class, store::flush);
      storage.faults(FaultPlan.NONE);
      scheduler.runFor(1_000_000_000);
      store.checkpoint();

      SimulatedStorage crashed = storage.crash(new SplittableRandom(1), CrashMode.ONLY_SYNCED);
      try (Store again = SimulatedStores.open(crashed, new SimulatedClock(), 2)) {
        for (int i = 0; i < 100; i++) {
          assertArrayEquals(value(i, 100), again.tree("kept").get(key(i)), "key " + i);
        }
      }
    }
  }
}
