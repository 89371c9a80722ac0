package io.isobardb.lsm.merge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.merge.MemoryLeveling.Item;
import io.isobardb.lsm.merge.MemoryMergeView.Room;
import io.isobardb.lsm.merge.MemoryMergeView.Runs;
import io.isobardb.lsm.merge.MemoryMergeView.Sizes;
import io.isobardb.lsm.merge.MemoryMerging.Neighbours;
import io.isobardb.lsm.policy.MemoryComponent;
import io.isobardb.lsm.version.GoldenFile;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class MemoryMergingTest {
  private static final long MB = 1 << 20;
  private static final long UNIT = 16 << 20;
  private static final long MERGED = UNIT * MemoryMerging.MANY;
  private static final long NEVER = 0;
  private static final long MUCH = Long.MAX_VALUE;

  private static @Nullable Neighbours choose(boolean full, long lostNanos, long... sizes) {
    return MemoryMerging.alike(sizes, 0, UNIT, full, Double.POSITIVE_INFINITY, lostNanos);
  }

  private static @Nullable Neighbours whenWanted(long mergedBytes, long... sizes) {
    return MemoryMerging.alike(sizes, mergedBytes, UNIT, true, 1, NEVER);
  }

  private static long[] units(int count) {
    long[] sizes = new long[count];
    Arrays.fill(sizes, UNIT);
    return sizes;
  }

  @Test
  void choicesAreAsReviewed() throws IOException {
    GoldenFile.check(MemoryMergingTest.class, "memory-merges.txt", MemoryMergingTest::ask);
  }

  private static String ask(List<String> lines) {
    StringBuilder answer = new StringBuilder();
    for (String line : lines) {
      String[] words = line.split("\\s+");
      Map<String, String> values = new HashMap<>();
      for (int i = 2; i < words.length; i++) {
        String[] parts = words[i].split("=");
        values.put(parts[0], parts.length == 1 ? "1" : parts[1]);
      }
      MemoryMerging rules = new MemoryMerging(MemoryComponent.valueOf(words[0]));
      MemoryMergeView view = view(values);
      MemoryMergeChoice choice =
          words[1].equals("idle") ? rules.chooseIdle(view) : rules.choose(view);
      answer.append(choice.action());
      if (choice.inputs() > 0) {
        answer.append("  ").append(choice.inputs()).append(" runs");
        answer.append(choice.table() >= 0 ? ", SSTable " + choice.table() + " of the first" : "");
        answer.append(choice.older() > 0 ? ", leaving " + choice.older() + " older" : "");
        long slice = choice.sliceBytes();
        answer.append(slice == Long.MAX_VALUE ? ", into one" : ", in slices of " + slice / MB);
      }
      answer.append('\n');
    }
    return answer.toString();
  }

  /** Sizes in MB, nanoseconds in ms; active SSTables of 4 MB, write memory of 128 MB. */
  private static MemoryMergeView view(Map<String, String> values) {
    String text = values.getOrDefault("runs", "");
    long[] frozen =
        text.isEmpty()
            ? new long[0]
            : Arrays.stream(text.split(",")).mapToLong(size -> Long.parseLong(size) * MB).toArray();
    long sealed = Arrays.stream(frozen).sum();
    Runs runs =
        new Runs(
            frozen,
            (int) number(values, "open", 0),
            number(values, "merged", 0) * MB,
            sealed + number(values, "active", 1) * MB,
            values.containsKey("index") ? number(values, "index", 0) * MB : sealed,
            levels(frozen, (int) number(values, "levels", 0)));
    return new MemoryMergeView(
        runs,
        values.containsKey("grown"),
        number(values, "lost", 0) * 1_000_000,
        number(values, "asked", 0) * 1_000_000,
        number(values, "scanned", 0) * 1_000_000,
        number(values, "markers", 0) * 1_000_000,
        values.containsKey("hoped"),
        new Sizes(4 * MB, 16 * MB, 8192),
        new Room(number(values, "used", 20) * MB, 128 * MB),
        !values.containsKey("flushed"));
  }

  /** The oldest runs, of an SSTable each. */
  private static List<List<Item>> levels(long[] frozen, int count) {
    List<List<Item>> levels = new ArrayList<>();
    for (int i = frozen.length - count; i < frozen.length; i++) {
      levels.add(List.of(new Item(frozen[i], i + 1 < frozen.length ? frozen[i + 1] : 0)));
    }
    return levels;
  }

  private static long number(Map<String, String> values, String name, long otherwise) {
    return values.containsKey(name) ? Long.parseLong(values.get(name)) : otherwise;
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
    assertTrue(MemoryMerging.paidFor(7 * UNIT + MERGED, price));
    assertFalse(MemoryMerging.paidFor(7 * UNIT + MERGED, price - 1));
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
