package io.isobardb.lsm.io;

import io.isobardb.lsm.simulation.SimulatedStorage;

final class SimulatedStorageContractTest extends StorageContractTest {
  @Override
  Storage storage() {
    return new SimulatedStorage();
  }
}
