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
          (kind, treeId, array, keyOffset, keyLength, valueOffset, valueLength) -> {
            assertTrue(keyOffset >= 0 && keyLength >= 0 && valueLength >= 0);
            assertTrue(keyOffset + keyLength <= payload.length);
            assertTrue(valueOffset + valueLength <= payload.length);
            bytes[0] += keyLength + valueLength;
          });
    } catch (IllegalArgumentException e) {
      // What a payload that is none is to give.
    }
    assertTrue(bytes[0] <= payload.length);
  }
}
