package io.isobardb.tuner.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.popularity.KeyGroups;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What is learnt is a sample's, and so depends on the seed. docs/models.md tells how far it was off
 * with others; {@code -Disobar.model.seed=S} sets it.
 */
@Tag("any-jdk")
class ReuseTimesTest {
  private static final int KEYS = Integer.getInteger("isobar.model.learnt.keys", 100_000);
  private static final long SEED = Long.getLong("isobar.model.seed", 1);
  private static final int MEMORY = Integer.getInteger("isobar.model.learnt.bytes", 256 << 10);
  private static final double LONG_OFF = 0.03;
  private static final double SHORT_OFF = 0.07;
  private static final int WINDOW = 4 * KEYS;

  /** Numbers of requests: what write memory of a hundredth of the keys takes, up to a window. */
  private static final int[] REQUESTS = {
    KEYS / 100, KEYS / 30, KEYS / 10, KEYS / 3, KEYS, 2 * KEYS, WINDOW
  };

  /** Streams of keys. */
  enum Load {
    UNIFORM {
      @Override
      LongSupplier keys(SplittableRandom random) {
        return () -> random.nextInt(KEYS);
      }
    },
    ZIPF_0_5 {
      @Override
      LongSupplier keys(SplittableRandom random) {
        return zipf(random, KEYS, 0.5);
      }
    },
    ZIPF_0_99 {
      @Override
      LongSupplier keys(SplittableRandom random) {
        return zipf(random, KEYS, 0.99);
      }
    },
    ZIPF_1_2 {
      @Override
      LongSupplier keys(SplittableRandom random) {
        return zipf(random, KEYS, 1.2);
      }
    },
    /** One in 20 writes is an insert; the others go to the newest keys most. */
    LATEST_FIRST {
      @Override
      LongSupplier keys(SplittableRandom random) {
        LongSupplier ages = zipf(random, KEYS, 0.99);
        long[] newest = {KEYS};
        return () -> random.nextInt(20) == 0 ? ++newest[0] : newest[0] - ages.getAsLong();
      }
    },
    A_TENTH_INSERTS {
      @Override
      LongSupplier keys(SplittableRandom random) {
        LongSupplier old = zipf(random, KEYS, 0.99);
        long[] newest = {KEYS};
        return () -> random.nextInt(10) == 0 ? ++newest[0] : old.getAsLong();
      }
    },
    TEN_AT_A_TIME {
      @Override
      LongSupplier keys(SplittableRandom random) {
        LongSupplier groups = zipf(random, KEYS / 10, 0.99);
        long[] next = {0, 0};
        return () -> {
          if (next[1]++ % 10 == 0) {
            next[0] = groups.getAsLong() * 10;
          }
          return next[0]++;
        };
      }
    };

    abstract LongSupplier keys(SplittableRandom random);

    private static LongSupplier zipf(SplittableRandom random, int keys, double skew) {
      double[] sums = new double[keys];
      double sum = 0;
      for (int i = 0; i < keys; i++) {
        sum += Math.pow(i + 1, -skew);
        sums[i] = sum;
      }
      double all = sum;
      return () -> {
        int found = Arrays.binarySearch(sums, random.nextDouble() * all);
        return found >= 0 ? found : -found - 1;
      };
    }
  }

  private static long hash(long key) {
    long z = (key + SEED * 0x1000003) * 0x9E3779B97F4A7C15L;
    z = (z ^ z >>> 30) * 0xBF58476D1CE4E5B9L;
    z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
    return z ^ z >>> 31;
  }

  private static void write(ReuseTimes times, LongSupplier keys, long count) {
    for (long i = 0; i < count; i++) {
      times.write(hash(keys.getAsLong()));
    }
  }

  /** Distinct keys in so many requests, counted in stretches of another run. */
  private static double counted(Load load, int requests) {
    LongSupplier keys = load.keys(new SplittableRandom(SEED + 1000));
    for (int i = 0; i < KEYS; i++) {
      keys.getAsLong();
    }
    int stretches = Math.max(2, Math.min(40, 8 * KEYS / requests));
    Map<Long, Integer> lastSeen = new HashMap<>();
    long distinct = 0;
    for (int stretch = 0; stretch < stretches; stretch++) {
      for (int i = 0; i < requests; i++) {
        Integer last = lastSeen.put(keys.getAsLong(), stretch);
        distinct += last == null || last != stretch ? 1 : 0;
      }
    }
    return (double) distinct / stretches;
  }

  /**
   * By how much it is off at most. Below a tenth as many requests as there are keys, chance decides
   * which popular keys are looked at: being off by {@link #SHORT_OFF} counts as {@link #LONG_OFF}.
   */
  private static double worst(Load load, LearntPopularity learnt) {
    double worst = 0;
    StringBuilder told = new StringBuilder(load + ", seed " + SEED + ":");
    for (int requests : REQUESTS) {
      double off = learnt.unique(requests) / counted(load, requests) - 1;
      told.append(String.format(java.util.Locale.ROOT, " %+.4f", off));
      worst =
          Math.max(
              worst, requests < KEYS / 10 ? Math.abs(off) * LONG_OFF / SHORT_OFF : Math.abs(off));
    }
    System.out.println(told);
    return worst;
  }

  @ParameterizedTest
  @EnumSource(Load.class)
  void whatIsLearntIsWhatIsCounted(Load load) {
    ReuseTimes times = new ReuseTimes(WINDOW, MEMORY);
    assertFalse(times.isSettled());
    write(times, load.keys(new SplittableRandom(SEED)), 2L * WINDOW + WINDOW / 3);
    assertTrue(times.isSettled());
    double worst = worst(load, times.popularity());
    assertTrue(worst < LONG_OFF, load + " is off by " + worst);
  }

  @Test
  void whatIsOldFadesWithinThreeWindows() {
    ReuseTimes times = new ReuseTimes(WINDOW, MEMORY);
    write(times, Load.ZIPF_1_2.keys(new SplittableRandom(SEED)), 2L * WINDOW + WINDOW / 2);
    LongSupplier keys = Load.UNIFORM.keys(new SplittableRandom(SEED + 1));
    write(times, keys, WINDOW / 2);
    assertTrue(worst(Load.UNIFORM, times.popularity()) > 0.1, "a shift is not seen at once");
    write(times, keys, 3L * WINDOW - WINDOW / 2);
    double worst = worst(Load.UNIFORM, times.popularity());
    assertTrue(worst < LONG_OFF, "three windows after a shift it is off by " + worst);
  }

  @Test
  void byAClockTheSameIsLearntThoughOnlyKeysThatAreLookedAtAreTold() {
    SplittableRandom random = new SplittableRandom(SEED);
    long writes = 1_000;
    long clock = 1L << 45;
    long perWrite = 1_100;
    ReuseTimes times = new ReuseTimes(perWrite * KEYS, MEMORY, 1.0 / 16, clock, writes);
    long told = 0;
    long[] written = {writes};
    for (long i = 0; i < 3L * KEYS; i++) {
      long hash = hash(random.nextInt(KEYS));
      // Uneven in the small, and now and then back a little, as with several writers.
      clock += 600 + random.nextInt(1_001);
      written[0]++;
      if (times.looksAt(hash)) {
        times.write(hash, clock - random.nextInt(3_000), () -> written[0]);
        told++;
      }
    }
    assertTrue(times.isSettled());
    assertTrue(told < 3L * KEYS / 15, told + " were told");
    LearntPopularity learnt = times.popularity(clock, written[0]);
    KeyGroups exact = KeyGroups.uniform(KEYS);
    for (double requests = KEYS / 10.0; requests < 2 * KEYS; requests *= 1.5) {
      assertEquals(1, learnt.unique(requests) / exact.unique(requests), 0.04);
    }
  }

  @Test
  void afterFewKeysManyAreLearntAndAfterManyFew() {
    ReuseTimes times = new ReuseTimes(WINDOW, MEMORY);
    SplittableRandom random = new SplittableRandom(SEED);
    write(times, () -> random.nextInt(100), 3L * WINDOW);
    assertEquals(100, times.popularity().unique(WINDOW), 1);
    write(times, Load.UNIFORM.keys(random), 3L * WINDOW);
    assertEquals(1, times.popularity().keys() / KEYS, 0.04);
    // The sample widens by a factor of two a window.
    write(times, () -> random.nextInt(100), 16L * WINDOW);
    assertEquals(100, times.popularity().unique(WINDOW), 2);
  }

  @Test
  void longWindowsAreCountedInCoarseTicks() {
    long window = 10_000_000;
    ReuseTimes times = new ReuseTimes(window, MEMORY);
    SplittableRandom random = new SplittableRandom(SEED);
    write(times, () -> random.nextInt(20_000), 2 * window + 1);
    LearntPopularity learnt = times.popularity();
    KeyGroups exact = KeyGroups.uniform(20_000);
    for (double requests : new double[] {2_000, 20_000, 100_000, 1_000_000, 1e8}) {
      assertEquals(1, learnt.unique(requests) / exact.unique(requests), 0.03);
    }
  }

  @Test
  void aLearntPopularityIsAsOthers() {
    // Uniform, exactly: the slope is exp(-p / N).
    double[] ages = new double[2_001];
    double[] slopes = new double[ages.length];
    for (int i = 0; i < ages.length; i++) {
      ages[i] = i * 2.0;
      slopes[i] = Math.exp(-ages[i] / 1_000);
    }
    LearntPopularity learnt = new LearntPopularity(ages, slopes);
    KeyGroups uniform = KeyGroups.uniform(1_000);
    assertEquals(1_000, learnt.keys(), 0.01);
    for (double requests : new double[] {0, 1, 500, 3_000, 5_000, 20_000}) {
      assertEquals(uniform.unique(requests), learnt.unique(requests), 0.6);
      assertEquals(uniform.sweptUnique(requests), learnt.sweptUnique(requests), 0.6);
      if (requests > 0 && requests < 6_000) {
        assertEquals(requests, learnt.uniqueInverse(learnt.unique(requests)), requests * 1e-6);
        assertEquals(
            requests, learnt.sweptUniqueInverse(learnt.sweptUnique(requests)), requests * 1e-6);
      }
    }
    assertEquals(uniform.merge(300, 400), learnt.merge(300, 400), 0.6);
    assertThrows(IllegalArgumentException.class, () -> learnt.uniqueInverse(1_001));
    assertThrows(IllegalArgumentException.class, () -> learnt.unique(-1));
  }

  @Test
  void withKeysThatNeverComeAgainThereIsNoEnd() {
    LearntPopularity learnt =
        new LearntPopularity(new double[] {0, 10, 20, 30}, new double[] {1, 0.1, 0.1, 0.1});
    assertEquals(Double.POSITIVE_INFINITY, learnt.keys());
    assertEquals(7.5 + 0.1 * 970, learnt.unique(1_000), 1e-9);
    assertEquals(1_000, learnt.uniqueInverse(7.5 + 0.1 * 970), 1e-6);
    assertTrue(learnt.sweptUnique(1_000) < learnt.unique(1_000) / 1.8);
  }

  @Test
  void whatCanNotBeIsRefused() {
    assertThrows(IllegalArgumentException.class, () -> new ReuseTimes(0, MEMORY));
    assertThrows(IllegalArgumentException.class, () -> new ReuseTimes(1L << 41, MEMORY));
    assertThrows(IllegalArgumentException.class, () -> new ReuseTimes(9, (64 << 10) - 1));
    assertThrows(IllegalArgumentException.class, () -> new ReuseTimes(9, 17 << 20));
    assertThrows(IllegalStateException.class, () -> new ReuseTimes(9, MEMORY).popularity());
  }

  @Test
  void keysOfLongAgoAreNewHoweverLongThatIs() {
    int keys = 10_000;
    long window = 1 << 20;
    long between = window / keys;
    for (long pause : new long[] {2 * window, 16 * window, 16 * window + window / 2}) {
      ReuseTimes times = new ReuseTimes(window, MEMORY, 1, 0, 0);
      for (int i = 0; i < 2 * keys; i++) {
        long written = i;
        long now = i % keys * between + (i < keys ? 0 : pause);
        times.write(hash(i % keys), now, () -> written);
      }
      LearntPopularity learnt = times.popularity(pause + window - 1, 2 * keys);
      assertEquals(keys, learnt.unique(keys), 1, "after " + pause);
    }
  }
}
