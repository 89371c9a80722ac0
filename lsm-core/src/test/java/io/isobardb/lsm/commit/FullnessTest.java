package io.isobardb.lsm.commit;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.version.GoldenFile;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;

class FullnessTest {
  @Test
  void levelsAreAsReviewed() throws IOException {
    GoldenFile.check(FullnessTest.class, "fullness.txt", FullnessTest::ask);
  }

  private static String ask(List<String> lines) {
    StringBuilder answer = new StringBuilder();
    for (String line : lines) {
      String[] words = line.split("[\\s=]+");
      long limit = Long.parseLong(words[1]);
      long number = Long.parseLong(words[3]);
      answer.append(
          words[2].equals("used")
              ? describe(number, limit)
              : "keeps " + Fullness.mostKept(limit, number));
      answer.append('\n');
    }
    return answer.toString();
  }

  private static String describe(long used, long limit) {
    if (used > limit) {
      return "writers wait";
    }
    double slow = Fullness.slow(used, limit);
    if (slow > 0) {
      return String.format(Locale.ROOT, "writers are slowed down, %.2f of the way", slow);
    }
    String lent = "the cache borrows " + Math.max(0, Fullness.lendable(limit) - used);
    return used > Fullness.flushFrom(limit) ? "flushes begin, " + lent : lent;
  }

  @Test
  void aLimitForWhatIsInUseIsNoReasonToFlush() {
    for (long used = 0; used < 1 << 20; used += 997) {
      long limit = Fullness.limitFor(used);
      assertTrue(Fullness.flushFrom(limit) >= used, used + " bytes");
      assertTrue(Fullness.flushFrom(limit) <= used + 128, used + " bytes");
    }
  }
}
