package io.isobardb.tpcc.drive;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DeliveryLogTest {
  @TempDir Path dir;

  @Test
  void aLineTellsOfEachDistrict() throws IOException {
    Path file = dir.resolve("log.csv");
    Files.writeString(file, "of the run before");
    try (DeliveryLog log = new DeliveryLog(file)) {
      int[] orders = {2101, DeliveryLog.SKIPPED, 3, 4, 5, 6, 7, 8, DeliveryLog.FAILED, 10};
      log.add(new Observer.Delivered(1000, 1250, 7, 9, orders));
    }
    assertEquals(
        List.of(
            "queued,ended,warehouse,carrier,d1,d2,d3,d4,d5,d6,d7,d8,d9,d10",
            "1000,1250,7,9,2101,skipped,3,4,5,6,7,8,failed,10"),
        Files.readAllLines(file));
  }
}
