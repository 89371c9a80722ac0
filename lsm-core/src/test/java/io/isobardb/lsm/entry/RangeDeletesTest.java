package io.isobardb.lsm.entry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.simulation.FallingOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Random range deletes, against a plain list of them. */
class RangeDeletesTest {
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

  private @Nullable RangeDelete some(SplittableRandom random, long lsn) {
    byte[] from = random.nextInt(12) == 0 ? null : key(random);
    byte[] to = random.nextInt(12) == 0 ? null : key(random);
    if (from != null && to != null && compare(from, to) >= 0) {
      return null;
    }
    return new RangeDelete(from, to, lsn);
  }

  @Test
  void whatCoversAKeyIsWhatAPlainListSays() {
    for (int seed = 0; seed < 200; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      order = seed % 3 == 0 ? FallingOrder.FALLING : KeyOrder.BYTES;
      plain.clear();
      RangeDeletes deletes = RangeDeletes.none(order);
      for (long lsn = 1; lsn < 40; lsn++) {
        RangeDelete delete = some(random, lsn);
        if (delete != null) {
          plain.add(delete);
          deletes = deletes.with(delete);
        }
        long upTo = random.nextLong(lsn + 1);
        agree(deletes, Long.MAX_VALUE, random, "seed " + seed);
        agree(RangeDeletes.of(order, plain), Long.MAX_VALUE, random, "of, seed " + seed);
        agree(RangeDeletes.of(order, deletes.list()), Long.MAX_VALUE, random, "list, seed " + seed);
        agree(deletes.upTo(upTo), upTo, random, "upTo, seed " + seed);
      }
      RangeDelete gone = some(random, 20);
      if (gone != null) {
        withoutAgrees(deletes, gone, random, "seed " + seed);
      }
    }
  }

  /**
   * @param upTo those up to this LSN should be there
   */
  private void agree(RangeDeletes deletes, long upTo, SplittableRandom random, String what) {
    RangeDeletes.Walk walk = new RangeDeletes.Walk(deletes);
    for (int i = 0; i < 12; i++) {
      byte[] key = key(random);
      long lsn = random.nextLong(42);
      long expected = 0;
      long after = 0;
      for (RangeDelete one : plain) {
        if (one.lsn() <= upTo && covers(one, key)) {
          expected = one.lsn() <= lsn ? one.lsn() : expected;
          after = one.lsn() > lsn && after == 0 ? one.lsn() : after;
        }
      }
      assertEquals(expected, deletes.covering(key, key.length, lsn), what);
      assertEquals(expected, deletes.covering(walk.segment(key, key.length), lsn), what);
      assertEquals(after, deletes.firstAfter(walk.segment(key, key.length), lsn), what);
    }
  }

  private void withoutAgrees(
      RangeDeletes deletes, RangeDelete gone, SplittableRandom random, String what) {
    RangeDeletes left = deletes.without(gone);
    for (int i = 0; i < 50; i++) {
      byte[] key = key(random);
      long before = deletes.covering(key, key.length, 100);
      boolean goes = covers(gone, key) && before <= gone.lsn();
      assertEquals(goes ? 0 : before, left.covering(key, key.length, 100), what);
    }
  }

  @Test
  void ofTwoTheOlderOneIsKeptForSnapshotsBetweenThemOnly() {
    RangeDeletes deletes =
        RangeDeletes.of(
            KeyOrder.BYTES,
            List.of(
                new RangeDelete(null, null, 10),
                new RangeDelete(null, null, 20),
                new RangeDelete(null, null, 30)));
    assertEquals(1, deletes.needed(new long[] {5, 40}, 30).list().size());
    assertEquals(2, deletes.needed(new long[] {15}, 30).list().size());
    assertEquals(2, deletes.needed(new long[0], 25).list().size());
    assertFalse(deletes.isEmpty());
  }

  @Test
  void aRangeThatEndsBeforeItBeginsIsRefused() {
    assertThrows(
        IllegalArgumentException.class,
        () -> RangeDelete.isEmpty(KeyOrder.BYTES, new byte[] {2}, new byte[] {1}));
  }
}
