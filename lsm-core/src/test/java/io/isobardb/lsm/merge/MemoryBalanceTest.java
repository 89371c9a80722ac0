package io.isobardb.lsm.merge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.merge.MemoryBalance.Neighbours;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class MemoryBalanceTest {
  private static final long UNIT = 16 << 20;
  private static final long MERGED = UNIT * MemoryBalance.MANY;
  private static final long NEVER = 0;
  private static final long MUCH = Long.MAX_VALUE;

  private static @Nullable Neighbours choose(boolean full, long lostNanos, long... sizes) {
    return MemoryBalance.choose(sizes, 0, UNIT, full, false, lostNanos);
  }

  private static @Nullable Neighbours whenWanted(long mergedBytes, long... sizes) {
    return MemoryBalance.choose(sizes, mergedBytes, UNIT, true, true, NEVER);
  }

  private static long[] units(int count) {
    long[] sizes = new long[count];
    Arrays.fill(sizes, UNIT);
    return sizes;
  }

  @Test
  void manyRunsOfASizeAreMergedOnceTheyFillMemory() {
    assertEquals(new Neighbours(0, 8), choose(true, NEVER, units(8)));
    assertNull(choose(true, NEVER, units(7)));
    assertNull(choose(false, NEVER, units(8)));
  }

  @Test
  void whatWasMergedIsNotMergedAgainWithAFewSmallOnes() {
    long[] sizes = units(8);
    sizes[7] = MERGED;
    assertNull(choose(true, NEVER, sizes));
    assertEquals(new Neighbours(0, 7), choose(false, 20 * UNIT, sizes));
  }

  @Test
  void allIsMergedWhenReadsHaveLostWhatThatCosts() {
    long[] sizes = units(8);
    sizes[7] = MERGED;
    long price = 2 * (7 * UNIT + MERGED);
    assertEquals(new Neighbours(0, 7), choose(false, price - 1, sizes));
    assertEquals(new Neighbours(0, 8), choose(false, price, sizes));
    assertTrue(MemoryBalance.paidFor(7 * UNIT + MERGED, price));
    assertFalse(MemoryBalance.paidFor(7 * UNIT + MERGED, price - 1));
  }

  @Test
  void allIsMergedWhenItsRoomIsWantedAndAsMuchIsNewAsWasMergedBefore() {
    assertEquals(new Neighbours(0, 3), whenWanted(2 * UNIT, UNIT, UNIT, 2 * UNIT));
    assertNull(whenWanted(2 * UNIT + 1, UNIT, UNIT, 2 * UNIT));
    assertEquals(new Neighbours(0, 2), whenWanted(0, UNIT, UNIT));
    assertNull(whenWanted(0, UNIT));
  }

  @Test
  void mergedOnesAreMergedOnceThereAreMany() {
    long[] sizes = new long[9];
    Arrays.fill(sizes, MERGED);
    sizes[0] = UNIT;
    assertEquals(new Neighbours(1, 9), choose(true, NEVER, sizes));
  }

  @Test
  void aFewRunsAreMergedWhenReadsHaveLostWhatItCosts() {
    long price = 2 * 2 * UNIT;
    assertNull(choose(false, price - 1, UNIT, UNIT));
    assertEquals(new Neighbours(0, 2), choose(false, price, UNIT, UNIT));
  }

  @Test
  void aRunAloneStaysWhateverReadsHaveLost() {
    assertNull(choose(true, MUCH, UNIT));
    assertNull(choose(true, MUCH));
  }

  @Test
  void readsAreNeverMuchWorseOffThanWithWhatWouldHaveBeenBest() {
    // A tree of which a run is sealed now and then, and which is read in between: what reads lose
    // and merges cost together, against never merging, and against merging each run at once.
    for (long seed = 0; seed < 200; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      int seals = random.nextInt(2, 12);
      long[] lostPerRun = new long[seals];
      double intensity = Math.pow(10, random.nextDouble(-3, 1));
      for (int i = 0; i < seals; i++) {
        lostPerRun[i] = (long) (2 * UNIT * intensity * random.nextDouble());
      }
      double balanced = cost(lostPerRun, true);
      double never = cost(lostPerRun, false);
      double atOnce = 2.0 * UNIT * (seals * (seals + 1) / 2.0 - 1);
      double best = Math.min(never, atOnce);
      assertTrue(
          balanced <= 2.5 * best + 2.0 * UNIT, "seed " + seed + ": " + balanced + ", " + best);
    }
  }

  /** Nanoseconds; what a run more costs the reads of a period is looked at in ten parts. */
  private static double cost(long[] lostPerRun, boolean merges) {
    double cost = 0;
    double lost = 0;
    long[] sizes = {};
    for (long perRun : lostPerRun) {
      long[] more = new long[sizes.length + 1];
      System.arraycopy(sizes, 0, more, 1, sizes.length);
      more[0] = UNIT;
      sizes = more;
      for (int part = 0; part < 10; part++) {
        double now = perRun / 10.0 * (sizes.length - 1);
        cost += now;
        lost += now;
        Neighbours chosen = merges ? choose(false, (long) lost, sizes) : null;
        if (chosen != null) {
          long bytes = Arrays.stream(sizes, chosen.from(), chosen.to()).sum();
          cost += 2.0 * bytes;
          lost = 0;
          long[] left = new long[sizes.length - chosen.count() + 1];
          System.arraycopy(sizes, 0, left, 0, chosen.from());
          left[chosen.from()] = bytes;
          System.arraycopy(sizes, chosen.to(), left, chosen.from() + 1, sizes.length - chosen.to());
          sizes = left;
        }
      }
    }
    return cost;
  }
}
