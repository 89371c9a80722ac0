package io.isobardb.tpcc.schema;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.tpcc.TestStore;
import org.junit.jupiter.api.Test;

class NuRandTest {
  private final Values values = new Values(TestStore.seed());
  private final Scale full = Scale.of(1, 1);

  @Test
  void constantsOfLoadAndRunAreAsFarApartAsPermitted() {
    for (int i = 0; i < 2000; i++) {
      NuRand load = NuRand.forLoad(values);
      NuRand run = NuRand.forRun(values, load);
      int delta = Math.abs(run.lastName() - load.lastName());
      assertTrue(delta >= 65 && delta <= 119 && delta != 96 && delta != 112, "delta " + delta);
    }
  }

  @Test
  void everyConstantOfALoadHasOneForARun() {
    for (int constant = 0; constant < 256; constant++) {
      NuRand.forRun(values, new NuRand(constant, 0, 0));
    }
  }

  @Test
  void drawsStayInRangeAndReachItsEnds() {
    NuRand constants = NuRand.forLoad(values);
    boolean[] customers = new boolean[3001];
    boolean[] names = new boolean[1000];
    for (int i = 0; i < 300_000; i++) {
      customers[constants.customer(values, full)] = true;
      names[constants.lastName(values, full)] = true;
      int item = constants.item(values, full);
      assertTrue(item >= 1 && item <= 100_000);
    }
    assertTrue(customers[1] && customers[3000] && !customers[0]);
    assertTrue(names[0] && names[999]);
  }

  @Test
  void drawsFollowTheFormulaSoThatSomeValuesAreDrawnMoreOften() {
    // Numbers with many bits set come from more pairs: (255|x) has all low bits set most often.
    NuRand constants = new NuRand(0, 0, 0);
    int[] counts = new int[1000];
    int draws = 200_000;
    for (int i = 0; i < draws; i++) {
      counts[constants.lastName(values, full)]++;
    }
    double even = draws / 1000.0;
    assertTrue(counts[255] > 5 * even, "255: " + counts[255]);
    assertTrue(counts[256] < even, "256: " + counts[256]);
    NuRand moved = new NuRand(100, 0, 0);
    int[] movedCounts = new int[1000];
    for (int i = 0; i < draws; i++) {
      movedCounts[moved.lastName(values, full)]++;
    }
    assertTrue(movedCounts[355] > 5 * even, "355: " + movedCounts[355]);
  }

  @Test
  void constantsOutOfRangeAreRefused() {
    assertThrows(IllegalArgumentException.class, () -> new NuRand(256, 0, 0));
    assertThrows(IllegalArgumentException.class, () -> new NuRand(0, 1024, 0));
    assertThrows(IllegalArgumentException.class, () -> new NuRand(0, 0, -1));
  }

  @Test
  void aScaleOfOneIsTheSpecification() {
    assertEquals(new Scale(1, 100_000, 3000, 900), full);
    assertTrue(full.full());
    assertEquals(2101, full.firstNewOrder());
    assertThrows(IllegalArgumentException.class, () -> Scale.of(1, 0));
    assertThrows(IllegalArgumentException.class, () -> Scale.of(1, 1.5));
    assertThrows(IllegalArgumentException.class, () -> Scale.of(0, 1));
  }
}
