package io.isobardb.lsm.merge;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.version.GoldenFile;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** How much of L0 is to be merged. */
class DueL0Test {
  @Test
  void whatIsDueIsAsReviewed() throws IOException {
    GoldenFile.check(DueL0Test.class, "due-l0.txt", DueL0Test::ask);
  }

  /** Each line has what L0 may hold, then what its groups hold. It is merged from 4 groups on. */
  private static String ask(List<String> lines) {
    StringBuilder answer = new StringBuilder();
    for (String line : lines) {
      List<Long> numbers = Arrays.stream(line.trim().split("[ :]+")).map(Long::valueOf).toList();
      DueL0 due = new DueL0(numbers.subList(1, numbers.size()), 4, numbers.get(0));
      answer.append(String.format(Locale.ROOT, "%d, %.2f\n", due.dueBytes(), due.score()));
    }
    return answer.toString();
  }

  /** Or paces and limits that follow the debt would jump with it. */
  @Test
  void whatIsFlushedMakesNoMoreDueThanTheLargestOfTheYoungerGroups() {
    for (long seed = 0; seed < 200; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      long memory = 1 + random.nextInt(100);
      List<Long> groups = new ArrayList<>(List.of(random.nextLong(100 * memory)));
      long before = due(groups, memory);
      for (int i = 0; i < 60; i++) {
        groups.add(1 + random.nextLong(memory));
        long now = due(groups, memory);
        assertTrue(now >= before, "seed " + seed + ": " + now + " after " + before);
        assertTrue(now - before <= memory, "seed " + seed + ": " + now + " after " + before);
        before = now;
      }
    }
  }

  private static long due(List<Long> groups, long memory) {
    return new DueL0(groups, 4, 12 * memory).dueBytes();
  }

  @Test
  void somethingIsDueIfAMergeIsWorthIt() {
    for (long seed = 0; seed < 200; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      List<Long> groups = random.longs(random.nextInt(8), 1, 50).boxed().toList();
      DueL0 due = new DueL0(groups, 4, 100);
      assertTrue(due.dueBytes() > 0 == (due.score() >= 1 && !isJustFull(groups)), "seed " + seed);
    }
  }

  private static boolean isJustFull(List<Long> groups) {
    return groups.size() < 4 && groups.stream().mapToLong(Long::longValue).sum() == 100;
  }
}
