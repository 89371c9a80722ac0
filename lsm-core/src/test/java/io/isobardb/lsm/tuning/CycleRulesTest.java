package io.isobardb.lsm.tuning;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.isobardb.lsm.tuning.CycleRules.Cache;
import io.isobardb.lsm.tuning.CycleRules.CycleView;
import io.isobardb.lsm.tuning.CycleRules.Disk;
import io.isobardb.lsm.tuning.CycleRules.Written;
import io.isobardb.lsm.version.GoldenFile;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CycleRulesTest {
  @Test
  void aCycleIsALogOrTwoBudgets() {
    assertEquals(16, new CycleRules(15).cycleBytes(8));
    assertEquals(17, new CycleRules(17).cycleBytes(8));
    assertEquals(18, new CycleRules(17).cycleBytes(9), "of the budget that there is now");
  }

  @Test
  void cyclesEndAsReviewed() throws IOException {
    GoldenFile.check(CycleRulesTest.class, "cycles.txt", CycleRulesTest::ask);
  }

  /** A budget of 160, a log limit below twice that, write memory of 64. */
  private static String ask(List<String> lines) {
    StringBuilder answer = new StringBuilder();
    CycleRules rules = new CycleRules(100);
    for (String line : lines) {
      Map<String, Long> values = new HashMap<>();
      for (String word : line.split("\\s+")) {
        String[] parts = word.split("=");
        values.put(parts[0], parts.length == 1 ? 1 : Long.parseLong(parts[1]));
      }
      CycleRules.Choice choice = rules.choose(view(values));
      answer.append(choice.end());
      if (choice.end() == CycleRules.End.GO_ON) {
        answer.append(" to ").append(choice.dueBytes());
      }
      answer.append('\n');
    }
    return answer.toString();
  }

  private static CycleView view(Map<String, Long> values) {
    long grown = values.get("grown");
    long due = values.getOrDefault("due", 320L);
    long lately = values.getOrDefault("lately", 0L);
    long flushed = values.getOrDefault("flushed", 0L);
    long l0 = values.getOrDefault("l0", 10L);
    long disk = values.getOrDefault("disk", 800L);
    long held = values.getOrDefault("held", 100L);
    return new CycleView(
        new Written(grown, lately, flushed, due, 160),
        new Disk(10, l0, 800, disk, 64),
        new Cache(80, held, 100, values.containsKey("evicted")),
        values.getOrDefault("intervals", 0L).intValue(),
        !values.containsKey("unsettled"),
        !values.containsKey("idle"));
  }
}
