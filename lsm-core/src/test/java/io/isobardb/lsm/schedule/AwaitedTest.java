package io.isobardb.lsm.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The order of waits. */
@Tag("any-jdk")
class AwaitedTest {
  private final ThreadScheduler scheduler = new ThreadScheduler("waits", 1);

  @BeforeAll
  static void needsTheProperty() {
    Assumptions.assumeTrue(Awaited.isChecked(), "needs -Disobar.waits=true");
  }

  @Test
  void whoIsWithinOneWaitsForNothingThatComesBeforeIt() {
    for (Awaited within : Awaited.values()) {
      within.enter();
      try {
        for (Awaited what : Awaited.values()) {
          Signal signal = scheduler.signal(what);
          if (what.compareTo(within) > 0) {
            signal.await(() -> true);
          } else {
            // Even though it is over at once.
            AssertionError told =
                assertThrows(AssertionError.class, () -> signal.await(() -> true));
            assertTrue(told.getMessage().contains(what.text()), told.getMessage());
            assertTrue(told.getMessage().contains(within.text()), told.getMessage());
            assertThrows(AssertionError.class, () -> signal.await(() -> true, 1));
            assertThrows(AssertionError.class, () -> signal.awaitUnlessInterrupted(() -> true, 1));
          }
        }
      } finally {
        within.exit();
      }
    }
    scheduler.close();
  }

  @Test
  void aLockThatIsWantedTwiceByOneThreadIsTold() {
    SignalLock lock = new SignalLock(scheduler, Awaited.LIFETIME);
    lock.lock();
    assertThrows(IllegalStateException.class, lock::lock);
    lock.unlock();
    lock.lock();
    lock.unlock();
    scheduler.close();
  }

  @Test
  void architectureListsTheOrder() throws IOException {
    Path root = Path.of("").toAbsolutePath();
    while (!Files.exists(root.resolve("ARCHITECTURE.md"))) {
      root = root.getParent();
    }
    String text = Files.readString(root.resolve("docs/internals.md"));
    Matcher rows = Pattern.compile("\\| `([A-Z_]+)`: ([^|]+) \\|").matcher(text);
    List<String> listed = rows.results().map(row -> row.group(1) + " " + row.group(2)).toList();
    assertEquals(
        Arrays.stream(Awaited.values()).map(one -> one.name() + " " + one.text()).toList(), listed);
  }
}
