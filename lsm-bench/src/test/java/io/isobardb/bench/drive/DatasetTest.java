package io.isobardb.bench.drive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.Set;
import java.util.zip.Deflater;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DatasetTest {
  @ParameterizedTest
  @ValueSource(ints = {8, 11, 16, 40})
  void keysOfAllSizesDiffer(int keyBytes) {
    Dataset data = new Dataset(keyBytes, 100);
    Set<ByteBuffer> seen = new HashSet<>();
    for (int i = 0; i < 20_000; i++) {
      byte[] key = new byte[keyBytes];
      data.key(i, key);
      assertTrue(seen.add(ByteBuffer.wrap(key)), "record " + i);
      assertEquals(keyBytes >= 16 ? i : -1, data.record(key));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 15, 16, 17, 100, 5000})
  void aValueOfAnyVersionIsRightForItsRecordAlone(int valueBytes) {
    Dataset data = new Dataset(16, valueBytes);
    byte[] value = new byte[valueBytes];
    byte[] scratch = new byte[valueBytes];
    data.value(7, 3, value);
    data.check(7, value, valueBytes, scratch);
    data.value(7, 4, value);
    data.check(7, value, valueBytes, scratch);
    if (valueBytes > 0) {
      assertThrows(IllegalStateException.class, () -> data.check(8, value, valueBytes, scratch));
      value[valueBytes - 1] ^= 1;
      assertThrows(IllegalStateException.class, () -> data.check(7, value, valueBytes, scratch));
    }
  }

  @Test
  void valuesDoNotCompress() {
    byte[] value = new byte[64 << 10];
    new Dataset(16, value.length).value(1, 1, value);
    Deflater deflater = new Deflater();
    deflater.setInput(value);
    deflater.finish();
    int compressed = deflater.deflate(new byte[2 * value.length]);
    deflater.end();
    assertTrue(compressed > value.length * 0.98, compressed + " bytes");
  }
}
