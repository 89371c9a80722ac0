package io.isobardb.lsm.io;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** What the system tells of threads that wait for processors. */
class ProcessorWaitsTest {
  @Test
  void theSecondNumberIsTheWait() {
    assertEquals(63_394, ProcessorWaits.parse("83205 63394 2\n"));
  }

  @Test
  void anythingElseIsUnknown() {
    assertEquals(-1, ProcessorWaits.parse(""));
    assertEquals(-1, ProcessorWaits.parse("83205 63394"));
  }

  @Test
  void itIsKnownWhereTheSystemTells() {
    boolean told = Files.exists(Path.of("/proc/thread-self/schedstat"));
    long waited = Clock.SYSTEM.waitedNanos();
    assertTrue(told ? waited >= 0 : waited == -1, waited + " ns");
  }
}
