package io.isobardb.lsm.range;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.option.KeyOrder;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** When range deletes that hide nothing go, and what the manifest gets. */
class SavedRangesTest {
  private static final int MANY = 1_000;

  private static byte[] key(int i) {
    return ByteBuffer.allocate(4).putInt(i).array();
  }

  /** One of some that do not meet. */
  private static RangeDelete one(int i) {
    return new RangeDelete(key(10 * i), key(10 * i + 5), i + 1);
  }

  private static List<RangeDelete> some(int from, int to) {
    List<RangeDelete> some = new ArrayList<>();
    for (int i = from; i < to; i++) {
      some.add(one(i));
    }
    return some;
  }

  private static String text(int from, int to) {
    return some(from, to).toString();
  }

  private static RangeDeletes of(List<RangeDelete> deletes) {
    return RangeDeletes.of(KeyOrder.BYTES, deletes);
  }

  private static SavedRanges saved(int count) {
    return SavedRanges.of(of(some(0, count)), count);
  }

  @Test
  void fewThatHideNothingGoAtOnce() {
    SavedRanges ranges = saved(20);
    SavedRanges.Change change = ranges.change(ranges.deletes(), some(3, 4), Long.MAX_VALUE);
    assertTrue(change.anew());
    assertEquals(text(3, 4), change.gone().toString());
    assertEquals(19, change.records().size());
    assertEquals(19, change.after().records());
  }

  /** Each merge makes a few needless, which it alone knows of. */
  @Test
  void ofManyThoseGoTogetherThatHaveComeToNothingOneByOne() {
    SavedRanges ranges = saved(MANY);
    int written = 0;
    int gone = 0;
    for (int i = 0; i < MANY; i++) {
      SavedRanges.Change change = ranges.change(ranges.deletes(), some(i, i + 1), Long.MAX_VALUE);
      assertEquals(change.anew(), !change.gone().isEmpty());
      written += change.records().size();
      gone += change.gone().size();
      ranges = change.after();
    }
    assertEquals(MANY, gone);
    assertTrue(ranges.deletes().isEmpty());
    assertTrue(written < 12 * MANY, written + " written");
  }

  @Test
  void whatAReplayMayBringStays() {
    SavedRanges ranges = saved(20);
    SavedRanges.Change change = ranges.change(ranges.deletes(), some(3, 9), 6);
    assertEquals(text(3, 5), change.gone().toString());
    // It goes later, though nobody says again that it may.
    change = change.after().change(change.after().deletes(), List.of(), 8);
    assertEquals(text(5, 7), change.gone().toString());
  }

  @Test
  void whatANewerOneCoversIsWrittenNoMore() {
    SavedRanges ranges = SavedRanges.none(KeyOrder.BYTES);
    int written = 0;
    for (int i = 1; i <= MANY; i++) {
      RangeDelete same = new RangeDelete(key(1), key(2), i);
      RangeDeletes all = of(List.of(same));
      SavedRanges.Change change = ranges.change(all, List.of(), Long.MAX_VALUE);
      written += change.records().size();
      ranges = change.after();
      assertTrue(ranges.records() <= 70, ranges.records() + " records");
      assertFalse(ranges.deletes().isEmpty());
    }
    assertTrue(written < 2 * MANY, written + " written");
  }
}
