package io.isobardb.lsm.flush;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class FlushHistoryTest {
  @Test
  void whatFlushesTookSinceThenIsCounted() {
    FlushHistory history = new FlushHistory();
    assertEquals(0, history.since(0));
    history.add(100, 5);
    history.add(200, 7);
    history.add(200, 1);
    history.add(300, 11);
    assertEquals(24, history.since(0));
    assertEquals(24, history.since(100));
    assertEquals(19, history.since(101));
    assertEquals(19, history.since(200));
    assertEquals(11, history.since(201));
    assertEquals(0, history.since(301));
  }

  @Test
  void ofManyFlushesTheLastAreKnown() {
    FlushHistory history = new FlushHistory();
    for (int i = 0; i < 1000; i++) {
      history.add(i, 2);
    }
    assertEquals(2 * 10, history.since(990));
    assertEquals(2 * 64, history.since(0));
  }
}
