package io.isobardb.lsm.operand;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.option.MergeOperator;
import io.isobardb.lsm.version.GoldenFile;
import java.io.IOException;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class FoldRulesTest {
  @Test
  void choicesAreAsReviewed() throws IOException {
    GoldenFile.check(
        FoldRulesTest.class,
        "folding.txt",
        lines -> lines.stream().map(FoldRulesTest::ask).collect(Collectors.joining("\n")));
  }

  private static String ask(String line) {
    List<String> words = List.of(line.split("[ =]"));
    int operands = Integer.parseInt(words.get(2));
    return switch (words.get(0)) {
      case "write" -> FoldRules.isDeep(operands, words.contains("end")) ? "folds" : "leaves them";
      case "large" -> {
        int passes = FoldRules.passesBeforeLarge(operands);
        yield passes == 0 ? "folds" : "after " + passes;
      }
      case "merge" -> FoldRules.looksUp(operands) ? "looks it up" : "leaves them";
      default -> throw new IllegalArgumentException(line);
    };
  }

  @Test
  void noMoreAreCountedThanMatter() {
    int most = FoldRules.countedUpTo();
    assertTrue(FoldRules.isDeep(most, false));
    assertTrue(!FoldRules.isDeep(most - 1, false));
  }

  @Test
  void operandsOnALargeValueAreFoldedBeforeTheyTakeASecondCall() {
    assertEquals(
        0, FoldRules.passesBeforeLarge(MergeOperator.MAX_OPERANDS - FoldRules.countedUpTo()));
  }
}
