package io.isobardb.ycsb;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;

class RecordCodecTest {
  private static Map<String, byte[]> randomFields(SplittableRandom random) {
    Map<String, byte[]> fields = new LinkedHashMap<>();
    int count = random.nextInt(12);
    for (int i = 0; i < count; i++) {
      String name =
          switch (random.nextInt(4)) {
            case 0 -> "fj\u00e4lt" + random.nextInt(5);
            case 1 -> "field" + (100 + random.nextInt(100));
            default -> "field" + random.nextInt(10);
          };
      byte[] value = new byte[random.nextInt(random.nextInt(10) == 0 ? 40_000 : 200)];
      random.nextBytes(value);
      fields.put(name, value);
    }
    return fields;
  }

  private static Map<String, ByteIterator> iterators(Map<String, byte[]> fields) {
    Map<String, ByteIterator> iterators = new LinkedHashMap<>();
    fields.forEach((name, value) -> iterators.put(name, new ByteArrayByteIterator(value)));
    return iterators;
  }

  private static void assertHolds(Map<String, byte[]> expected, byte[] record, int length) {
    Map<String, ByteIterator> found = new HashMap<>();
    RecordCodec.decode(record, length, null, found);
    assertEquals(expected.keySet(), found.keySet());
    expected.forEach((name, value) -> assertArrayEquals(value, found.get(name).toArray(), name));
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void fieldsComeBackAsTheyWereWrittenAndChanged(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = 0; i < 500; i++) {
      Map<String, byte[]> fields = randomFields(random);
      byte[] record = RecordCodec.encode(iterators(fields));
      assertHolds(fields, record, record.length);
      Map<String, byte[]> changes = randomFields(random);
      byte[] padded = Arrays.copyOf(record, record.length + 7);
      byte[] changed = RecordCodec.change(padded, record.length, iterators(changes));
      fields.putAll(changes);
      assertHolds(fields, changed, changed.length);
    }
  }

  @Test
  void onlyTheFieldsAskedForAreDecoded() {
    byte[] record =
        RecordCodec.encode(
            iterators(
                Map.of("field0", new byte[] {1}, "field1", new byte[] {2}, "x", new byte[0])));
    Map<String, ByteIterator> found = new HashMap<>();
    RecordCodec.decode(record, record.length, Set.of("field1", "x", "y"), found);
    assertEquals(Set.of("field1", "x"), found.keySet());
  }

  @Test
  void aRecordOfTenFieldsCostsTwentyBytesMoreThanItsValues() {
    Map<String, byte[]> fields = new HashMap<>();
    for (int i = 0; i < 10; i++) {
      fields.put("field" + i, new byte[100]);
    }
    assertEquals(1020, RecordCodec.encode(iterators(fields)).length);
  }
}
