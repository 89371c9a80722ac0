package io.isobardb.cli.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

class ByteSizeTest {
  @Test
  void aSizeIsReadAsOptionsAre() {
    assertEquals(1536L << 20, ByteSize.parse("1.5g").bytes());
    Exception e = assertThrows(UsageException.class, () -> ByteSize.parse("12MBs"));
    assertEquals("'12MBs' is not a size such as 4096, 64MB or 1.5GiB", e.getMessage());
  }

  @Test
  void aSizeIsShownInItsLargestUnit() {
    assertEquals("512 B", ByteSize.format(512));
    assertEquals("1 KB", ByteSize.format(1024));
    assertEquals("1.5 GB", ByteSize.format(1.5 * (1 << 30)));
    assertEquals("100 MB", ByteSize.format(100L << 20));
  }
}
