package io.isobardb.tuner.shape;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class CalibrationTest {
  private static Calibration after(int windows, Calibration window) {
    Calibration all = Calibration.NONE;
    for (int i = 0; i < windows; i++) {
      all = all.after(window);
    }
    return all;
  }

  @Test
  void whatWasFoundIsSetBesideTheModel() {
    Calibration one = after(4, Calibration.of(30, 10, 5, 10));
    assertFalse(one.isEnough());
    assertTrue(one.after(Calibration.of(30, 10, 5, 10)).isEnough());
    assertEquals(3, one.writes(), 1e-9);
    assertEquals(0.5, one.reads(), 1e-9);
    assertEquals(1, Calibration.NONE.writes());
  }

  @Test
  void whatIsNotKnownIsAsOthersHaveIt() {
    Calibration others = after(5, Calibration.of(20, 10, 40, 10));
    Calibration few = after(2, Calibration.of(90, 10, 90, 10));
    assertEquals(others, few.orElse(others));
    Calibration writes = after(3, Calibration.of(90, 10, 0, 0)).orElse(others);
    assertEquals(9, writes.writes(), 1e-9);
    assertEquals(4, writes.reads(), 1e-9);
    Calibration reads = after(3, Calibration.of(0, 0, 90, 10)).orElse(others);
    assertEquals(2, reads.writes(), 1e-9);
    assertEquals(9, reads.reads(), 1e-9);
  }
}
