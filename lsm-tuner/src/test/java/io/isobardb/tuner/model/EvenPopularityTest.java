package io.isobardb.tuner.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.isobardb.popularity.KeyGroups;
import org.junit.jupiter.api.Test;

class EvenPopularityTest {
  private static final double KEYS = 1e6;

  @Test
  void itIsWhatGroupsOfKeysSayOfOneGroup() {
    Popularity groups = KeyGroups.uniform(KEYS);
    Popularity even = new EvenPopularity(KEYS);
    for (double part : new double[] {1e-6, 1e-3, 0.1, 0.5, 0.9, 0.999}) {
      double amount = part * KEYS;
      assertEquals(groups.unique(amount), even.unique(amount), 1e-4 * amount);
      assertEquals(groups.sweptUnique(amount), even.sweptUnique(amount), 1e-4 * amount);
      double inverse = groups.uniqueInverse(amount);
      assertEquals(inverse, even.uniqueInverse(amount), 1e-4 * inverse);
      double swept = groups.sweptUniqueInverse(amount);
      assertEquals(swept, even.sweptUniqueInverse(amount), 1e-4 * swept);
      assertEquals(groups.merge(amount, amount), even.merge(amount, amount), 1e-4 * KEYS);
    }
    assertEquals(KEYS, even.unique(Double.POSITIVE_INFINITY));
    assertEquals(KEYS, even.sweptUnique(Double.POSITIVE_INFINITY));
    assertEquals(Double.POSITIVE_INFINITY, even.uniqueInverse(KEYS));
    assertEquals(Double.POSITIVE_INFINITY, even.sweptUniqueInverse(KEYS));
  }

  @Test
  void noKeysAreRefused() {
    assertThrows(IllegalArgumentException.class, () -> new EvenPopularity(0));
    assertThrows(IllegalArgumentException.class, () -> new EvenPopularity(Double.NaN));
  }
}
