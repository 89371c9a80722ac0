package io.isobardb.memory.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;

class DirectMemoryTest {
  @Test
  void theLimitIsTheJvms() {
    String given =
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
            .getVMOption("MaxDirectMemorySize")
            .getValue();
    long limit = given.equals("0") ? Runtime.getRuntime().maxMemory() : Long.parseLong(given);
    assertEquals(limit, DirectMemory.limitBytes());
  }

  @Test
  void sizesAreReadAsTheJvmReadsThem() {
    assertEquals(12_345, DirectMemory.bytes("12345"));
    assertEquals(64 << 10, DirectMemory.bytes("64k"));
    assertEquals(64 << 20, DirectMemory.bytes("64M"));
    assertEquals(3L << 30, DirectMemory.bytes("3g"));
    assertEquals(2L << 40, DirectMemory.bytes("2T"));
    assertEquals(0, DirectMemory.bytes("0"));
    for (String rare : new String[] {"m", "0x10", "-1", "64mb", "9999999g", "1234567890123"}) {
      assertEquals(-1, DirectMemory.bytes(rare), rare);
    }
  }
}
