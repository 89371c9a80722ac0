package io.isobardb.lsm.wal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.option.IoMode;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a log can be made with, and which files are its own. */
class LogOptionsTest {
  private static final int KB = 1 << 10;
  private static final int MB = 1 << 20;

  private static void refused(String what, long segment, int ring, long sync, int spares) {
    String told =
        assertThrows(
                IllegalArgumentException.class,
                () -> new LogOptions(segment, ring, true, sync, spares))
            .getMessage();
    assertTrue(told.contains(what), told);
  }

  @Test
  void sizesHaveBounds() {
    new LogOptions(64 << 10, 16 << 10, true, 1, 0);
    new LogOptions(68 << 10, 1 << 30, true, 1, 9);
    refused("segmentBytes", 60 << 10, 16 << 10, 1, 0);
    refused("segmentBytes", (64 << 10) + 512, 16 << 10, 1, 0);
    refused("ringBytes", 64 << 10, 8 << 10, 1, 0);
    refused("ringBytes", 64 << 10, 24 << 10, 1, 0);
    refused("ringBytes", 64 << 10, 1 << 31, 1, 0);
    refused("asyncSyncNanos", 64 << 10, 16 << 10, 0, 0);
    refused("spareSegments", 64 << 10, 16 << 10, 1, -1);
  }

  @Test
  void aLogBeginsWhereARecordMayBe() throws IOException {
    LogWorld world = new LogWorld(LogWorld.SMALL, 1);
    for (long start : new long[] {0, 4088, 4100}) {
      String told =
          assertThrows(IllegalArgumentException.class, () -> world.open(start)).getMessage();
      assertTrue(told.contains("no position of a record: " + start), told);
    }
    assertEquals(List.of(), world.storage.list());
    world.close();
  }

  @Test
  void onlyWhatLooksLikeASegmentIsOne() {
    assertEquals(42, SegmentLayout.indexOf("0000000042.log"));
    assertEquals(12_345_678_901L, SegmentLayout.indexOf(SegmentLayout.fileName(12_345_678_901L)));
    assertEquals(999_999_999_999_999_999L, SegmentLayout.indexOf("9".repeat(18) + ".log"));
    for (String name :
        List.of(
            "000000042.log",
            "9".repeat(19) + ".log",
            "00000000x2.log",
            "000000004/.log",
            "000000004:.log",
            "0000000042.spare",
            "0000000042",
            ".log")) {
      assertEquals(-1, SegmentLayout.indexOf(name), name);
    }
  }

  @Test
  void theRingIsAPowerOfTwoNearPartOfTheBudget() {
    assertEquals(64 * KB, LogOptions.ringBytes(MB));
    assertEquals(128 * KB, LogOptions.ringBytes(4 * MB));
    assertEquals(128 * KB, LogOptions.ringBytes(8 * MB - 1));
    assertEquals(4 * MB, LogOptions.ringBytes(1L << 40));
  }

  @Test
  void aSegmentIsWholeBlocksAndAnEighthOfTheLogWithinLimits() {
    assertEquals(128 * KB, LogOptions.segmentBytes(64 * KB));
    assertEquals(256 * KB, LogOptions.segmentBytes(2 * MB));
    assertEquals(256 * KB, LogOptions.segmentBytes(2 * MB + 8 * 4095));
    assertEquals(64 * MB, LogOptions.segmentBytes(1L << 40));
  }

  @Test
  void theLogGoesByTheOptions() {
    StoreOptions given =
        StoreOptions.builder()
            .memoryBudget(8 * MB)
            .logLimit(2 * MB)
            .ioMode(IoMode.BUFFERED)
            .asyncSyncInterval(Duration.ofMillis(7))
            .build();
    assertEquals(new LogOptions(256 * KB, 256 * KB, false, 7_000_000, 2), LogOptions.of(given));
  }
}
