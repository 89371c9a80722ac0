package io.isobardb.lsm.observe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class LatencyStatsTest {
  private static LatencyStats of(long... nanos) {
    long[] counts = new long[LatencyStats.buckets()];
    for (long time : nanos) {
      counts[LatencyStats.bucket(time)]++;
    }
    return new LatencyStats(counts);
  }

  @Test
  void aQuantileIsExactToAnEighth() {
    SplittableRandom random = new SplittableRandom(1);
    for (int round = 0; round < 1000; round++) {
      long time = random.nextLong() >>> 1 + random.nextInt(62);
      long told = of(time).quantileNanos(1);
      assertTrue(told >= time && told - time <= time / 8, time + " told as " + told);
    }
  }

  @Test
  void timesOfAllSizesHaveABucket() {
    assertEquals(0, LatencyStats.bucket(-1));
    assertEquals(0, LatencyStats.bucket(0));
    assertEquals(LatencyStats.buckets() - 1, LatencyStats.bucket(Long.MAX_VALUE));
    assertEquals(Long.MAX_VALUE, of(Long.MAX_VALUE).quantileNanos(0.5));
    for (int exponent = 0; exponent < 62; exponent++) {
      int bucket = LatencyStats.bucket(1L << exponent);
      assertTrue(bucket > LatencyStats.bucket((1L << exponent) - 1), "2^" + exponent);
    }
  }

  @Test
  void quantilesAreThoseOfTheSortedTimes() {
    long[] times = new SplittableRandom(2).longs(5000, 0, 8).toArray();
    LatencyStats stats = of(times);
    Arrays.sort(times);
    for (double part : new double[] {0, 0.1, 0.5, 0.99, 0.999, 1}) {
      int rank = (int) Math.max(1, Math.ceil(part * times.length));
      assertEquals(times[rank - 1], stats.quantileNanos(part), "part " + part);
    }
    assertThrows(IllegalArgumentException.class, () -> stats.quantileNanos(1.1));
    assertThrows(IllegalArgumentException.class, () -> stats.quantileNanos(Double.NaN));
  }

  @Test
  void whatCameLaterIsTheDifference() {
    LatencyStats later = of(1, 2, 2, 5).since(of(1, 2));
    assertEquals(2, later.count());
    assertEquals(5, later.quantileNanos(1));
    assertEquals(0, of().quantileNanos(0.5));
    assertEquals("2 timed: half within 2 ns, 99% within 5 ns", later.toString());
  }
}
