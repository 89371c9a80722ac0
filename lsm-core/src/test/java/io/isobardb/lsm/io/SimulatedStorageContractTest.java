package io.isobardb.lsm.io;

final class SimulatedStorageContractTest extends StorageContractTest {
  @Override
  Storage storage() {
    return new SimulatedStorage();
  }
}
