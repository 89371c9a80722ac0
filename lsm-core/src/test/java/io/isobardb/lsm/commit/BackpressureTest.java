package io.isobardb.lsm.commit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.observe.StallReason;
import io.isobardb.lsm.version.GoldenFile;
import io.isobardb.lsm.version.L0Limits;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** How fast writers may go. */
class BackpressureTest {
  /** What fits in a second, if so much room is left, is a tenth of a byte in a nanosecond. */
  private static final long DEBT_UNIT = 100_000_000;

  private static final Backpressure.Limits LIMITS =
      new Backpressure.Limits(1000 * DEBT_UNIT, Fullness.USUAL);

  /**
   * Flushes free 64 while they are under way; merges took 10 out of L0, and made the debt less by
   * 8.
   */
  private static final Backpressure.Freed FREED = new Backpressure.Freed(64, 1e9, 10, 8, 1);

  /** Groups with which 4 come in a second for each that there is room for. */
  private static FullL0 l0(int groups) {
    return new FullL0("t", groups, L0Limits.DEFAULT, 4_000_000_000L);
  }

  @Test
  void pacesAreAsReviewed() throws IOException {
    GoldenFile.check(BackpressureTest.class, "backpressure.txt", BackpressureTest::ask);
  }

  /** Each line: {@code memory=0.5 log=0 groups=8 debt=100}, all 0 unless given. */
  private static String ask(List<String> lines) {
    StringBuilder answer = new StringBuilder();
    for (String line : lines) {
      Map<String, String> values = new HashMap<>();
      for (String word : line.trim().split("\\s+")) {
        values.put(word.split("=")[0], word.split("=")[1]);
      }
      Backpressure.Pace pace =
          Backpressure.pace(
              new Backpressure.View(
                  Double.parseDouble(values.getOrDefault("memory", "0")),
                  Long.parseLong(values.getOrDefault("room", "1000000000000")),
                  Double.parseDouble(values.getOrDefault("log", "0")),
                  l0(Integer.parseInt(values.getOrDefault("groups", "0"))),
                  DEBT_UNIT * Long.parseLong(values.getOrDefault("debt", "0"))),
              LIMITS,
              FREED);
      answer.append(
          pace.reason() == null
              ? "no delay\n"
              : String.format(Locale.ROOT, "%s, %.2f\n", pace.reason(), pace.rate()));
    }
    return answer.toString();
  }

  private static long expected(StallReason reason, long missing, int groups) {
    Backpressure.View view = new Backpressure.View(1, 0, 0, l0(groups), 0);
    return Backpressure.expectedNanos(reason, missing, view, FREED);
  }

  @Test
  void theWaitThatIsExpectedIsWhatFlushesAndMergesTake() {
    // Half a flush, at least.
    assertEquals(500_000_000, expected(StallReason.MEMORY_FULL, 1, 0));
    assertEquals(500_000_000, expected(StallReason.LOG_FULL, -100, 0));
    assertEquals(2_000_000_000, expected(StallReason.MEMORY_FULL, 128_000_000_000L, 0));
    int stop = L0Limits.DEFAULT.stop();
    assertEquals(900_000_000, expected(StallReason.L0_FULL, 1, stop));
    assertEquals(1_300_000_000, expected(StallReason.L0_FULL, 1, stop + 1));
    assertEquals(60_000_000_000L, expected(StallReason.MEMORY_FULL, Long.MAX_VALUE, 0));
  }

  @Test
  void theDelayGrowsSmoothlyWithMemory() {
    double before = 8 * 64;
    for (int i = 1; i <= 1000; i++) {
      double rate =
          Backpressure.pace(new Backpressure.View(i / 1000.0, 1L << 50, 0, l0(0), 0), LIMITS, FREED)
              .rate();
      assertTrue(rate < before, i + " thousandths");
      assertTrue(rate > before * 0.99, i + " thousandths");
      before = rate;
    }
    assertEquals(32, before, 1e-9);
  }

  @Test
  void noSecondsRateIsLessThanHalfOfTheOnesBefore() {
    assertEquals(50, Backpressure.eased(100, 1_000_000_000, 1), 1e-9);
    assertEquals(80, Backpressure.eased(100, 1_000_000_000, 80), 1e-9);
    double rate = 100;
    for (int i = 0; i < 1000; i++) {
      rate = Backpressure.eased(rate, 1_000_000, 1);
    }
    assertEquals(50, rate, 1e-6);
  }
}
