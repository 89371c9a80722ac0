package io.isobardb.lsm.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Pieces by what they take on devices of several kinds. */
class PieceTimesTest {
  private static final int LOOKS = 12;

  private final PieceTimes times = new PieceTimes();

  /** What a device takes for a piece, in microseconds. */
  private interface Device {
    double micros(int bytes);
  }

  private static Device device(double call, double perKilobyte) {
    return bytes -> call + perKilobyte * bytes / 1024;
  }

  /** The pieces that follow each other while pieces pass, in KB. */
  private List<Integer> pieces(Device device) {
    List<Integer> pieces = new ArrayList<>();
    for (int look = 0; look < LOOKS; look++) {
      int piece = times.piece();
      pieces.add(piece >> 10);
      for (int i = 0; i < 40; i++) {
        times.add(piece, (long) (1000 * device.micros(piece)));
      }
    }
    return pieces;
  }

  private int last(Device device) {
    List<Integer> pieces = pieces(device);
    return pieces.get(LOOKS - 1);
  }

  @Test
  void aPieceTakesATwentiethOfAMillisecond() {
    // 200 MB/s, 1 GB/s, 3 GB/s, and copies within memory.
    assertEquals(8, last(device(0, 5)));
    assertEquals(32, new PieceTimesTest().last(device(0, 1)));
    assertEquals(128, new PieceTimesTest().last(device(0, 0.33)));
    assertEquals(256, new PieceTimesTest().last(device(1, 0.1)));
  }

  @Test
  void whereACallIsDearAPieceMayTakeTwiceAsLong() {
    assertEquals(128, last(device(35, 0.25)));
    assertEquals(64, new PieceTimesTest().last(device(500, 5)));
  }

  @Test
  void whatIsNotKnownIsTried() {
    assertEquals(List.of(64, 32, 16, 8, 8), pieces(device(0, 5)).subList(0, 5));
    assertEquals(
        List.of(64, 128, 256, 256), new PieceTimesTest().pieces(device(1, 0.1)).subList(0, 4));
  }

  @Test
  void callsThatWaitedTellNothing() {
    pieces(device(0, 1));
    for (int i = 0; i < 100; i++) {
      times.add(32 << 10, 10_000_000);
    }
    assertEquals(32 << 10, times.piece());
  }

  @Test
  void aSlowerDeviceIsNoticedOnceTheFastOneIsForgotten() {
    pieces(device(0, 1));
    times.turn();
    assertEquals(32, last(device(0, 5)));
    times.turn();
    times.turn();
    assertEquals(8, last(device(0, 5)));
  }

  @Test
  void fewCallsAndOddSizesTellNothing() {
    for (int i = 0; i < 15; i++) {
      times.add(8 << 10, 1);
    }
    times.add(12 << 10, 1);
    times.add(0, 1);
    times.add(512 << 10, 1);
    assertEquals(PieceTimes.UNKNOWN, times.piece());
  }

  /** A piece of 64 KB in 0.05 ms would be 1,250 MB/s. */
  @Test
  void oneCallThatEndsInACacheTellsNothingOfTheDevice() {
    for (int i = 0; i < 40; i++) {
      times.add(64 << 10, 320_000);
    }
    times.add(64 << 10, 50_000);
    assertEquals(204_800_000, times.bytesPerSecond());
  }

  @Test
  void bufferedCallsTellPiecesAndNothingOfTheDevice() {
    for (int i = 0; i < 40; i++) {
      times.addBuffered(64 << 10, 10_000);
    }
    assertEquals(128 << 10, times.piece());
    assertEquals(0, times.bytesPerSecond());
  }

  @Test
  void theDeviceDoesAtLeastWhatTheFasterCallsDo() {
    assertEquals(0, times.bytesPerSecond());
    pieces(device(0, 5));
    assertEquals(204_800_000, times.bytesPerSecond());
    PieceTimes others = new PieceTimes();
    for (int i = 0; i < 40; i++) {
      others.add(8 << 10, 40_000);
      others.add(256 << 10, 100_000);
    }
    assertEquals((256 << 10) * 10_000L, others.bytesPerSecond());
  }
}
