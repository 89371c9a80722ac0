package org.apache.kafka.streams.state.internals;

import io.isobardb.kafka.TestSuppliers;
import java.time.Duration;
import org.apache.kafka.streams.state.SessionBytesStoreSupplier;

/** The same of sessions that are emitted when they close. */
class IsobarSessionsByTimeBytesStoreTest extends IsobarSessionBytesStoreTest {
  @Override
  SessionBytesStoreSupplier supplier(Duration retention) {
    return TestSuppliers.sessions(retention, true);
  }

  @Override
  StoreType storeType() {
    return StoreType.RocksDBTimeOrderedSessionStoreWithIndex;
  }
}
