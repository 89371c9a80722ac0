package io.isobardb.lsm.entry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.expiry.Expiry;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.simulation.FallingOrder;
import io.isobardb.memory.page.Memory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Sorted runs as one, compared with a sorted list of all their entries. */
class MergingCursorTest {
  private static final int HISTORIES = 300;

  private static final String[] PREFIXES = {"", "eightbyt", "eightbytes and more"};

  private record Entry(byte[] key, long lsn, int source, int kind) {}

  /** What a move has to come to, by which moves. */
  private enum Move {
    NEXT,
    NEXT_KEY,
    PREVIOUS,
    SEEK
  }

  private static final int PAGE_ENTRIES = 7;

  @Test
  void theNextKeyIsTheOneBehindAllVersionsWhereverTheyStand() {
    int passed = 0;
    for (int seed = 0; seed < HISTORIES; seed++) {
      passed += walk(new SplittableRandom(seed), seed % 5 == 0);
    }
    assertTrue(passed > 1_000, () -> "hardly any older version was passed");
  }

  /** Makes runs, and adds all their entries, sorted. */
  private static EntryCursor[] sources(SplittableRandom random, KeyOrder order, List<Entry> all) {
    Comparator<Entry> sorted =
        Comparator.<Entry, byte[]>comparing(
                Entry::key, (a, b) -> order.compare(a, 0, a.length, b, 0, b.length))
            .thenComparing(Comparator.comparingLong(Entry::lsn).reversed())
            .thenComparingInt(Entry::source);
    int runs = random.nextInt(1, 9);
    EntryCursor[] sources = new EntryCursor[runs];
    int keys = random.nextInt(1, 60);
    for (int run = 0; run < runs; run++) {
      List<Entry> own = new ArrayList<>();
      for (int i = random.nextInt(40); i > 0; i--) {
        long lsn = 8L * (100 * (runs - run) + i);
        int kind = random.nextInt(16) == 0 ? Kind.DELETE : Kind.PUT;
        own.add(new Entry(key(random.nextInt(keys)), lsn, run, kind));
      }
      own.sort(sorted);
      sources[run] = new Listed(own, order);
      all.addAll(own);
    }
    all.sort(sorted);
    return sources;
  }

  @Test
  void aStretchGoesFromRunToRunAndHasTheNewestSeenVersionOfEachKey() {
    int moved = 0;
    for (int seed = 0; seed < HISTORIES; seed++) {
      try {
        moved += walkByStretches(new SplittableRandom(seed), seed % 5 == 0);
      } catch (RuntimeException | Error e) {
        throw new AssertionError("seed " + seed, e);
      }
    }
    assertTrue(moved > 1_000, "hardly any change of runs within a stretch: " + moved);
  }

  /** Gives how often the entry behind came from another run. */
  private static int walkByStretches(SplittableRandom random, boolean falling) {
    KeyOrder order = falling ? FallingOrder.FALLING : KeyOrder.BYTES;
    List<Entry> all = new ArrayList<>();
    int changes = 0;
    try (MergingCursor cursor = new MergingCursor(order, sources(random, order, all))) {
      for (int walks = 0; walks < 30 && !all.isEmpty(); walks++) {
        int at = random.nextInt(all.size());
        Entry from = all.get(at);
        boolean isNewest = at == 0 || !isSame(order, from.key, all.get(at - 1).key);
        long seen =
            !isNewest
                ? from.lsn
                : from.lsn + random.nextLong(random.nextBoolean() ? 4_000 : 400_000);
        cursor.seek(from.key, 0, from.key.length, from.lsn);
        Stretch stretch = new Stretch(order, Moment.at(seen, 0));
        stretch.begin();
        cursor.end(stretch);
        while (stretch.isKnown() && cursor.nextWithin(stretch)) {
          int source = all.get(at).source;
          at = nextSeen(order, all, at, seen);
          check(all, at, true, cursor);
          assertEquals(Kind.PUT, cursor.kind());
          changes += cursor.source() != source ? 1 : 0;
        }
        check(all, at, true, cursor);
        at = nextSeen(order, all, at, seen);
        boolean more = cursor.nextKey();
        while (more && cursor.lsn() > seen) {
          more = cursor.next();
        }
        check(all, at, more, cursor);
      }
    }
    return changes;
  }

  /** The newest version that is seen of the key behind the one at {@code at}. */
  private static int nextSeen(KeyOrder order, List<Entry> all, int at, long seen) {
    int to = at + 1;
    while (to < all.size()
        && (isSame(order, all.get(at).key, all.get(to).key) || all.get(to).lsn > seen)) {
      to++;
    }
    return to;
  }

  private static int walk(SplittableRandom random, boolean falling) {
    KeyOrder order = falling ? FallingOrder.FALLING : KeyOrder.BYTES;
    List<Entry> all = new ArrayList<>();
    EntryCursor[] sources = sources(random, order, all);
    int passed = 0;
    try (MergingCursor cursor = new MergingCursor(order, sources)) {
      int at = 0;
      check(all, at, cursor.first(), cursor);
      for (int moves = 0; moves < 100 && at >= 0 && at < all.size(); moves++) {
        Move move = Move.values()[random.nextInt(Move.values().length)];
        boolean valid =
            switch (move) {
              case NEXT -> cursor.next();
              case NEXT_KEY -> cursor.nextKey();
              case PREVIOUS -> cursor.previous();
              case SEEK -> {
                Entry to = all.get(random.nextInt(all.size()));
                at = all.indexOf(to);
                yield cursor.seek(to.key, 0, to.key.length, to.lsn);
              }
            };
        switch (move) {
          case NEXT -> at++;
          case NEXT_KEY -> {
            byte[] from = all.get(at++).key;
            for (; at < all.size() && isSame(order, from, all.get(at).key); at++) {
              passed++;
            }
          }
          case PREVIOUS -> at--;
          case SEEK -> {}
        }
        check(all, at, valid, cursor);
      }
    }
    return passed;
  }

  private static boolean isSame(KeyOrder order, byte[] a, byte[] b) {
    return order.compare(a, 0, a.length, b, 0, b.length) == 0;
  }

  private static byte[] key(int number) {
    return (PREFIXES[number % PREFIXES.length] + Integer.toString(number, 36)).getBytes();
  }

  private static void check(List<Entry> all, int at, boolean valid, MergingCursor cursor) {
    assertEquals(at >= 0 && at < all.size(), valid);
    assertEquals(valid, cursor.valid());
    if (valid) {
      Entry expected = all.get(at);
      assertEquals(new String(expected.key), new String(cursor.key(), 0, cursor.keyLength()));
      assertEquals(expected.lsn, cursor.lsn());
      assertEquals(expected.source, cursor.source());
    }
  }

  /** A run that has all its entries at hand, without values; seven are a page. */
  private static final class Listed extends LeafCursor {
    private final List<Entry> entries;
    private final KeyOrder order;
    private int at = -1;

    Listed(List<Entry> entries, KeyOrder order) {
      this.entries = entries;
      this.order = order;
    }

    private boolean stand(int to) {
      at = to < entries.size() ? to : -1;
      if (at >= 0) {
        Entry entry = entries.get(at);
        System.arraycopy(entry.key, 0, key, 0, entry.key.length);
        entry(entry.key.length, entry.lsn, entry.kind);
      }
      return at >= 0;
    }

    @Override
    public boolean valid() {
      return at >= 0;
    }

    @Override
    public boolean first() {
      return stand(0);
    }

    @Override
    public boolean last() {
      return stand(entries.size() - 1);
    }

    @Override
    public boolean seek(byte[] to, int offset, int length, long lsn) {
      int i = 0;
      while (i < entries.size()) {
        Entry entry = entries.get(i);
        int c = order.compare(entry.key, 0, entry.key.length, to, offset, length);
        if (c > 0 || c == 0 && entry.lsn <= lsn) {
          break;
        }
        i++;
      }
      return stand(i);
    }

    @Override
    public boolean seekBefore(byte[] to, int offset, int length) {
      seek(to, offset, length, Long.MAX_VALUE);
      return stand((at < 0 ? entries.size() : at) - 1);
    }

    @Override
    public boolean next() {
      return stand(at + 1);
    }

    @Override
    public boolean nextKey() {
      byte[] from = entries.get(at).key;
      int to = at + 1;
      while (to < entries.size() && isSame(order, from, entries.get(to).key)) {
        to++;
      }
      return stand(to);
    }

    @Override
    public boolean nextWithin(Stretch stretch) {
      byte[] from = entries.get(at).key;
      for (int to = at + 1; to < entries.size() && to % PAGE_ENTRIES != 0; to++) {
        Entry next = entries.get(to);
        if (stretch.sees(next.lsn) && !isSame(order, from, next.key)) {
          byte[] end = stretch.end();
          return stretch.isPlain(next.kind, next.lsn, Expiry.NEVER)
              && (end == null
                  || order.compare(next.key, 0, next.key.length, end, 0, stretch.endLength()) < 0)
              && stand(to);
        }
      }
      return false;
    }

    @Override
    public boolean previous() {
      return stand(at - 1);
    }

    @Override
    protected long storedExpiry() {
      return Expiry.NEVER;
    }

    @Override
    public int valueLength() {
      return 0;
    }

    @Override
    public Memory valueMemory() {
      throw new UnsupportedOperationException();
    }

    @Override
    public int valueOffset() {
      throw new UnsupportedOperationException();
    }

    @Override
    public void copyValue(int from, Memory target, int targetOffset, int length) {}

    @Override
    public void copyValue(int from, ByteBuffer target, int targetOffset, int length) {}

    @Override
    public void copyValue(int from, byte[] target, int targetOffset, int length) {}

    @Override
    public void close() {}
  }
}
