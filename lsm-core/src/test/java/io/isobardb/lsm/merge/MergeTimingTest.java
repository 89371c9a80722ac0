package io.isobardb.lsm.merge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.isobardb.lsm.commit.FullL0;
import io.isobardb.lsm.option.MergeSchedule;
import io.isobardb.lsm.setting.OptionKind;
import io.isobardb.lsm.version.GoldenFile;
import io.isobardb.lsm.version.L0Limits;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** When disk merges run. */
class MergeTimingTest {
  private static final long MB = 1 << 20;

  @Test
  void choicesAreAsReviewed() throws IOException {
    GoldenFile.check(MergeTimingTest.class, "merge-timing.txt", MergeTimingTest::ask);
  }

  /**
   * Each line: a schedule, {@code rate=MB/s quiet=ms groups= debt=MB free=MB awaited burst
   * spare=MB/s}.
   */
  private static String ask(List<String> lines) {
    StringBuilder answer = new StringBuilder();
    for (String line : lines) {
      String[] words = line.trim().split("\\s+");
      Map<String, Double> values = new HashMap<>();
      for (int i = 1; i < words.length; i++) {
        String[] parts = words[i].split("=");
        values.put(parts[0], parts.length == 1 ? 1 : Double.parseDouble(parts[1]));
      }
      MergeTiming timing = new MergeTiming(OptionKind.SCHEDULE.read(words[0]), 1000 * MB, 64 * MB);
      MergeTiming.Choice choice =
          timing.choose(
              new MergeTiming.View(
                  (long) (values.getOrDefault("rate", 100.0) * MB),
                  (long) (values.getOrDefault("quiet", 0.0) * 1e6),
                  new FullL0(
                      "t", values.getOrDefault("groups", 0.0).intValue(), L0Limits.DEFAULT, 0),
                  (long) (values.getOrDefault("debt", 0.0) * MB),
                  (long) (values.getOrDefault("free", 1e6) * MB),
                  values.containsKey("awaited"),
                  values.containsKey("burst"),
                  (long) (values.getOrDefault("spare", 150.0) * MB)));
      answer
          .append(new TreeSet<>(choice.slots()))
          .append(": ")
          .append(choice.reason())
          .append('\n');
    }
    return answer.toString();
  }

  @Test
  void schedulesAreReadAsTheyAreWritten() {
    for (MergeSchedule schedule :
        List.of(
            MergeSchedule.ALWAYS,
            MergeSchedule.SILK,
            MergeSchedule.ADAPTIVE,
            MergeSchedule.belowThroughput(512 << 10, Duration.ofMillis(500)),
            MergeSchedule.afterLastWrite(Duration.ofSeconds(2)))) {
      String text = OptionKind.SCHEDULE.write(schedule);
      assertEquals(schedule, OptionKind.SCHEDULE.read(text), text);
      assertEquals(schedule, OptionKind.SCHEDULE.read(text.toLowerCase(java.util.Locale.ROOT)));
    }
    assertEquals(
        MergeSchedule.belowThroughput(512 << 10, Duration.ofMillis(500)),
        OptionKind.SCHEDULE.read("below_throughput( 512 KB/s , 500ms )"));
    for (String none :
        List.of(
            "",
            "ALWAYS()",
            "SILK(500ms)",
            "ADAPTIVE()",
            "AFTER_LAST_WRITE",
            "AFTER_LAST_WRITE(500)",
            "AFTER_LAST_WRITE(500ms",
            "AFTER_LAST_WRITE(500ms,1s)",
            "AFTER_LAST_WRITE(0s)",
            "BELOW_THROUGHPUT(1MB,500ms)",
            "BELOW_THROUGHPUT(0MB/s,500ms)",
            "BELOW_THROUGHPUT(1MB/s)")) {
      assertThrows(IllegalArgumentException.class, () -> OptionKind.SCHEDULE.read(none), none);
    }
  }
}
