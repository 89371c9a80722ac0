package io.isobardb.lsm.version;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.sstable.SSTableMeta;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class LevelTest {
  static final KeyOrder REVERSED =
      new KeyOrder() {
        @Override
        public String name() {
          return "reversed";
        }

        @Override
        public int compare(byte[] a, int aOff, int aLen, byte[] b, int bOff, int bLen) {
          return KeyOrder.BYTES.compare(b, bOff, bLen, a, aOff, aLen);
        }
      };

  @Test
  void searchesFindWhatALinearSearchFinds() {
    for (long seed = 0; seed < 300; seed++) {
      KeyOrder order = seed % 3 == 0 ? REVERSED : KeyOrder.BYTES;
      SplittableRandom random = new SplittableRandom(seed);
      String prefix = "p".repeat(random.nextInt(12));
      List<byte[]> keys = keys(random, prefix, order);
      List<SSTableMeta> tables = new ArrayList<>();
      for (int i = 0; i + 1 < keys.size(); i += 2) {
        boolean single = random.nextInt(4) == 0;
        byte[] max = single ? keys.get(i) : keys.get(i + 1);
        tables.add(Tables.table(1, i + 1, keys.get(i), max, 10, 1, 0));
      }
      Level<SSTableMeta> level = Level.of(shuffled(tables, random), order);
      List<byte[]> probes = new ArrayList<>(keys);
      probes.addAll(keys(random, prefix, order));
      probes.addAll(keys(random, "", order));
      for (byte[] key : probes) {
        check(level, tables, order, key, "seed " + seed);
      }
    }
  }

  private static void check(
      Level<SSTableMeta> level, List<SSTableMeta> tables, KeyOrder order, byte[] key, String seed) {
    int find = -1;
    int from = 0;
    for (int i = 0; i < tables.size(); i++) {
      boolean starts = Level.compare(order, tables.get(i).minKey(), key) <= 0;
      boolean ends = Level.compare(order, tables.get(i).maxKey(), key) < 0;
      find = starts && !ends ? i : find;
      from = ends ? i + 1 : from;
    }
    byte[] shifted = new byte[key.length + 5];
    System.arraycopy(key, 0, shifted, 3, key.length);
    assertEquals(find, level.find(shifted, 3, key.length), seed);
    assertEquals(from, level.from(shifted, 3, key.length), seed);
    List<SSTableMeta> overlapping =
        tables.stream()
            .filter(t -> Level.compare(order, t.minKey(), key) <= 0)
            .filter(t -> Level.compare(order, t.maxKey(), key) >= 0)
            .toList();
    assertEquals(overlapping, level.overlapping(key, key), seed);
    assertEquals(!overlapping.isEmpty(), level.overlaps(key, key), seed);
  }

  /** Distinct keys in order, with many that share their heads. */
  private static List<byte[]> keys(SplittableRandom random, String prefix, KeyOrder order) {
    TreeSet<byte[]> keys = new TreeSet<>((a, b) -> Level.compare(order, a, b));
    int count = random.nextInt(1, 40);
    for (int i = 0; i < count; i++) {
      byte[] tail = new byte[random.nextInt(12)];
      for (int j = 0; j < tail.length; j++) {
        int kind = random.nextInt(3);
        tail[j] = (byte) (kind == 0 ? 0 : kind == 1 ? 255 : random.nextInt());
      }
      byte[] key = new byte[prefix.length() + tail.length];
      System.arraycopy(Tables.bytes(prefix), 0, key, 0, prefix.length());
      System.arraycopy(tail, 0, key, prefix.length(), tail.length);
      keys.add(key);
    }
    return new ArrayList<>(keys);
  }

  private static List<SSTableMeta> shuffled(List<SSTableMeta> tables, SplittableRandom random) {
    List<SSTableMeta> shuffled = new ArrayList<>(tables);
    for (int i = shuffled.size() - 1; i > 0; i--) {
      shuffled.set(i, shuffled.set(random.nextInt(i + 1), shuffled.get(i)));
    }
    return shuffled;
  }

  @Test
  void overlappingOrReversedSSTablesAreRefused() {
    SSTableMeta a = Tables.table(1, "a", "c", 10);
    SSTableMeta b = Tables.table(2, "c", "d", 10);
    SSTableMeta reversed = Tables.table(3, "z", "y", 10);
    assertThrows(IllegalArgumentException.class, () -> Level.of(List.of(b, a), KeyOrder.BYTES));
    assertThrows(IllegalArgumentException.class, () -> Level.of(List.of(reversed), KeyOrder.BYTES));
  }
}
