package io.isobardb.lsm.commit;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.isobardb.lsm.schedule.Watched;

/** Payloads of log records that nobody ever wrote. */
class BatchFuzzTest {
  @FuzzTest(maxDuration = "10m")
  void batch(byte[] payload) {
    Watched.input("batch", payload, () -> batchOf(payload));
  }

  private void batchOf(byte[] payload) {
    long[] bytes = {0};
    try {
      BatchFormat.decode(
          payload,
          0,
          payload.length,
          (treeId, write) -> {
            assertTrue(write.keyOffset() >= 0 && write.keyLength() >= 0);
            assertTrue(write.valueLength() >= 0);
            assertTrue(write.keyOffset() + write.keyLength() <= payload.length);
            assertTrue(write.valueOffset() + write.valueLength() <= payload.length);
            bytes[0] += write.keyLength() + write.valueLength();
          });
    } catch (IllegalArgumentException e) {
      // What a payload that is none is to give.
    }
    assertTrue(bytes[0] <= payload.length);
  }
}
