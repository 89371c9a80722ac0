package io.isobardb.lsm.commit;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.wal.LogHandler;
import io.isobardb.memory.page.Memory;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Records of the log that come in parts. */
class BatchReaderTest {
  private static final int PART = 64 << 10;
  private static final int LARGE = 32 << 20;

  private final SplittableRandom random = new SplittableRandom(1);

  private byte[] bytes(int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }

  /** Hands a payload over in parts, as a record at an LSN. */
  private static void read(
      BatchFormat.Reader reader, long lsn, BatchFormat.Builder batch, int part) {
    Memory memory = new Memory(ByteBuffer.allocateDirect(part));
    for (int at = 0; at < batch.length(); at += part) {
      int length = Math.min(part, batch.length() - at);
      memory.put(0, batch.bytes(), at, length);
      int rest = batch.length() - at - length;
      reader.record(lsn, LogHandler.BATCH, memory, 0, length, rest);
    }
  }

  @Test
  void operationsComeAsTheyWereWrittenWhereverAPartEnds() {
    List<byte[]> values = new ArrayList<>();
    BatchFormat.Builder batch = new BatchFormat.Builder();
    for (int length : new int[] {0, 1, 300, 5, 5_000, 40, 0, 20_000, 7}) {
      byte[] value = bytes(length);
      values.add(value);
      batch.add(Kind.PUT, 1 + values.size(), bytes(9), value);
    }
    for (int part = 8; part < 6000; part += 1 + part / 3) {
      List<byte[]> found = new ArrayList<>();
      BatchFormat.Reader reader =
          new BatchFormat.Reader(
              (lsn, tree, write) -> {
                assertEquals(2 + found.size() % values.size(), tree);
                int from = write.valueOffset();
                found.add(Arrays.copyOfRange(write.value(), from, from + write.valueLength()));
              });
      // The second record begins anew, though the first one may end within an operation.
      read(reader, 8, batch, part);
      read(reader, 4096, batch, part);
      assertEquals(2 * values.size(), found.size(), "in parts of " + part);
      for (int i = 0; i < found.size(); i++) {
        assertArrayEquals(values.get(i % values.size()), found.get(i), "in parts of " + part);
      }
    }
  }

  @Test
  void aLargeOperationIsNotCopiedWithEachPart() {
    BatchFormat.Builder batch = new BatchFormat.Builder();
    batch.add(Kind.PUT, 1, bytes(9), bytes(100));
    batch.add(Kind.PUT, 1, bytes(9), bytes(LARGE));
    batch.add(Kind.PUT, 1, bytes(9), bytes(100));
    int[] operations = {0};
    BatchFormat.Reader reader = new BatchFormat.Reader((lsn, tree, write) -> operations[0]++);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getThreadAllocatedBytes(Thread.currentThread().getId());
    read(reader, 8, batch, PART);
    long allocated = threads.getThreadAllocatedBytes(Thread.currentThread().getId()) - before;
    assertEquals(3, operations[0]);
    assertTrue(allocated < 2L * LARGE, allocated + " bytes for one of " + LARGE);
  }
}
