package io.isobardb.lsm.component;

import io.isobardb.lsm.entry.EntryCursor;
import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.entry.LeafCursor;
import io.isobardb.lsm.entry.VersionFilter;
import io.isobardb.lsm.expiry.Expiry;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.range.RangeDelete;
import io.isobardb.lsm.range.RangeDeletes;
import io.isobardb.lsm.version.GoldenFile;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Which versions of a key stay: in a leaf that is written to, and in a merge. */
@Tag("any-jdk")
class StayingVersionsTest {
  private static final byte[] KEY = "key".getBytes();
  private static final int PAGE = 4096;

  /** A version as the file has it: its LSN, then d for a delete, m for an operand, and x TIME. */
  private record Entry(String text, long lsn, int kind, long expiry) {
    static Entry of(String text) {
      String[] parts = text.split("x");
      String lsn = parts[0].replaceAll("[dm]", "");
      int kind = Kind.PUT;
      if (!lsn.equals(parts[0])) {
        kind = parts[0].endsWith("d") ? Kind.DELETE : Kind.MERGE;
      }
      long expiry = parts.length == 1 ? Expiry.NEVER : Long.parseLong(parts[1]);
      return new Entry(text, Long.parseLong(lsn), kind, expiry);
    }

    Write write() {
      byte[] value = kind == Kind.DELETE ? new byte[0] : new byte[8];
      return new Write()
          .of(kind, KEY, 0, KEY.length)
          .value(value, 0, value.length)
          .expiring(expiry)
          .at(lsn)
          .hashed();
    }
  }

  @Test
  void choicesAreAsReviewed() throws IOException {
    GoldenFile.check(StayingVersionsTest.class, "staying-versions.txt", StayingVersionsTest::ask);
  }

  private static String ask(List<String> lines) {
    List<Entry> versions = List.of();
    List<String> answers = new ArrayList<>();
    for (String line : lines) {
      String[] words = line.split("\\s+");
      if (words[0].equals("versions")) {
        versions = Arrays.stream(words).skip(1).map(Entry::of).toList();
        continue;
      }
      Map<String, String> given = new HashMap<>();
      for (int i = 1; i < words.length; i++) {
        String[] parts = words[i].split("=");
        given.put(parts[0], parts.length == 1 ? "" : parts[1]);
      }
      List<Long> left =
          switch (words[0]) {
            case "write" -> written(versions, given);
            case "room" -> withoutRoom(versions, given);
            case "merge" -> merged(versions, given);
            default -> throw new IllegalArgumentException(line);
          };
      Stream<String> stay =
          versions.stream().map(one -> left.contains(one.lsn()) ? one.text() : "-");
      answers.add(words[0] + "  " + stay.collect(Collectors.joining(" ")));
    }
    return String.join("\n", answers);
  }

  private static GivenVisibility visibility(Map<String, String> given) {
    GivenVisibility visibility = GivenVisibility.upTo(number(given, "visible", 0));
    visibility.newestSnapshot = number(given, "snapshot", -1);
    return visibility;
  }

  private static long number(Map<String, String> given, String name, long absent) {
    return given.containsKey(name) ? Long.parseLong(given.get(name)) : absent;
  }

  /** What a leaf has left once a version is written beside the others: the newest, or another. */
  private static List<Long> written(List<Entry> versions, Map<String, String> given) {
    long last = number(given, "last", versions.get(0).lsn());
    try (PagePool pool = new PagePool(1 << 20, PAGE, true)) {
      ActiveTree tree = new ActiveTree(pool, KeyOrder.BYTES, 1 << 20);
      for (Entry one : versions) {
        if (one.lsn() != last) {
          tree.put(one.write(), GivenVisibility.upTo(0));
        }
      }
      for (Entry one : versions) {
        if (one.lsn() == last) {
          tree.put(one.write(), visibility(given));
        }
      }
      return left(tree);
    }
  }

  /** What a leaf has left once another key wanted more room than there was. */
  private static List<Long> withoutRoom(List<Entry> versions, Map<String, String> given) {
    try (PagePool pool = new PagePool(1 << 20, PAGE, true)) {
      ActiveTree tree = new ActiveTree(pool, KeyOrder.BYTES, 1 << 20);
      versions.forEach(one -> tree.put(one.write(), GivenVisibility.upTo(0)));
      byte[] value = new byte[200];
      for (int i = 0; tree.bytesUsed() == PAGE; i++) {
        byte[] key = ("other" + i).getBytes();
        Write other = new Write().of(Kind.PUT, key, 0, key.length).value(value, 0, value.length);
        tree.put(other.at(1000 + 8 * i).hashed(), visibility(given));
      }
      return left(tree);
    }
  }

  private static List<Long> left(ActiveTree tree) {
    List<Long> left = new ArrayList<>();
    try (EntryCursor cursor = tree.cursor(Purpose.CURSOR, null, null, Long.MAX_VALUE)) {
      boolean there = cursor.seek(KEY, 0, KEY.length, Long.MAX_VALUE);
      while (there && Arrays.equals(cursor.key(), 0, cursor.keyLength(), KEY, 0, KEY.length)) {
        left.add(cursor.lsn());
        there = cursor.next();
      }
    }
    tree.free();
    return left;
  }

  /** What a merge keeps; with {@code deletes=LSN,...} range deletes cover the key. */
  private static List<Long> merged(List<Entry> versions, Map<String, String> given) {
    RangeDeletes deletes = RangeDeletes.none(KeyOrder.BYTES);
    for (long lsn : numbers(given, "deletes")) {
      deletes = deletes.with(new RangeDelete(KEY, null, lsn));
    }
    VersionFilter filter =
        new VersionFilter(
            KeyOrder.BYTES,
            numbers(given, "snapshots"),
            deletes,
            number(given, "settled", Long.MAX_VALUE),
            number(given, "expired", 0));
    List<Long> left = new ArrayList<>();
    try (PagePool pool = new PagePool(1 << 20, PAGE, true)) {
      ActiveTree tree = new ActiveTree(pool, KeyOrder.BYTES, 1 << 20);
      versions.forEach(one -> tree.put(one.write(), GivenVisibility.upTo(0)));
      try (EntryCursor cursor = tree.cursor(Purpose.CURSOR, null, null, Long.MAX_VALUE)) {
        for (boolean there = cursor.first(); there; there = cursor.next()) {
          LeafCursor entry = cursor.leaf();
          if (filter.keep(entry, given.containsKey("bottom"))) {
            left.add(entry.lsn());
          }
        }
      }
      tree.free();
    }
    return left;
  }

  private static long[] numbers(Map<String, String> given, String name) {
    return given.containsKey(name)
        ? Arrays.stream(given.get(name).split(",")).mapToLong(Long::parseLong).toArray()
        : new long[0];
  }
}
