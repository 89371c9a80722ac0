package io.isobardb.lsm.io;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.simulation.Fault;
import io.isobardb.lsm.simulation.FaultPlan;
import io.isobardb.lsm.simulation.Operation;
import io.isobardb.lsm.simulation.SimulatedStorage;
import java.io.IOException;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class PrivateStorageTest {
  private final SimulatedStorage below = new SimulatedStorage();

  private PrivateStorage over(int bytes) throws IOException {
    try (DataFile file = below.create("a", IoMode.BUFFERED)) {
      Bytes.write(file, 0, 5, bytes);
    }
    return new PrivateStorage(below, 1 << 20);
  }

  @Test
  void aFileThatIsCutEndsThere() throws IOException {
    PrivateStorage storage = over(10_000);
    try (DataFile file = storage.open("a", IoMode.BUFFERED)) {
      file.truncate(20_000);
      assertEquals(10_000, file.size(), "truncation never extends");
      file.truncate(100);
      assertArrayEquals(Bytes.of(100, 5), Bytes.contents(file));
      assertEquals(100, file.read(0, Bytes.filled(300, 0), 0, 300));
      Bytes.write(file, 9000, 6, 10);
      byte[] expected = Bytes.of(9010, 0);
      Arrays.fill(expected, 0, 100, (byte) 5);
      Arrays.fill(expected, 9000, 9010, (byte) 6);
      assertArrayEquals(expected, Bytes.contents(file));
    }
    assertArrayEquals(Bytes.of(10_000, 5), Bytes.contents(below, "a"));
  }

  @Test
  void aChangeThatFailsTakesNoHeap() throws IOException {
    PrivateStorage storage = over(100_000);
    long usable = storage.usableBytes();
    try (DataFile file = storage.open("a", IoMode.BUFFERED)) {
      below.faults(
          (operation, name, index) -> operation == Operation.READ ? Fault.EIO : Fault.NONE);
      assertThrows(IOException.class, () -> Bytes.write(file, 10, 6, 10));
      assertEquals(usable, storage.usableBytes());
      below.faults(FaultPlan.NONE);
      Bytes.write(file, 10, 6, 10);
      byte[] expected = Bytes.of(100_000, 5);
      Arrays.fill(expected, 10, 20, (byte) 6);
      assertArrayEquals(expected, Bytes.contents(file));
    }
  }
}
