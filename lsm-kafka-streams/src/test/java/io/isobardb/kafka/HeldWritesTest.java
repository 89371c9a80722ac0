package io.isobardb.kafka;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class HeldWritesTest {
  @Test
  void theyAreThoseOfAMapAndNeverChange() {
    for (int seed = 0; seed < 60; seed++) {
      Random random = new Random(seed);
      boolean ascending = seed % 3 == 0;
      NavigableMap<byte[], byte[]> map = new TreeMap<>(Arrays::compareUnsigned);
      HeldWrites writes = HeldWrites.NONE;
      List<HeldWrites> moments = new ArrayList<>();
      List<NavigableMap<byte[], byte[]>> asMaps = new ArrayList<>();
      for (int i = 0; i < 200; i++) {
        byte[] key = ascending ? new byte[] {(byte) i} : key(random);
        byte[] value = {(byte) i};
        boolean isNew = map.put(key, value) == null;
        writes = writes.with(key, value, isNew);
        if (i % 50 == 7) {
          moments.add(writes);
          asMaps.add(new TreeMap<>(map));
        }
        assertSame(map.firstEntry(), writes.first());
        assertSame(map.lastEntry(), writes.last());
        byte[] probe = key(random);
        assertArrayEquals(map.get(probe), writes.get(probe));
        assertSame(map.ceilingEntry(probe), writes.after(probe, true));
        assertSame(map.higherEntry(probe), writes.after(probe, false));
        assertSame(map.lowerEntry(probe), writes.before(probe));
      }
      for (int i = 0; i < moments.size(); i++) {
        NavigableMap<byte[], byte[]> seen = new TreeMap<>(Arrays::compareUnsigned);
        moments.get(i).forEach(seen::put);
        assertEquals(asMaps.get(i).size(), moments.get(i).size());
        assertArrayEquals(asMaps.get(i).keySet().toArray(), seen.keySet().toArray());
        assertArrayEquals(asMaps.get(i).values().toArray(), seen.values().toArray());
      }
    }
  }

  private static byte[] key(Random random) {
    byte[] key = new byte[random.nextInt(3)];
    random.nextBytes(key);
    return key;
  }

  private static void assertSame(Map.Entry<byte[], byte[]> expected, HeldWrites.Entry found) {
    if (expected == null) {
      assertNull(found);
    } else {
      assertArrayEquals(expected.getKey(), found.key());
      assertArrayEquals(expected.getValue(), found.value());
    }
  }
}
