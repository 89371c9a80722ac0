package io.isobardb.memory.pool;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class BackoffTest {
  @Test
  void whoIsInterruptedSleepsAsOthersDoAndStaysInterrupted() {
    Thread.currentThread().interrupt();
    long start = System.nanoTime();
    for (int i = 0; i < 100; i++) {
      Backoff.pause(1000 + i);
    }
    long nanos = System.nanoTime() - start;
    assertTrue(Thread.interrupted());
    assertTrue(nanos > 2_500_000, "100 times 50 microseconds in " + nanos + " nanoseconds");
  }
}
