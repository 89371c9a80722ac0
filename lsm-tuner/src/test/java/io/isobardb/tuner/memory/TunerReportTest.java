package io.isobardb.tuner.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;

/**
 * Decisions as a person reads them: {@code decisions.txt} tells a story in commands, with the
 * report after each. With {@code -Dgolden.rewrite=true} the reports are written instead of
 * compared.
 */
class TunerReportTest {
  private static final Path GOLDEN =
      Path.of("src/test/resources/io/isobardb/tuner/memory/decisions.txt").toAbsolutePath();
  private static final String RULE = "----";
  private static final long MB = SyntheticStore.MB;

  @Test
  void decisionsAreAsReviewed() throws IOException {
    String expected = Files.readString(GOLDEN);
    StringBuilder actual = new StringBuilder();
    Story story = new Story();
    boolean answer = false;
    List<String> commands = new ArrayList<>();
    for (String line : (expected.strip() + "\n> end").lines().toList()) {
      boolean question = line.startsWith("# ") || line.startsWith("> ");
      if (line.equals(RULE)) {
        answer = true;
      } else if (question) {
        if (answer) {
          actual.append(RULE).append('\n').append(story.tell(commands)).append('\n');
          commands.clear();
          answer = false;
        }
        if (!line.equals("> end")) {
          actual.append(line).append('\n');
        }
        if (line.startsWith("> ")) {
          commands.add(line.substring(2));
        }
      }
    }
    if (Boolean.getBoolean("golden.rewrite")) {
      Files.writeString(GOLDEN, actual);
    } else {
      assertEquals(expected, actual.toString());
    }
  }

  @Test
  void anEmptyHistoryHasAReportToo() {
    String report = TunerReport.render(TunerHistory.EMPTY);
    assertTrue(report.startsWith("The memory tuner has decided nothing yet."), report);
    assertTrue(report.contains("twice the budget"), report);
  }

  @Test
  void longHistoriesFitIntoThePlot() {
    SyntheticStore store = new Story().store;
    TunerHistory history =
        store.tune(new MemoryTuner(TunerOptions.DEFAULT), TunerHistory.EMPTY, 300);
    assertEquals(TunerHistory.MAX_DECISIONS, history.decisions().size());
    String report = TunerReport.render(history);
    assertTrue(report.contains("cycles 45 to 300"), report);
    String plots = report.substring(report.indexOf("write memory, MB"));
    assertTrue(plots.lines().allMatch(line -> line.length() <= 85), plots);
  }

  @Test
  void theReportIsTheSameInEveryLocale() {
    SyntheticStore store = new Story().store;
    TunerHistory history = store.tune(new MemoryTuner(TunerOptions.DEFAULT), TunerHistory.EMPTY, 9);
    String report = TunerReport.render(history);
    Locale before = Locale.getDefault();
    try {
      Locale.setDefault(Locale.forLanguageTag("ar-EG-u-nu-arab"));
      assertEquals(report, TunerReport.render(history));
      assertTrue(new Story().tell(List.of("cycles 9")).chars().allMatch(c -> c < 128));
    } finally {
      Locale.setDefault(before);
    }
  }

  @Test
  void whatIsNoDecisionIsRefusedWithWhatIsWrong() {
    SyntheticStore store = new Story().store;
    TunerHistory history = store.tune(new MemoryTuner(TunerOptions.DEFAULT), TunerHistory.EMPTY, 1);
    String line = DecisionText.write(history.decisions().get(0));
    refused("", "not a decision");
    refused("v1" + line.substring(2), "format v2");
    refused(line.replace(" ghost=", " host="), "no field ghost");
    refused(line.replace(" reads=", " reads=1,"), "field reads has 3 values, not 2");
    assertEquals(
        history.decisions().get(0), DecisionText.parse(line.replace(" x=", " newer=1,2 x=")));
  }

  @Test
  void aDecisionFromBeforeModelsHadASayIsRead() {
    SyntheticStore store = new Story().store;
    TunerHistory history = store.tune(new MemoryTuner(TunerOptions.DEFAULT), TunerHistory.EMPTY, 1);
    Decision decision = history.decisions().get(0);
    String line = DecisionText.write(decision);
    int trees = line.indexOf(" trees=");
    String before =
        line.substring(0, trees) + line.substring(trees).replaceAll(",0\\.0(?=[; ])", "");
    assertTrue(before.length() < line.length(), line);
    assertEquals(decision, DecisionText.parse(before));
  }

  private static void refused(String line, String why) {
    var e = assertThrows(IllegalArgumentException.class, () -> DecisionText.parse(line));
    assertTrue(e.getMessage().contains(why), e.getMessage());
  }

  @Test
  void aReplayTellsWhatDiffers() {
    SyntheticStore store = new Story().store;
    TunerHistory history = store.tune(new MemoryTuner(TunerOptions.DEFAULT), TunerHistory.EMPTY, 5);
    List<Decision> recorded = new ArrayList<>(history.decisions());
    String line = DecisionText.write(recorded.get(2));
    recorded.set(2, DecisionText.parse(line.replaceFirst(" to=\\d+", " to=77")));
    List<String> differences = Replay.differences(recorded, true);
    assertTrue(differences.get(0).startsWith("cycle 3: recorded "), differences.toString());
    assertTrue(differences.get(0).contains(" to 77 ("), differences.toString());
  }

  /** A synthetic store and its tuner, driven by commands. */
  private static final class Story {
    private final SyntheticStore store = new SyntheticStore(1, 4096 * MB, 64 * MB);
    private TunerHistory history = TunerHistory.EMPTY;

    Story() {
      store.writtenPerOperation = new double[4];
      store.lastLevelBytes = 5e9;
      mix(0.2);
    }

    private void mix(double writes) {
      java.util.Arrays.fill(store.writtenPerOperation, writes * 250);
      store.reads = SyntheticStore.zipf(1 - writes, 22e9);
    }

    /** Carries out commands, and reports the decisions that they led to. */
    String tell(List<String> commands) {
      int before = history.decisions().size();
      for (String command : commands) {
        String[] words = command.split(" ");
        double value = words.length > 1 ? Double.parseDouble(words[1]) : 0;
        switch (words[0]) {
          case "writes" -> mix(value);
          case "budget" -> store.budgetBytes = (long) value * MB;
          case "cliff" -> {
            var reads = store.reads;
            double cliff = store.budgetBytes - value * MB;
            store.reads = cache -> reads.applyAsDouble(cache) + (cache < cliff ? 0.1 : 0);
          }
          case "cycles" ->
              history = store.tune(new MemoryTuner(TunerOptions.DEFAULT), history, (int) value);
          default -> throw new IllegalArgumentException("no such command: " + command);
        }
      }
      List<Decision> all = history.decisions();
      return TunerReport.render(new TunerHistory(all.subList(before, all.size()))).strip();
    }
  }
}
