package io.isobardb.lsm.state;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.component.ActiveTree;
import io.isobardb.lsm.component.GivenVisibility;
import io.isobardb.lsm.component.Visibility;
import io.isobardb.lsm.component.Write;
import io.isobardb.lsm.entry.EntryCursor;
import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.entry.MergingCursor;
import io.isobardb.lsm.entry.Moment;
import io.isobardb.lsm.entry.Stretch;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.memory.cache.Access;
import io.isobardb.memory.pool.PagePool;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A sealed active SSTable of which ranges are taken one after another. */
class RunTest {
  private static final int KEYS = 1000;
  private static final int PAGE = 4096;
  private static final int VALUE = 100;
  private static final Visibility ALL = GivenVisibility.ofAll();

  private final PagePool pool = new PagePool(4 << 20, PAGE);
  private final ActiveTree content = tree();
  private final List<Integer> left = new ArrayList<>(IntStream.range(0, KEYS).boxed().toList());
  private Run run = Run.of(KeyOrder.BYTES, new Table.Active(content, new Table.StartLsn(1)));
  private long freed;

  @AfterEach
  void close() {
    content.free();
  }

  private static byte[] key(int i) {
    return String.format("key%06d", i).getBytes(UTF_8);
  }

  private ActiveTree tree() {
    ActiveTree tree = new ActiveTree(pool, KeyOrder.BYTES, 1 << 20);
    for (int i = 0; i < KEYS; i++) {
      byte[] key = key(i);
      Write write = new Write().of(Kind.PUT, key, 0, key.length);
      tree.put(write.value(new byte[VALUE], 0, VALUE).at(8L * (i + 1)).hashed(), ALL);
    }
    tree.sealedAt(8L * (KEYS + 1));
    return tree;
  }

  /** Takes the keys from {@code from} up to {@code to}, without that. */
  private void take(int from, int to) {
    Range taken = new Range(from == 0 ? null : key(from - 1), to == KEYS ? null : key(to - 1));
    List<Runnable> cleanups = run.cleanups(taken, bytes -> freed += bytes);
    Run rest = run.without(taken);
    assertNotNull(rest);
    run = rest;
    cleanups.forEach(Runnable::run);
    left.removeIf(i -> i >= from && i < to);
    long needed = (long) left.size() * VALUE;
    assertTrue(content.bytesUsed() >= needed, "leaves were freed that pieces need");
  }

  private List<Integer> entries() {
    List<Integer> entries = new ArrayList<>();
    EntryCursor cursor =
        new RunCursor(KeyOrder.BYTES, run, table -> table.cursor(Access.MERGE, Long.MAX_VALUE));
    for (boolean more = cursor.first(); more; more = cursor.next()) {
      entries.add(number(cursor));
    }
    cursor.close();
    assertEquals(entries, entriesByStretches());
    return entries;
  }

  private List<Integer> entriesByStretches() {
    List<Integer> entries = new ArrayList<>();
    EntryCursor pieces =
        new RunCursor(KeyOrder.BYTES, run, table -> table.cursor(Access.MERGE, Long.MAX_VALUE));
    Stretch stretch = new Stretch(KeyOrder.BYTES, Moment.at(Long.MAX_VALUE, 0));
    try (MergingCursor cursor = new MergingCursor(KeyOrder.BYTES, new EntryCursor[] {pieces})) {
      for (boolean more = cursor.first(); more; more = cursor.next()) {
        entries.add(number(cursor));
        stretch.begin();
        cursor.end(stretch);
        while (cursor.nextWithin(stretch)) {
          entries.add(number(cursor));
        }
      }
    }
    return entries;
  }

  private static int number(EntryCursor cursor) {
    String key = new String(Arrays.copyOf(cursor.key(), cursor.keyLength()), UTF_8);
    return Integer.parseInt(key.substring(3));
  }

  @Test
  void aLeafGoesOnceNoPieceNeedsItHoweverManyRangesItReachesInto() {
    long before = content.bytesUsed();
    for (int from = 0; from < KEYS - 10; from += 3) {
      take(from, from + 3);
    }
    assertEquals(left, entries());
    assertEquals(before - content.bytesUsed(), freed);
    // Its inner nodes, its filter, and a leaf or two remain.
    assertTrue(content.bytesUsed() < before / 4, content.bytesUsed() + " of " + before);
  }

  @Test
  void whatIsLeftCanBeReadWhateverWasTaken() {
    for (long seed = 1; seed <= 20; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      RunTest fresh = new RunTest();
      for (int i = 0; i < 30; i++) {
        int from = random.nextInt(KEYS - 30);
        fresh.take(from, from + 1 + random.nextInt(29));
        assertEquals(fresh.left, fresh.entries(), "seed " + seed);
      }
      fresh.close();
    }
  }
}
