package io.isobardb.lsm.dataset;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.error.IsobarException;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class EntryKeyTest {
  private static final long SEED = Long.getLong("isobar.seed", 20_261_121L);

  private static byte[] random(SplittableRandom random) {
    byte[] bytes = new byte[random.nextInt(5)];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = new byte[] {0, 1, -1, -2, 'a'}[random.nextInt(5)];
    }
    return bytes;
  }

  @Test
  void entriesComeInTheOrderOfIndexKeyAndPrimaryKey() {
    SplittableRandom random = new SplittableRandom(SEED);
    for (int i = 0; i < 50_000; i++) {
      byte[] a = random(random);
      byte[] aKey = random(random);
      byte[] b = random(random);
      byte[] bKey = random(random);
      int expected = Arrays.compareUnsigned(a, b);
      if (expected == 0) {
        expected = Arrays.compareUnsigned(aKey, bKey);
      }
      int found = Arrays.compareUnsigned(EntryKey.of(a, aKey), EntryKey.of(b, bKey));
      assertEquals(
          Integer.signum(expected),
          Integer.signum(found),
          () ->
              String.join(
                  " ",
                  Arrays.toString(a),
                  Arrays.toString(aKey),
                  Arrays.toString(b),
                  Arrays.toString(bKey)));
      assertTrue(
          Arrays.compareUnsigned(EntryKey.start(a), EntryKey.of(b, bKey)) <= 0
              == Arrays.compareUnsigned(a, b) <= 0,
          "where an index key begins");
    }
  }

  @Test
  void bothKeysComeBack() {
    SplittableRandom random = new SplittableRandom(SEED);
    for (int i = 0; i < 10_000; i++) {
      byte[] indexKey = random(random);
      byte[] key = random(random);
      byte[] entry = EntryKey.of(indexKey, key);
      assertArrayEquals(indexKey, EntryKey.indexKey(entry));
      assertArrayEquals(key, EntryKey.primaryKey(entry));
    }
  }

  @Test
  void whatIsNoEntryIsRefused() {
    for (byte[] wrong : new byte[][] {{}, {0}, {'a'}, {'a', 0, 1}, {0, -1}, {'a', 0, -1, 0}}) {
      assertThrows(IsobarException.class, () -> EntryKey.primaryKey(wrong));
    }
  }
}
