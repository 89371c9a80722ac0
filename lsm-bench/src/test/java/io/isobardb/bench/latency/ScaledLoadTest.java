package io.isobardb.bench.latency;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import org.junit.jupiter.api.Test;

class ScaledLoadTest {
  private static Map<String, Double> run(String load, Jobs jobs) {
    ScaledLoad.Work work = new ScaledLoad.Work(jobs, 0, Map.of());
    return new ScaledLoad(load, 0, work, 0.005, 2).run(3, text -> {});
  }

  @Test
  void aSmallerLoadHasAPartOfTheRequestsAndEqualSeedsEqualFigures() {
    Map<String, Double> figures = run("steady", Jobs.ORDERED);
    assertEquals(80, figures.get(ScaledLoad.SERVED), 1);
    assertTrue(figures.get(ScaledLoad.WORST_WRITES) >= figures.get(ScaledLoad.WRITES));
    assertEquals(figures, run("steady", Jobs.ORDERED));
  }

  @Test
  void burstsWriteAsFastAsTheDeviceAndHaveNoReads() {
    Map<String, Double> figures = run("bursts", Jobs.FREE);
    assertTrue(figures.get(ScaledLoad.PUT) > 0.1, figures::toString);
    assertFalse(figures.containsKey(ScaledLoad.READS));
  }
}
