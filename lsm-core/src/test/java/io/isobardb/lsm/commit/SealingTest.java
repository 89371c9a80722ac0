package io.isobardb.lsm.commit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.component.ActiveUse;
import io.isobardb.lsm.component.MemoryRules;
import io.isobardb.lsm.policy.MemoryComponent;
import io.isobardb.lsm.setting.OptionLimits;
import io.isobardb.lsm.version.GoldenFile;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SealingTest {
  private static final int KB = 1 << 10;
  private static final int MB = 1 << 20;

  @Test
  void choicesAreAsReviewed() throws IOException {
    GoldenFile.check(SealingTest.class, "sealing.txt", SealingTest::ask);
  }

  private static String ask(List<String> lines) {
    StringBuilder answer = new StringBuilder();
    for (String line : lines) {
      String[] words = line.split("\\s+");
      Map<String, Long> values = new HashMap<>();
      for (int i = 1; i < words.length; i++) {
        String[] parts = words[i].split("=");
        values.put(parts[0], parts.length == 1 ? 1 : Long.parseLong(parts[1]));
      }
      switch (words[0]) {
        case "size" -> sizes(values, answer);
        case "full" -> full(values, answer);
        case "flush" -> flush(values, answer);
        case "range" -> range(values, answer);
        default -> throw new IllegalArgumentException(line);
      }
    }
    return answer.toString();
  }

  private static Sealing rules(MemoryComponent component, Map<String, Long> values) {
    int wanted = (int) (values.getOrDefault("wanted", 0L) * KB);
    int trees = values.getOrDefault("trees", 0L).intValue();
    return new Sealing(component, wanted, 4096, trees);
  }

  private static void sizes(Map<String, Long> values, StringBuilder answer) {
    for (MemoryComponent component : MemoryComponent.values()) {
      Sealing.Size size =
          rules(component, values)
              .next(
                  values.get("memory") * KB,
                  values.getOrDefault("last", 0L) * KB,
                  values.getOrDefault("sliced", 0L) * KB);
      answer
          .append(component)
          .append("  ")
          .append(size.bytes() / KB)
          .append(" KB, a filter for ")
          .append(size.filterBytes() / KB)
          .append(" KB\n");
    }
  }

  private static void full(Map<String, Long> values, StringBuilder answer) {
    long held = values.get("held") * MB;
    ActiveUse use =
        new ActiveUse(
            held,
            values.getOrDefault("tree", values.get("held")) * MB,
            values.getOrDefault("written", values.get("held")) * MB,
            values.getOrDefault("reads", 0L) * 1_000_000,
            values.containsKey("fits"),
            values.containsKey("sliced"));
    boolean seals =
        rules(MemoryComponent.PARTITIONED, values)
            .seals(use, values.get("used") * MB, values.get("memory") * MB);
    answer.append(seals ? "sealed\n" : "grows on\n");
  }

  private static void flush(Map<String, Long> values, StringBuilder answer) {
    boolean seals =
        rules(MemoryComponent.PARTITIONED, values)
            .sealsForFlush(
                values.get("runs").intValue(),
                values.get("frozen").intValue(),
                values.containsKey("whole"),
                values.containsKey("share"));
    answer.append(seals ? "sealed first\n" : "what is sealed goes\n");
  }

  private static void range(Map<String, Long> values, StringBuilder answer) {
    boolean seals =
        rules(MemoryComponent.PARTITIONED, values).sealsForRange(values.get("held") * KB);
    answer.append(seals ? "sealed first\n" : "goes beside it\n");
  }

  @Test
  void aTreeIsSmallBelowHalfOfTheWriteMemoryAnd8MB() {
    for (boolean sliced : List.of(false, true)) {
      assertTrue(MemoryRules.isSmall(0, 2 * MB, sliced));
      assertTrue(MemoryRules.isSmall(MB - 1, 2 * MB, sliced));
      assertFalse(MemoryRules.isSmall(MB, 2 * MB, sliced));
    }
    assertTrue(MemoryRules.isSmall(8 * MB - 1, 1L << 40, false));
    assertFalse(MemoryRules.isSmall(8 * MB, 1L << 40, false));
  }

  @Test
  void oneThatIsFlushedBySlicesIsSmallOnceItHasHalfAsMuch() {
    assertTrue(MemoryRules.isSmall(4 * MB - 1, 1L << 40, true));
    assertFalse(MemoryRules.isSmall(4 * MB, 1L << 40, true));
  }

  @Test
  void partsAreAnEighthOfTheTreeFromAMegabyteOn() {
    assertEquals(MB, MemoryRules.partBytes(4 * MB, 64 * MB, 8 * MB));
    assertEquals(3 * MB / 2, MemoryRules.partBytes(12 * MB, 64 * MB, 8 * MB));
    assertEquals(8 * MB, MemoryRules.partBytes(16 * MB, 64 * MB, 8 * MB), "a good part");
    assertEquals(16 * MB, MemoryRules.partBytes(900L * MB, 4096L * MB, 16 * MB));
    assertEquals(MB / 4, MemoryRules.partBytes(MB / 2, 2 * MB, MB / 4), "no more than usual");
  }

  @Test
  void onlyAPartitionedOneGrowsOn() {
    ActiveUse use = new ActiveUse(2 * MB, 2 * MB, 2 * MB, 0, true, false);
    for (MemoryComponent component : MemoryComponent.values()) {
      Sealing rules = rules(component, Map.of());
      boolean seals = rules.seals(use, 0, 64L * MB);
      assertEquals(component != MemoryComponent.PARTITIONED, seals, component.name());
    }
  }

  @Test
  void aSmallOneHasFourPagesAtLeast() {
    Sealing rules = rules(MemoryComponent.PARTITIONED, Map.of());
    assertEquals(4 * 4096, rules.smallBytes(64 * KB));
    assertEquals(4 * 4096 + 8, rules.smallBytes(8 * (4 * 4096 + 8)));
    assertEquals(32 * MB, rules.smallBytes(1L << 40));
    assertEquals(4 * 4096, rules(MemoryComponent.PARTITIONED, Map.of("wanted", 1L)).smallBytes(1));
  }

  @Test
  void whatMayBeAskedForIsEightPagesToAQuarterOfTheWriteMemory() {
    assertEquals(8 * 4096, OptionLimits.leastActiveBytes(4096));
    assertEquals(2 * MB, OptionLimits.mostActiveBytes(8 * MB));
    assertEquals(64 * MB, OptionLimits.mostActiveBytes(1L << 40));
  }
}
