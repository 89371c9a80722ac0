package io.isobardb.cli.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ByteSizeTest {
  @ParameterizedTest
  @CsvSource({
    "0,0",
    "4096,4096",
    "100b,100",
    "64MB,67108864",
    "64mib,67108864",
    "1GiB,1073741824",
    "1.5g,1610612736",
    "2 KB,2048",
    "1T,1099511627776",
    "' 16k ',16384"
  })
  void aSizeIsReadAsPeopleWriteIt(String text, long bytes) {
    assertEquals(bytes, ByteSize.parse(text).bytes());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "MB", "-1", "1PB", "12MBs", "1..5M", "1iB", "0x10", "9999999T"})
  void whatIsNoSizeIsRefusedWithTheText(String text) {
    Exception e = assertThrows(IllegalArgumentException.class, () -> ByteSize.parse(text));
    assertTrue(e.getMessage().contains("'" + text + "'"), e.getMessage());
  }

  @Test
  void aSizeIsShownInItsLargestUnit() {
    assertEquals("512 B", ByteSize.format(512));
    assertEquals("1 KB", ByteSize.format(1024));
    assertEquals("1.5 GB", ByteSize.format(1.5 * (1 << 30)));
    assertEquals("100 MB", ByteSize.format(100L << 20));
  }
}
