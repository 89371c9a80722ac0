package io.isobardb.lsm.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class SyncTimesTest {
  private final SyncTimes syncs = new SyncTimes();

  private void assertSeen(long bytes, long nanos) {
    assertEquals(bytes, syncs.seen().bytes());
    assertEquals(nanos, syncs.seen().nanos());
  }

  @Test
  void syncsAtOnceTakeTheirTimeTogether() {
    syncs.begin(100);
    syncs.begin(100);
    assertTrue(syncs.seen().running());
    syncs.end(200, 10);
    assertSeen(10, 100);
    syncs.end(250, 20);
    assertSeen(30, 150);
    assertFalse(syncs.seen().running());
  }

  @Test
  void timeBetweenSyncsDoesNotCount() {
    syncs.begin(100);
    syncs.end(110, 1);
    syncs.begin(500);
    syncs.end(520, 2);
    assertSeen(3, 30);
  }

  @Test
  void aSyncThatFailsTakesTimeAndWritesNothing() {
    syncs.begin(0);
    syncs.begin(5);
    syncs.end(10, 0);
    syncs.end(30, 4);
    assertSeen(4, 30);
  }
}
