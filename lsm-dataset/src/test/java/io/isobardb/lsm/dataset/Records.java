package io.isobardb.lsm.dataset;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * Records for tests: some tags, which are awkward byte strings, and a number, which may be missing;
 * and what an index must give, by looking at all records.
 */
final class Records {
  /** No number. */
  static final int NONE = 255;

  private static final byte[][] TAGS = {
    {},
    {0},
    {0, 0},
    {0, 1},
    {0, -1},
    {-1},
    {-1, -1},
    {1},
    {1, 0},
    {'a'},
    {'a', 0},
    {'a', 0, -1},
    {'a', -1},
    {'b'}
  };

  private Records() {}

  static byte[] of(int number, byte[]... tags) {
    ByteArrayOutputStream value = new ByteArrayOutputStream();
    value.write(number);
    for (byte[] tag : tags) {
      value.write(tag.length);
      value.writeBytes(tag);
    }
    return value.toByteArray();
  }

  static byte[] random(SplittableRandom random, int numbers) {
    byte[][] tags = new byte[random.nextInt(4)][];
    Arrays.setAll(tags, i -> tag(random));
    return of(random.nextInt(3) == 0 ? NONE : random.nextInt(numbers), tags);
  }

  static byte[] tag(SplittableRandom random) {
    return TAGS[random.nextInt(TAGS.length)];
  }

  static byte[] key(SplittableRandom random) {
    byte[] tag = tag(random);
    byte[] key = Arrays.copyOf(tag, tag.length + 1);
    key[tag.length] = (byte) random.nextInt(6);
    return key;
  }

  static Collection<byte[]> tags(byte[] value) {
    List<byte[]> tags = new ArrayList<>();
    for (int i = 1; i < value.length; i += 1 + value[i]) {
      tags.add(Arrays.copyOfRange(value, i + 1, i + 1 + value[i]));
    }
    return tags;
  }

  static Collection<byte[]> number(byte[] value) {
    return (value[0] & 255) == NONE ? List.of() : List.of(new byte[] {value[0]});
  }

  static Index tagIndex(String name, Maintenance maintenance) {
    return Index.builder(name).key((key, value) -> tags(value)).maintenance(maintenance).build();
  }

  static Index numberIndex(String name, Maintenance maintenance) {
    return Index.builder(name)
        .key((key, value) -> number(value))
        .unique(true)
        .maintenance(maintenance)
        .build();
  }

  static SortedMap<byte[], byte[]> newModel() {
    return new TreeMap<>(Arrays::compareUnsigned);
  }

  /** All that an index leads to, in order, from a look at each record. */
  static List<IndexEntry> entries(Index index, Map<byte[], byte[]> records) {
    List<IndexEntry> entries = new ArrayList<>();
    records.forEach(
        (key, value) -> {
          TreeMap<byte[], byte[]> keys = new TreeMap<>(Arrays::compareUnsigned);
          index.extractor().keys(key, value).forEach(indexKey -> keys.put(indexKey, indexKey));
          keys.keySet().forEach(indexKey -> entries.add(new IndexEntry(indexKey, key, value)));
        });
    entries.sort(
        (a, b) -> {
          int c = Arrays.compareUnsigned(a.indexKey(), b.indexKey());
          return c != 0 ? c : Arrays.compareUnsigned(a.key(), b.key());
        });
    return entries;
  }

  /** All that a cursor gives, forward. */
  static List<IndexEntry> forward(IndexCursor cursor) {
    List<IndexEntry> entries = new ArrayList<>();
    for (boolean more = cursor.first(); more; more = cursor.next()) {
      entries.add(new IndexEntry(cursor.indexKey(), cursor.key(), cursor.value()));
    }
    return entries;
  }

  /** All that a cursor gives from its end on, in the order of the index. */
  static List<IndexEntry> backward(IndexCursor cursor) {
    List<IndexEntry> entries = new ArrayList<>();
    for (boolean more = cursor.last(); more; more = cursor.previous()) {
      entries.add(0, new IndexEntry(cursor.indexKey(), cursor.key(), cursor.value()));
    }
    return entries;
  }
}
