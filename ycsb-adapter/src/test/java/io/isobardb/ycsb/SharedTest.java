package io.isobardb.ycsb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import site.ycsb.DBException;

class SharedTest {
  private final Shared<String> shared = new Shared<>();
  private int opened;
  private int closed;

  private String acquire() throws DBException {
    return shared.acquire(() -> "opened " + ++opened);
  }

  @Test
  void theFirstOpensAndTheLastCloses() throws Exception {
    assertEquals("opened 1", acquire());
    assertEquals("opened 1", acquire());
    shared.release(value -> closed++);
    assertEquals(0, closed);
    shared.release(value -> closed++);
    assertEquals(1, closed);
    assertEquals("opened 2", acquire());
  }

  @Test
  void aFailedOpenHoldsNothing() throws Exception {
    assertThrows(
        DBException.class,
        () ->
            shared.acquire(
                () -> {
                  throw new DBException("no");
                }));
    assertThrows(IllegalStateException.class, () -> shared.release(value -> closed++));
    assertEquals("opened 1", acquire());
  }

  @Test
  void aFailedCloseLeavesNothingBehind() throws Exception {
    acquire();
    assertThrows(
        DBException.class,
        () ->
            shared.release(
                value -> {
                  throw new DBException("no");
                }));
    assertEquals("opened 2", acquire());
  }
}
