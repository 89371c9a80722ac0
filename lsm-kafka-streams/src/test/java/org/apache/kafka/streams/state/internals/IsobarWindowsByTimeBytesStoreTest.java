package org.apache.kafka.streams.state.internals;

import io.isobardb.kafka.TestSuppliers;
import java.time.Duration;
import org.apache.kafka.streams.state.WindowBytesStoreSupplier;

/** The same of windows that are emitted when they close. */
class IsobarWindowsByTimeBytesStoreTest extends IsobarWindowBytesStoreTest {
  @Override
  WindowBytesStoreSupplier supplier(Duration retention, Duration size, boolean duplicates) {
    return TestSuppliers.windows(retention, size, duplicates, true);
  }
}
