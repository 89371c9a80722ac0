package io.isobardb.lsm.range;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.simulation.FallingOrder;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Random range deletes, against a plain list of them. */
class RangeDeletesTest {
  /** Lists that are held against a plain one; one in four of them is long. */
  private static final int SEEDS = Integer.getInteger("isobar.model.ranges", 12);

  private static final com.sun.management.ThreadMXBean THREADS =
      (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();

  private static final long MOST = Long.MAX_VALUE;

  private final List<RangeDelete> plain = new ArrayList<>();
  private KeyOrder order = KeyOrder.BYTES;

  /** Some with long common beginnings, some the beginning of others. */
  private static byte[] key(SplittableRandom random) {
    byte[] key = new byte[random.nextInt(random.nextBoolean() ? 3 : 14)];
    if (key.length > 0) {
      key[key.length - 1] = (byte) (random.nextInt(6) * 50);
      key[random.nextInt(key.length)] = (byte) random.nextInt(3);
    }
    return key;
  }

  private int compare(byte[] a, byte[] b) {
    return order.compare(a, 0, a.length, b, 0, b.length);
  }

  private boolean covers(RangeDelete delete, byte[] key) {
    byte[] from = delete.from();
    byte[] to = delete.to();
    return (from == null || compare(from, key) <= 0) && (to == null || compare(key, to) < 0);
  }

  /** Some random range, or in one of four lists mostly one key, so that there are many cuts. */
  private @Nullable RangeDelete some(SplittableRandom random, long lsn, boolean narrow) {
    byte[] key = key(random);
    if (narrow && random.nextInt(50) > 0) {
      byte[] next = Arrays.copyOf(key, key.length + 1);
      return compare(key, next) < 0
          ? new RangeDelete(key, next, lsn)
          : new RangeDelete(next, key, lsn);
    }
    byte[] from = random.nextInt(12) == 0 ? null : key;
    byte[] to = random.nextInt(12) == 0 ? null : key(random);
    if (from != null && to != null && compare(from, to) >= 0) {
      return null;
    }
    return new RangeDelete(from, to, lsn);
  }

  @Test
  void whatCoversAKeyIsWhatAPlainListSays() {
    for (int seed = 0; seed < SEEDS; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      order = seed % 3 == 0 ? FallingOrder.FALLING : KeyOrder.BYTES;
      plain.clear();
      RangeDeletes deletes = RangeDeletes.none(order);
      boolean many = seed % 4 == 0;
      for (long lsn : shuffled(random, many ? 400 : 40)) {
        RangeDelete delete = some(random, lsn, many);
        if (delete != null) {
          plain.add(delete);
          deletes = deletes.with(delete);
        }
        if (random.nextInt(many ? 100 : 10) < 3) {
          agree(deletes, random, "seed " + seed);
          agree(RangeDeletes.of(order, plain).newest(), MOST, random, "of, seed " + seed);
          agree(again(deletes, random.nextLong(42)), random, "list, seed " + seed);
        }
      }
      lookupsAgree(deletes.newest(), random, "seed " + seed);
      withoutAgrees(deletes, random, "seed " + seed);
      RangeDeletes.Readers some = (from, to) -> from % 3 == 0;
      withoutAgrees(deletes.needed(some, MOST, 400), random, "fewer moments, seed " + seed);
    }
  }

  /** LSNs from 1 on; neighbours change places as threads overtake each other. */
  private static long[] shuffled(SplittableRandom random, int count) {
    long[] lsns = LongStream.rangeClosed(1, count).toArray();
    for (int i = 3; i < count; i++) {
      int other = i - random.nextInt(4);
      long lsn = lsns[i];
      lsns[i] = lsns[other];
      lsns[other] = lsn;
    }
    return lsns;
  }

  /** What the manifest makes of two lists, the second one of what is newer, with all moments. */
  private RangeDeletes again(RangeDeletes deletes, long upTo) {
    RangeDeletes older = deletes.upTo(upTo);
    RangeDeletes.Readers all = (from, to) -> true;
    return RangeDeletes.none(order)
        .withAll(older.list(), all, MOST)
        .withAll(deletes.list(older.lastLsn()), all, MOST);
  }

  private void agree(RangeDeletes deletes, SplittableRandom random, String what) {
    for (int i = 0; i < 4; i++) {
      long lsn = random.nextLong(42);
      agree(deletes.at(lsn), lsn, random, what);
      byte[] key = key(random);
      assertEquals(plainly(key, lsn), deletes.covering(key, key.length, lsn), what);
    }
    agree(deletes.newest(), MOST, random, what);
  }

  private long plainly(byte[] key, long upTo) {
    return plain.stream()
        .filter(one -> one.lsn() <= upTo && covers(one, key))
        .mapToLong(RangeDelete::lsn)
        .max()
        .orElse(0);
  }

  /**
   * @param upTo those up to this LSN should be there
   */
  private void agree(Coverage coverage, long upTo, SplittableRandom random, String what) {
    Coverage.Walk walk = new Coverage.Walk(coverage);
    for (int i = 0; i < 6; i++) {
      byte[] key = key(random);
      long expected = plainly(key, upTo);
      assertEquals(expected, coverage.covering(key, key.length), what);
      assertEquals(expected, walk.covering(key, key.length), what);
      byte[] other = key(random);
      if (compare(key, other) > 0) {
        byte[] swapped = key;
        key = other;
        other = swapped;
      }
      agree(coverage, key, other, what);
    }
  }

  /** What is said of all segments from one key to another one, against a walk through them. */
  private void agree(Coverage coverage, byte[] from, byte[] to, String what) {
    long min = Long.MAX_VALUE;
    long max = 0;
    Coverage.Segment segment = coverage.segment(from, from.length);
    boolean gap = segment.lsn() == 0;
    long oldest = segment.lsn();
    byte[] high = segment.high();
    Coverage.Segment newer = segment.lsn() > 20 ? segment : null;
    while (true) {
      boolean isWithin = segment.low() == null || compare(segment.low(), to) <= 0;
      min = isWithin ? Math.min(min, segment.lsn()) : min;
      max = isWithin ? Math.max(max, segment.lsn()) : max;
      gap |= segment.lsn() == 0;
      high = gap ? high : segment.high();
      oldest = gap ? oldest : Math.min(oldest, segment.lsn());
      newer = newer == null && segment.lsn() > 20 ? segment : newer;
      if (segment.high() == null) {
        break;
      }
      segment = coverage.segment(segment.high(), segment.high().length);
    }
    assertEquals(min, coverage.min(from, to), what);
    assertEquals(max, coverage.max(from, to), what);
    Coverage.Segment covered = coverage.coveredFrom(from, from.length);
    assertEquals(coverage.covering(from, from.length) == 0, covered == null, what);
    if (covered != null) {
      assertArrayEquals(high, covered.high(), what);
      assertEquals(oldest, covered.lsn(), what);
    }
    Coverage.Segment found = coverage.firstNewer(from, 20);
    assertEquals(newer == null, found == null, what);
    if (newer != null && found != null) {
      byte[] low = newer.low();
      assertArrayEquals(low == null || compare(low, from) < 0 ? from : low, found.low(), what);
    }
    Coverage.Segment back = coverage.coveredTo(to, to.length);
    assertEquals(coverage.covering(to, to.length) == 0, back == null, what);
    if (back != null) {
      byte[] low = back.low();
      assertEquals(0, low == null ? 0 : lsnBefore(coverage, low), what);
      if (low != null) {
        assertEquals(coverage.min(low, to), back.lsn(), what);
      }
    }
  }

  /** Enough for an index. */
  private void lookupsAgree(Coverage coverage, SplittableRandom random, String what) {
    for (int i = 0; i < 300; i++) {
      byte[] key = key(random);
      assertEquals(plainly(key, MOST), coverage.covering(key, key.length), what);
    }
  }

  private static long lsnBefore(Coverage coverage, byte[] bound) {
    return coverage.segments().stream()
        .filter(segment -> Arrays.equals(segment.high(), bound))
        .mapToLong(Coverage.Segment::lsn)
        .findFirst()
        .orElse(0);
  }

  private void withoutAgrees(RangeDeletes deletes, SplittableRandom random, String what) {
    List<RangeDelete> gone = new ArrayList<>();
    long upTo = random.nextBoolean() ? 42 : 12;
    for (RangeDelete one : RangeDeletes.of(order, plain).list()) {
      boolean isBehind = gone.isEmpty() || isBehind(one, gone.get(gone.size() - 1));
      if (random.nextBoolean() && isBehind) {
        gone.add(new RangeDelete(one.from(), one.to(), random.nextLong(1, upTo)));
      }
    }
    RangeDeletes left = deletes.without(gone);
    for (int i = 0; i < 100; i++) {
      byte[] key = key(random);
      for (long lsn : new long[] {MOST, random.nextLong(42)}) {
        long before = deletes.at(lsn).covering(key, key.length);
        boolean goes = gone.stream().anyMatch(one -> covers(one, key) && before <= one.lsn());
        assertEquals(goes ? 0 : before, left.at(lsn).covering(key, key.length), what);
        Coverage again = again(left, random.nextLong(42)).at(left.momentAt(lsn));
        assertEquals(goes ? 0 : before, again.covering(key, key.length), what);
      }
    }
  }

  private boolean isBehind(RangeDelete one, RangeDelete other) {
    byte[] from = one.from();
    byte[] to = other.to();
    return from != null && to != null && compare(from, to) >= 0;
  }

  @Test
  void ofTwoTheOlderOneIsKeptForReadersBetweenThemOnly() {
    RangeDeletes deletes = RangeDeletes.none(KeyOrder.BYTES);
    for (long lsn = 10; lsn <= 30; lsn += 10) {
      deletes = deletes.with(new RangeDelete(null, null, lsn));
    }
    assertEquals(1, deletes.needed(at(5, 40), 30, 3).list().size());
    assertEquals(2, deletes.needed(at(15), 30, 3).list().size());
    assertEquals(2, deletes.needed(at(), 25, 3).list().size());
    assertEquals(10, deletes.needed(at(15), 30, 3).at(19).newestLsn());
    assertFalse(deletes.isEmpty());
  }

  private static RangeDeletes.Readers at(long... lsns) {
    return (from, to) -> LongStream.of(lsns).anyMatch(lsn -> lsn >= from && lsn < to);
  }

  /** As many as were written, of which none lies within the others. */
  @Test
  void aRangeDeleteThatSurroundsNewerOnesIsListedOnce() {
    List<RangeDelete> nested = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      nested.add(new RangeDelete(new byte[] {(byte) i}, new byte[] {(byte) (255 - i)}, i + 1));
    }
    assertEquals(100, RangeDeletes.of(KeyOrder.BYTES, nested).list().size());
  }

  @Test
  void aRangeThatEndsBeforeItBeginsIsRefused() {
    assertThrows(
        IllegalArgumentException.class,
        () -> RangeDelete.isEmpty(KeyOrder.BYTES, new byte[] {2}, new byte[] {1}));
  }

  /** So it is with a snapshot before each. */
  @Test
  void oneMoreBesideManyMomentsCostsNoMoreThanBesideFew() {
    bytesOfMoments(2_000);
    double few = bytesOfMoments(2_000);
    double more = bytesOfMoments(8_000);
    assertTrue(more < 5 * few, few + " bytes, then " + more);
  }

  private static long bytesOfMoments(int count) {
    long before = THREADS.getCurrentThreadAllocatedBytes();
    RangeDeletes deletes = RangeDeletes.none(KeyOrder.BYTES);
    for (int i = 1; i <= count; i++) {
      byte[] from = number(i % 50);
      deletes =
          deletes
              .with(new RangeDelete(from, number(i % 50 + 10), i))
              .needed((low, high) -> true, i, 4);
      assertEquals(i / 2, deletes.momentAt(i / 2));
      assertEquals(1, deletes.list(i - 1).size());
    }
    assertEquals(count, deletes.moments());
    return THREADS.getCurrentThreadAllocatedBytes() - before;
  }

  /** Half of them hide nothing for the first reader, and others read later. */
  @Test
  void leavingOutManyBesideManyMomentsTakesNoLongerForEach() {
    bytesToLeaveOut(250);
    double few = bytesToLeaveOut(250);
    double more = bytesToLeaveOut(1_000);
    assertTrue(more < 5 * few, few + " bytes, then " + more);
  }

  private static long bytesToLeaveOut(int count) {
    List<RangeDelete> old = new ArrayList<>();
    for (int i = 1; i <= count; i++) {
      old.add(new RangeDelete(number(10 * i), number(10 * i + 5), i));
    }
    RangeDeletes deletes = RangeDeletes.of(KeyOrder.BYTES, old);
    for (int i = 1; i <= count; i++) {
      deletes = deletes.with(new RangeDelete(number(10 * i + 3), number(10 * i + 8), count + i));
    }
    List<RangeDelete> gone = old.stream().filter(one -> one.lsn() % 2 == 0).toList();
    long before = THREADS.getCurrentThreadAllocatedBytes();
    RangeDeletes left = deletes.without(gone);
    long bytes = THREADS.getCurrentThreadAllocatedBytes() - before;
    assertEquals(deletes.moments(), left.moments());
    assertEquals(count / 2, left.at(count).list().size());
    assertEquals(count / 2 + count, left.newest().list().size());
    return bytes;
  }

  private static byte[] number(int i) {
    return ByteBuffer.allocate(4).putInt(i).array();
  }
}
