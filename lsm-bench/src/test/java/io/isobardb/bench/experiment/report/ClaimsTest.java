package io.isobardb.bench.experiment.report;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.isobardb.bench.experiment.report.Results.Pair;
import io.isobardb.bench.experiment.report.Verdict.Outcome;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ClaimsTest {
  private static List<Pair> pairs(double... leftAndRight) {
    List<Pair> pairs = new ArrayList<>();
    for (int i = 0; i < leftAndRight.length; i += 2) {
      pairs.add(new Pair("at " + i / 2, leftAndRight[i], leftAndRight[i + 1]));
    }
    return pairs;
  }

  private static Outcome less(double... leftAndRight) {
    return Claims.less("claim", pairs(leftAndRight)).outcome();
  }

  @Test
  void lessHoldsIfItIsClearInTheMeanAndNowhereContradicted() {
    assertEquals(Outcome.HOLDS, less(1, 2));
    assertEquals(Outcome.HOLDS, less(1, 2, 104, 100));
    assertEquals(Outcome.NOT_DECIDED, less(98, 100));
    assertEquals(Outcome.NOT_DECIDED, less(1, 2, 1, 2, 110, 100));
    assertEquals(Outcome.DOES_NOT_HOLD, less(2, 1));
    assertEquals(Outcome.DOES_NOT_HOLD, less(1, 9, 110, 100, 120, 100));
    assertEquals(Outcome.NOT_DECIDED, less());
    assertEquals(Outcome.DOES_NOT_HOLD, less(1, 0));
    assertEquals(Outcome.HOLDS, less(0, 1));
    assertEquals(Outcome.NOT_DECIDED, less(0, 0));
  }

  @Test
  void pairsThatWereNotMeasuredArePassedOver() {
    assertEquals(Outcome.NOT_DECIDED, less(Double.NaN, 1));
    assertEquals(Outcome.HOLDS, less(Double.NaN, 1, 1, 2));
  }

  @Test
  void limitsHaveARimInWhichNothingIsDecided() {
    assertEquals(Outcome.HOLDS, Claims.notMore("claim", pairs(110, 100), 10).outcome());
    assertEquals(Outcome.NOT_DECIDED, Claims.notMore("claim", pairs(114, 100), 10).outcome());
    assertEquals(Outcome.DOES_NOT_HOLD, Claims.notMore("claim", pairs(116, 100), 10).outcome());
    assertEquals(Outcome.HOLDS, Claims.same("claim", pairs(100, 109), 10).outcome());
    assertEquals(Outcome.DOES_NOT_HOLD, Claims.same("claim", pairs(100, 130), 10).outcome());
    assertEquals(Outcome.HOLDS, Claims.ratio("claim", pairs(3, 2), 1.25, 1.67).outcome());
    assertEquals(Outcome.NOT_DECIDED, Claims.ratio("claim", pairs(1.2, 1), 1.25, 1.67).outcome());
    assertEquals(Outcome.DOES_NOT_HOLD, Claims.ratio("claim", pairs(3, 1), 1.25, 1.67).outcome());
  }

  @Test
  void trendsMayWaverByTheNoiseAlone() {
    assertEquals(Outcome.HOLDS, Claims.falls("claim", new double[] {4, 3, 3.1, 2}).outcome());
    assertEquals(Outcome.NOT_DECIDED, Claims.falls("claim", new double[] {4, 3, 3.5, 2}).outcome());
    assertEquals(Outcome.DOES_NOT_HOLD, Claims.falls("claim", new double[] {2, 3}).outcome());
    assertEquals(Outcome.HOLDS, Claims.rises("claim", new double[] {2, 3}).outcome());
    assertEquals(Outcome.NOT_DECIDED, Claims.rises("claim", new double[] {2}).outcome());
    assertEquals(Outcome.NOT_DECIDED, Claims.falls("claim", new double[] {0, 0}).outcome());
  }

  @Test
  void aVerdictShowsItsNumbers() {
    assertEquals(
        "at 0: 1.50 to 3.00, 0.50x; at 1: 1,200 to 600, 2.00x; mean 1.00x",
        Claims.less("claim", pairs(1.5, 3, 1200, 600)).numbers());
    assertEquals("not measured", Claims.less("claim", List.of()).numbers());
  }
}
