package io.isobardb.lsm.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.simulation.Watchdog;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class WatchdogTest {
  private static final Duration SHORT = Duration.ofMillis(200);

  @Test
  void aCallThatDoesNotEndIsReportedWithWhatAllWaitFor() throws Exception {
    CompletableFuture<String> report = new CompletableFuture<>();
    AtomicBoolean goOn = new AtomicBoolean();
    ThreadSignal memory = new ThreadSignal("write memory", 0);
    ThreadSignal sync = new ThreadSignal("a sync", 0);
    try (Watchdog watchdog = new Watchdog("-Disobar.seed=7", SHORT, report::complete)) {
      Thread waiter =
          watchdog.start(
              "the waiter",
              () -> {
                Watchdog.mark("put of k");
                memory.await(goOn::get);
              });
      Thread other =
          new Thread(() -> sync.await(goOn::get, TimeUnit.SECONDS.toNanos(60)), "the other");
      other.start();
      String text = report.get(30, TimeUnit.SECONDS);
      assertTrue(text.startsWith("-Disobar.seed=7: thread 'the waiter' has been in 'put of k'"));
      assertTrue(text.contains("'the waiter', WAITING, waits for write memory"), text);
      assertTrue(text.contains("'the other', TIMED_WAITING, waits for a sync"), text);
      assertTrue(text.contains(ThreadSignal.class.getName() + ".sleep"), text);
      goOn.set(true);
      memory.raise();
      sync.raise();
      waiter.join();
      other.join();
    }
  }

  /** The limit is a hundred times as long as a call takes: a busy machine makes calls longer. */
  @Test
  void whoMarksCallsOrIsInNoneMayTakeItsTime() throws Exception {
    AtomicBoolean reported = new AtomicBoolean();
    Duration limit = Duration.ofSeconds(2);
    try (Watchdog watchdog = new Watchdog("none", limit, report -> reported.set(true))) {
      Thread thread =
          watchdog.start(
              "busy",
              () -> {
                try {
                  for (int i = 0; i < 110; i++) {
                    Watchdog.mark(i);
                    Thread.sleep(20);
                  }
                  Watchdog.unmark();
                  Thread.sleep(2500);
                } catch (InterruptedException e) {
                  throw new AssertionError(e);
                }
              });
      thread.join();
    }
    assertFalse(reported.get());
  }

  @Test
  void aRunThrowsWhatItsBodyThrows() {
    StringBuilder done = new StringBuilder();
    Watchdog.run("none", watchdog -> done.append("done"));
    assertEquals("done", done.toString());
    IllegalStateException thrown = new IllegalStateException("x");
    assertEquals(
        thrown,
        assertThrows(
            IllegalStateException.class,
            () ->
                Watchdog.run(
                    "none",
                    watchdog -> {
                      throw thrown;
                    })));
  }
}
