package io.isobardb.popularity;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.tuner.model.Popularity;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("any-jdk")
class PopularityTest {
  private static final double[] SKEWS = {0, 0.5, 0.99, 1, 1.2};

  @ParameterizedTest
  @CsvSource({"1e3, 0.5", "1e5, 0.99", "1e6, 0", "1e6, 0.99", "1e6, 1", "1e6, 1.2"})
  void uniqueIsTheSumOverAllKeys(double keys, double skew) {
    double[] rates = rates((int) keys, skew);
    KeyGroups groups = KeyGroups.zipf(keys, skew);
    TabulatedPopularity tabulated = TabulatedPopularity.of(groups);
    for (double requests : new double[] {1, 17, keys / 100, keys, 30 * keys, 1000 * keys}) {
      double exact = 0;
      double swept = 0;
      for (double rate : rates) {
        double x = rate * requests;
        exact -= Math.expm1(-x);
        swept += x < 1e-5 ? x / 2 - x * x / 6 : 1 + Math.expm1(-x) / x;
      }
      assertEquals(exact, groups.unique(requests), exact * 1e-5);
      assertEquals(swept, groups.sweptUnique(requests), swept * 1e-5);
      assertEquals(exact, tabulated.unique(requests), exact * 1e-4);
      assertEquals(swept, tabulated.sweptUnique(requests), swept * 1e-4);
    }
  }

  private static double[] rates(int keys, double skew) {
    double[] shares = new double[keys];
    for (int i = 0; i < keys; i++) {
      shares[i] = Math.pow(i + 1, -skew);
    }
    double sum = Arrays.stream(shares).sum();
    return Arrays.stream(shares).map(share -> -Math.log1p(-share / sum)).toArray();
  }

  @ParameterizedTest
  @ValueSource(doubles = {1e3, 1e6, 1e9, 1e12})
  void inversesUndo(double keys) {
    for (double skew : SKEWS) {
      KeyGroups groups = KeyGroups.zipf(keys, skew);
      for (Popularity popularity : List.of(groups, TabulatedPopularity.of(groups))) {
        for (double share : new double[] {1e-9, 1e-4, 0.1, 0.5, 0.9, 0.999, 1 - 1e-6}) {
          double unique = keys * share;
          assertEquals(unique, popularity.unique(popularity.uniqueInverse(unique)), unique * 1e-6);
          assertEquals(
              unique, popularity.sweptUnique(popularity.sweptUniqueInverse(unique)), unique * 1e-6);
          double requests = popularity.uniqueInverse(unique);
          assertEquals(
              requests, popularity.uniqueInverse(popularity.unique(requests)), requests * 1e-4);
        }
      }
    }
  }

  @Test
  void theEndsAreExact() {
    for (double skew : SKEWS) {
      KeyGroups groups = KeyGroups.zipf(1e6, skew);
      for (Popularity popularity : List.of(groups, TabulatedPopularity.of(groups))) {
        assertAll(
            () -> assertEquals(0, popularity.unique(0)),
            () -> assertEquals(0, popularity.uniqueInverse(0)),
            () -> assertEquals(0, popularity.sweptUniqueInverse(0)),
            () -> assertEquals(1, popularity.unique(1), 1e-6),
            () -> assertEquals(1e6, popularity.unique(Double.POSITIVE_INFINITY), 1e-3),
            () -> assertEquals(1e6, popularity.sweptUnique(Double.POSITIVE_INFINITY), 1e-3),
            () -> assertEquals(Double.POSITIVE_INFINITY, popularity.uniqueInverse(1e6)),
            () -> assertEquals(Double.POSITIVE_INFINITY, popularity.sweptUniqueInverse(1e6)));
      }
    }
  }

  /** The example of section 3.4. */
  @Test
  void mergeKnowsThatTablesShareKeys() {
    KeyGroups zipf = KeyGroups.zipf(1e8, 0.99);
    assertEquals(9.03e7, zipf.merge(1e7, 9e7), 0.005e7);
    assertEquals(9.03e7, TabulatedPopularity.of(zipf).merge(1e7, 9e7), 0.005e7);
    assertEquals(1e8, zipf.merge(1e8, 5), 1e-3);
    assertEquals(3e5, zipf.merge(3e5, 0), 1e-3);
  }

  @Test
  void aKeyCountsByItsWeight() {
    double[] counts = {10, 990};
    double[] shares = {0.9, 0.1};
    KeyGroups sized = KeyGroups.weighted(counts, shares, new double[] {100, 1});
    KeyGroups plain = KeyGroups.of(counts, shares);
    double hot = -10 * Math.expm1(500 * Math.log1p(-0.09));
    double cold = -990 * Math.expm1(500 * Math.log1p(-0.1 / 990));
    assertEquals(hot + cold, plain.unique(500), 1e-9);
    assertEquals(100 * hot + cold, sized.unique(500), 1e-9);
    assertEquals(1990, sized.keys());
    assertEquals(500, sized.uniqueInverse(sized.unique(500)), 1e-6);
  }

  @Test
  void whatIsNoPopularityIsRefused() {
    assertRefused("2 to 1,000,000,000,000, not 1", () -> KeyGroups.uniform(1));
    assertRefused("2 to 1,000,000,000,000, not 10,000,000,000,000", () -> KeyGroups.zipf(1e13, 1));
    assertRefused("skew must be 0 or more, not -0.1", () -> KeyGroups.zipf(10, -0.1));
    assertRefused("skew must be 0 or more, not NaN", () -> KeyGroups.zipf(10, Double.NaN));
    assertRefused(
        "the share of group 1 must be more than 0",
        () -> KeyGroups.of(new double[] {1, 1}, new double[] {1, 0}));
    assertRefused(
        "needs a count, a share and a weight",
        () -> KeyGroups.of(new double[] {1, 1}, new double[] {1}));
    assertRefused(
        "the weights are all 0",
        () -> KeyGroups.weighted(new double[] {9}, new double[] {1}, new double[] {0}));
    KeyGroups uniform = KeyGroups.uniform(10);
    assertRefused("requests must be 0 or more", () -> uniform.unique(-1));
    assertRefused("must be from 0 to 10.0, not 11.0", () -> uniform.uniqueInverse(11));
    assertRefused(
        "must be from 0 to 10.0, not 11.0",
        () -> TabulatedPopularity.of(uniform).uniqueInverse(11));
  }

  private static void assertRefused(String part, org.junit.jupiter.api.function.Executable call) {
    String message = assertThrows(IllegalArgumentException.class, call).getMessage();
    assertTrue(message.contains(part), message);
  }
}
