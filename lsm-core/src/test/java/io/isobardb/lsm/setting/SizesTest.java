package io.isobardb.lsm.setting;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SizesTest {
  @ParameterizedTest
  @CsvSource({
    "0,0",
    "4096,4096",
    "100b,100",
    "64MB,67108864",
    "64mib,67108864",
    "1.5 GiB,1610612736",
    "1t,1099511627776",
    "' 16k ',16384",
    "9223372036854775807,9223372036854775807"
  })
  void aSizeIsReadAsPeopleWriteIt(String text, long bytes) {
    assertEquals(bytes, Sizes.parse(text));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "MB",
        "-1",
        "1PB",
        "12MBs",
        "1GBx",
        "1Gigs",
        "1..5M",
        "1.M",
        "1iB",
        "0x10",
        "\u0663MB"
      })
  void whatIsNoSizeIsRefusedWithTheText(String text) {
    Exception e = assertThrows(IllegalArgumentException.class, () -> Sizes.parse(text));
    assertTrue(e.getMessage().contains("'" + text + "'"), e.getMessage());
  }

  @ParameterizedTest
  @ValueSource(strings = {"99999999999GB", "99999999999999999999", "99999999999.5G"})
  void whatNoLongHoldsIsTooLarge(String text) {
    Exception e = assertThrows(IllegalArgumentException.class, () -> Sizes.parse(text));
    assertEquals("'" + text + "' is too large", e.getMessage());
  }

  @ParameterizedTest
  @CsvSource({
    "100ms,PT0.1S",
    "2s,PT2S",
    "1.5m,PT1M30S",
    "2 h,PT2H",
    "pt1m,PT1M",
    "P1D,PT24H",
    "9223372036854775807ms,PT2562047788015H12M55.807S"
  })
  void aDurationIsReadAsPeopleWriteIt(String text, Duration duration) {
    assertEquals(duration, Sizes.parseDuration(text));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "5", "s", "-1s", "1 day", "1..5s", "PT", "1ms2", "9e9s"})
  void whatIsNoDurationIsRefusedWithTheText(String text) {
    Exception e = assertThrows(IllegalArgumentException.class, () -> Sizes.parseDuration(text));
    assertTrue(e.getMessage().contains("'" + text + "'"), e.getMessage());
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 1, 1023, 1024, 1536 << 10, 64 << 20, 1L << 50, Long.MAX_VALUE})
  void whatIsWrittenIsReadAgain(long bytes) {
    assertEquals(bytes, Sizes.parse(Sizes.text(bytes)));
  }
}
