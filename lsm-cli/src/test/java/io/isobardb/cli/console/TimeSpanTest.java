package io.isobardb.cli.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class TimeSpanTest {
  @Test
  void allUnitsAreRead() {
    assertEquals(500, TimeSpan.parse("500ms").millis());
    assertEquals(60_000, TimeSpan.parse("60s").millis());
    assertEquals(60_000, TimeSpan.parse("60").millis());
    assertEquals(90_000, TimeSpan.parse("1.5m").millis());
    assertEquals(7_200_000, TimeSpan.parse(" 2 H ").millis());
  }

  @Test
  void whatIsNotALengthOfTimeGetsExamples() {
    for (String text : new String[] {"s", "-1s", "1d", "99999999999h"}) {
      String message =
          assertThrows(IllegalArgumentException.class, () -> TimeSpan.parse(text)).getMessage();
      assertTrue(message.contains("'" + text + "'"), message);
    }
  }
}
