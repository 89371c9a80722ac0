package io.isobardb.lsm.tuning;

import io.isobardb.lsm.version.GoldenFile;
import io.isobardb.popularity.KeyGroups;
import io.isobardb.popularity.TabulatedPopularity;
import io.isobardb.tuner.model.Popularity;
import io.isobardb.tuner.workload.LevelDecision;
import io.isobardb.tuner.workload.LevelProgress;
import io.isobardb.tuner.workload.LevelShares;
import io.isobardb.tuner.workload.LevelTuner;
import io.isobardb.tuner.workload.LevelView;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * What is decided on levels, as a file to be read.
 *
 * <pre>
 * tree last=1000000 round=2000 depth=3 table=2000 space=1.25 usual=1,0.1,0.01    begins a tree
 * cycle turns=1 cost=8 skew=0       a cycle: rounds of the last level, and entries merged for a put
 * </pre>
 *
 * What is said once holds until it is said again; {@code skew=?} says that no popularity is known.
 */
class LevelDecisionsTest {
  private final Map<String, String> said = new HashMap<>();
  private LevelProgress progress = LevelProgress.START;
  private long cycle;

  @Test
  void decisionsAreAsReviewed() throws IOException {
    GoldenFile.check(
        LevelDecisionsTest.class,
        "level-decisions.txt",
        lines -> {
          StringBuilder answers = new StringBuilder();
          lines.forEach(line -> answers.append(ask(line.split("\\s+"))));
          return answers.toString();
        });
  }

  private String ask(String[] words) {
    if (words[0].equals("tree")) {
      said.clear();
      progress = LevelProgress.START;
      cycle = 0;
    }
    for (int i = 1; i < words.length; i++) {
      String[] parts = words[i].split("=");
      said.put(parts[0], parts[1]);
    }
    return words[0].equals("tree") ? "" : cycle();
  }

  private String cycle() {
    double last = number("last");
    LevelShares usual =
        new LevelShares(
            Arrays.stream(said.getOrDefault("usual", "1").split(","))
                .map(Double::valueOf)
                .toList());
    LevelShares plan = progress.plan();
    double merged = number("turns") * last;
    LevelDecision decision =
        LevelTuner.choose(
            progress,
            new LevelView(
                ++cycle,
                1,
                new LevelView.Sizes(
                    last, number("table"), number("table"), number("round"), number("depth")),
                plan == null ? usual : plan,
                usual,
                popularity(last),
                Double.parseDouble(said.getOrDefault("space", "1.25")),
                new LevelView.Work(merged / number("cost"), List.of(merged), 0)));
    progress = decision.after();
    return decision.action()
        + ", "
        + progress.stage()
        + ", "
        + planned(decision.plan())
        + "\n  "
        + decision.reason()
        + "\n";
  }

  private @Nullable Popularity popularity(double keys) {
    String skew = said.getOrDefault("skew", "0");
    return skew.equals("?")
        ? null
        : TabulatedPopularity.of(KeyGroups.zipf(keys, Double.parseDouble(skew)));
  }

  private static String planned(@Nullable LevelShares plan) {
    if (plan == null) {
      return "by batches";
    }
    StringBuilder text = new StringBuilder("levels of");
    for (int height = plan.count() - 1; height >= 0; height--) {
      text.append(String.format(Locale.ROOT, " %.2f", 100 * plan.share(height)));
    }
    return text + " %";
  }

  private double number(String name) {
    return Double.parseDouble(said.getOrDefault(name, "0"));
  }
}
