package io.isobardb.tuner.model;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class FilterBitsTest {
  private static final double STEP = 1.0 / 32;

  private static double[] always(int runs) {
    double[] presence = new double[runs];
    Arrays.fill(presence, 1);
    return presence;
  }

  private static double taken(double[] entries, double[] presence, double[] bits) {
    double sum = 0;
    for (int i = 0; i < bits.length; i++) {
      sum += entries[i] * presence[i] * bits[i];
    }
    return sum;
  }

  /** Keys in blocks at random, and lookups of other keys: an eighth of a word's bits at a time. */
  @Test
  void ratesAreThoseOfBlocksOfEightWords() {
    SplittableRandom random = new SplittableRandom(1);
    for (int bits : new int[] {4, 6, 10, 14}) {
      int blocks = 1 << 14;
      long[] words = new long[blocks * 8];
      for (int key = 0; key < blocks * 512 / bits; key++) {
        int block = random.nextInt(blocks);
        for (int word = 0; word < 8; word++) {
          words[block * 8 + word] |= 1L << random.nextInt(64);
        }
      }
      int found = 0;
      int lookups = 1_000_000;
      for (int i = 0; i < lookups; i++) {
        int block = random.nextInt(blocks);
        boolean all = true;
        for (int word = 0; word < 8; word++) {
          all &= (words[block * 8 + word] >>> random.nextInt(64) & 1) != 0;
        }
        found += all ? 1 : 0;
      }
      double rate = FilterBits.falsePositives(bits);
      double chance = 4 * Math.sqrt(rate / lookups);
      assertEquals(rate, (double) found / lookups, chance, bits + " bits per key");
    }
    assertEquals(1, FilterBits.falsePositives(0));
  }

  @Test
  void aTreeOfOneRunHasTheMean() {
    for (double mean = 0; mean <= FilterBits.MOST; mean++) {
      double[] bits = FilterBits.of(new double[] {1000}, always(1), mean);
      assertEquals(mean, bits[0], STEP);
      assertTrue(bits[0] <= mean);
    }
  }

  @Test
  void smallRunsHaveMoreWithinTheSameTotal() {
    SplittableRandom random = new SplittableRandom(2);
    for (int i = 0; i < 300; i++) {
      int runs = 1 + random.nextInt(8);
      double[] entries = new double[runs];
      double[] presence = new double[runs];
      for (int run = 0; run < runs; run++) {
        entries[run] = Math.pow(10, random.nextDouble(2, 8));
        presence[run] = random.nextDouble(0.1, 1);
      }
      double mean = random.nextInt(25);
      double[] same = new double[runs];
      Arrays.fill(same, mean);
      double[] bits = FilterBits.of(entries, presence, mean);
      String told = Arrays.toString(entries) + " have " + Arrays.toString(bits);
      assertTrue(
          taken(entries, presence, bits) <= taken(entries, presence, same) * (1 + 1e-9), told);
      assertTrue(
          FilterBits.falsePositives(bits, presence) <= FilterBits.falsePositives(same, presence),
          told);
      for (int a = 0; a < runs; a++) {
        for (int b = 0; b < runs; b++) {
          assertTrue(entries[a] > entries[b] || bits[a] >= bits[b], told);
        }
      }
    }
  }

  /** No bits moved from one run to another lower the rates, but for what rounding leaves. */
  @Test
  void noOtherDivisionIsBetter() {
    double[] entries = {100, 1_000, 10_000, 100_000};
    double mean = 10;
    double[] bits = FilterBits.of(entries, always(4), mean);
    double best = FilterBits.falsePositives(bits, always(4));
    SplittableRandom random = new SplittableRandom(3);
    for (int i = 0; i < 20_000; i++) {
      double[] other = bits.clone();
      for (int run = 0; run < 3; run++) {
        other[run] = Math.max(0, Math.min(24, bits[run] + random.nextInt(-64, 65) * STEP));
      }
      // The last run takes what is left of the total.
      other[3] = 0;
      other[3] = (mean * 111_100 - taken(entries, always(4), other)) / 100_000;
      if (other[3] >= 0 && other[3] <= FilterBits.MOST) {
        assertTrue(
            FilterBits.falsePositives(other, always(4)) > best * 0.985, Arrays.toString(other));
      }
    }
  }

  /** Monkey, section 4.1: rates in proportion to sizes, so that all but the last add little. */
  @Test
  void ratesOfLevelsAreInProportionToTheirSizes() {
    double[] bits = FilterBits.of(new double[] {1, 10, 100}, always(3), 10);
    double last = FilterBits.falsePositives(bits[2]);
    assertEquals(0.1, FilterBits.falsePositives(bits[1]) / last, 0.04);
    double saved = FilterBits.falsePositives(bits, always(3)) / 3 / FilterBits.falsePositives(10);
    assertEquals(0.5, saved, 0.1);
  }

  @Test
  void aLargeRunHasNoFilterIfThatWouldBeTooSmallToHelp() {
    assertArrayEquals(
        new double[] {0},
        Arrays.copyOfRange(FilterBits.of(new double[] {1, 9}, always(2), 1), 1, 2));
    assertArrayEquals(new double[] {3, 3}, FilterBits.of(new double[] {5, 5}, always(2), 3));
  }

  @Test
  void badNumbersAreRefused() {
    assertThrows(IllegalArgumentException.class, () -> FilterBits.falsePositives(25));
    assertThrows(IllegalArgumentException.class, () -> FilterBits.of(new double[1], always(2), 10));
    assertThrows(
        IllegalArgumentException.class, () -> FilterBits.of(new double[] {-1}, always(1), 10));
    assertThrows(
        IllegalArgumentException.class,
        () -> FilterBits.of(new double[] {1}, new double[] {0}, 10));
  }
}
