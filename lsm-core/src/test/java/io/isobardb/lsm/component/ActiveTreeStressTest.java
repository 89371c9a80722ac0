package io.isobardb.lsm.component;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.entry.EntryCursor;
import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.entry.Probe;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.sstable.KeyHash;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Writers, readers and cursors at once; every value says which version of which key it is. */
class ActiveTreeStressTest {
  private static final int WRITERS = 3;
  private static final int READERS = 2;

  /** LSNs as a log hands them out, and the end of the prefix that is applied. */
  private static final class Log implements Visibility {
    final AtomicLong next = new AtomicLong(8);
    final AtomicLongArray inFlight = new AtomicLongArray(WRITERS);
    volatile long snapshot = -1;

    long begin(int writer) {
      // A lower bound first, so that visible never passes an LSN that is about to be drawn.
      inFlight.set(writer, next.get());
      long lsn = next.getAndAdd(8);
      inFlight.set(writer, lsn);
      return lsn;
    }

    void end(int writer) {
      inFlight.set(writer, Long.MAX_VALUE);
    }

    @Override
    public long visible() {
      long end = next.get();
      for (int i = 0; i < WRITERS; i++) {
        end = Math.min(end, inFlight.get(i));
      }
      return end - 8;
    }

    @Override
    public long newestSnapshot() {
      return snapshot;
    }
  }

  private final AtomicBoolean stop = new AtomicBoolean();

  @ParameterizedTest
  @CsvSource({"4096, 40, false", "4096, 3000, false", "8192, 400, false", "4096, 300, true"})
  void nothingIsTornLostOrOutOfOrder(int pageSize, int keys, boolean custom) throws Exception {
    long seed = 71L * keys + pageSize;
    System.out.println("seed " + seed);
    try (PagePool pool = new PagePool(256 << 20, pageSize, true)) {
      KeyOrder order = custom ? ActiveTreeModelTest.BACKWARDS : KeyOrder.BYTES;
      ActiveTree tree = new ActiveTree(pool, order, 1 << 20);
      Log log = new Log();
      for (int i = 0; i < WRITERS; i++) {
        log.end(i);
      }
      ExecutorService threads = Executors.newCachedThreadPool();
      List<Future<?>> writers = new ArrayList<>();
      List<Future<?>> readers = new ArrayList<>();
      for (int i = 0; i < WRITERS; i++) {
        int writer = i;
        writers.add(
            threads.submit(
                () -> write(tree, log, writer, keys, new SplittableRandom(seed + writer))));
      }
      for (int i = 0; i < READERS; i++) {
        SplittableRandom random = new SplittableRandom(seed + 100 + i);
        readers.add(threads.submit(() -> read(pool, tree, log, keys, random)));
      }
      readers.add(threads.submit(() -> scan(tree, log, order)));
      try {
        for (Future<?> writer : writers) {
          writer.get();
        }
      } finally {
        stop.set(true);
      }
      for (Future<?> reader : readers) {
        reader.get();
      }
      threads.shutdown();
      new TreeCheck(pool, order).check(tree);
      tree.free();
    }
  }

  /** Entries are found while they move from the heap to a tree's first page. */
  @Test
  void whatWasWrittenIsFoundWhileTheFirstPageIsPlanted() throws Exception {
    try (PagePool pool = new PagePool(64 << 20, 4096, true)) {
      ExecutorService threads = Executors.newCachedThreadPool();
      try {
        for (int run = 0; run < 400; run++) {
          ActiveTree tree = ActiveTrees.crowded(pool, KeyOrder.BYTES, 1 << 20);
          AtomicInteger[] done = {new AtomicInteger(), new AtomicInteger()};
          List<Future<?>> writers = new ArrayList<>();
          for (int i = 0; i < done.length; i++) {
            int writer = i;
            writers.add(
                threads.submit(
                    () -> {
                      for (int n = 0; n < 20; n++) {
                        byte[] key = key(2 * n + writer);
                        Write write = new Write().of(Kind.PUT, key, 0, key.length);
                        byte[] value = value(n, 8L);
                        write.value(value, 0, value.length).at(8L * (2 * n + writer + 1)).hashed();
                        tree.put(write, GivenVisibility.ofAll());
                        done[writer].set(n + 1);
                      }
                    }));
          }
          boolean more = true;
          while (more) {
            more = !writers.stream().allMatch(Future::isDone);
            for (int writer = 0; writer < done.length; writer++) {
              int last = done[writer].get() - 1;
              if (last >= 0) {
                byte[] key = key(2 * last + writer);
                int epoch = pool.epochs().enter();
                try {
                  assertTrue(
                      Arrays.equals(
                          value(last, 8L), ActiveTrees.get(tree, key, Long.MAX_VALUE >> 9)),
                      "an entry that was written");
                  assertEquals(
                      8L * (2 * last + writer + 1),
                      tree.newestLsn(key, KeyHash.hash(key, 0, key.length)));
                } finally {
                  pool.epochs().exit(epoch);
                }
              }
            }
          }
          for (Future<?> writer : writers) {
            writer.get();
          }
          assertEquals(40, tree.entries());
          tree.free();
        }
      } finally {
        threads.shutdown();
        // No thread may write once the pool has given its memory back.
        assertTrue(threads.awaitTermination(1, TimeUnit.MINUTES));
      }
    }
  }

  private static byte[] key(int i) {
    return ("user" + (i * 7919L % 100_003)).getBytes();
  }

  /** Key and LSN, repeated over the whole length, which follows from both. */
  private static byte[] value(int i, long lsn) {
    int length = 16 + (int) ((lsn * 31 + i) % 120);
    if (lsn % 800 == 0) {
      length += 6000;
    }
    byte[] value = new byte[length];
    ByteBuffer words = ByteBuffer.wrap(value);
    words.putLong(lsn).putLong(lsn * 31 + i);
    while (words.hasRemaining()) {
      words.put((byte) (lsn + words.position()));
    }
    return value;
  }

  private static void write(
      ActiveTree tree, Log log, int writer, int keys, SplittableRandom random) {
    for (int n = 0; n < 12_000; n++) {
      int i = random.nextInt(random.nextBoolean() ? keys : 1 + keys / 20);
      byte[] key = key(i);
      long hash = KeyHash.hash(key, 0, key.length);
      long lsn = log.begin(writer);
      byte[] value = value(i, lsn);
      if (tree.fitsInline(key.length, value.length)) {
        tree.put(
            new Write()
                .of(Kind.PUT, key, 0, key.length)
                .value(value, 0, value.length)
                .at(lsn)
                .hashed(),
            log);
      } else {
        Write write =
            new Write()
                .of(Kind.PUT, key, 0, key.length)
                .value(value, 0, value.length)
                .at(lsn)
                .hashed();
        tree.writeOverflow(write);
        tree.put(write, log);
      }
      log.end(writer);
      int epoch = tree.pool.epochs().enter();
      try {
        byte[] mine = ActiveTrees.get(tree, key, lsn);
        if (mine != ActiveTrees.RETRY_VALUE) {
          assertTrue(Arrays.equals(value, mine), "own write");
        }
      } finally {
        tree.pool.epochs().exit(epoch);
      }
    }
  }

  private void read(PagePool pool, ActiveTree tree, Log log, int keys, SplittableRandom random) {
    long[] seen = new long[keys];
    ByteBuffer target = ByteBuffer.allocateDirect(8192);
    while (!stop.get()) {
      int i = random.nextInt(keys);
      byte[] key = key(i);
      long hash = KeyHash.hash(key, 0, key.length);
      int length;
      long at;
      do {
        int epoch = pool.epochs().enter();
        try {
          at = log.visible();
          length = tree.find(key, ActiveTrees.probe(hash, at, target));
        } finally {
          pool.epochs().exit(epoch);
        }
      } while (length == Probe.RETRY);
      if (length == Probe.ABSENT) {
        assertEquals(0, seen[i], "a key that was there");
        continue;
      }
      long lsn = target.getLong(0);
      assertTrue(lsn <= at, "from the future");
      assertTrue(lsn >= seen[i], "older than seen before");
      byte[] expected = value(i, lsn);
      assertEquals(expected.length, length);
      byte[] copied = new byte[length];
      target.get(0, copied);
      assertTrue(Arrays.equals(expected, copied), "torn");
      seen[i] = lsn;
    }
  }

  /** Each scan sees every key that a scan before it saw, and what its snapshot holds. */
  private void scan(ActiveTree tree, Log log, KeyOrder order) {
    int keysSeen = 0;
    while (!stop.get()) {
      // Announced with an LSN that is low enough before it is taken.
      log.snapshot = Long.MAX_VALUE;
      long at = log.visible();
      log.snapshot = at;
      int count = 0;
      byte[] last = {};
      int lastLength = -1;
      long lastLsn = 0;
      boolean counted = false;
      try (EntryCursor cursor = tree.cursor(Purpose.CURSOR, null, null, -1)) {
        boolean forward = keysSeen % 2 == 0;
        for (boolean on = forward ? cursor.first() : cursor.last();
            on;
            on = forward ? cursor.next() : cursor.previous()) {
          int c =
              lastLength < 0
                  ? -1
                  : order.compare(last, 0, lastLength, cursor.key(), 0, cursor.keyLength());
          c = forward ? c : -c;
          assertTrue(
              lastLength < 0
                  || c < 0
                  || c == 0 && (forward ? lastLsn > cursor.lsn() : lastLsn < cursor.lsn()),
              "order");
          counted = c == 0 && counted;
          if (!counted && cursor.lsn() <= at) {
            counted = true;
            count++;
          }
          last = Arrays.copyOf(cursor.key(), cursor.keyLength());
          lastLength = cursor.keyLength();
          lastLsn = cursor.lsn();
          if (cursor.lsn() <= at) {
            ByteBuffer value = ByteBuffer.allocate(8);
            cursor.copyValue(0, value, 0, 8);
            // An overflow value that the snapshot does not hold may be gone.
            assertTrue(
                cursor.kind() == Kind.PUT_OVERFLOW || value.getLong(0) == cursor.lsn(), "value");
          }
        }
      }
      assertTrue(count >= keysSeen, "keys are gone: " + count + " of " + keysSeen);
      keysSeen = count;
    }
  }

  @Test
  void writersOfAscendingKeysKeepThemAll() throws Exception {
    try (PagePool pool = new PagePool(64 << 20, 4096, true)) {
      ActiveTree tree = new ActiveTree(pool, KeyOrder.BYTES, 4 << 20);
      Log log = new Log();
      for (int i = 0; i < WRITERS; i++) {
        log.end(i);
      }
      ExecutorService threads = Executors.newCachedThreadPool();
      List<Future<?>> writers = new ArrayList<>();
      for (int i = 0; i < WRITERS; i++) {
        int writer = i;
        writers.add(
            threads.submit(
                () -> {
                  byte[] key = new byte[8];
                  for (int n = 0; n < 8000; n++) {
                    long lsn = log.begin(writer);
                    ByteBuffer.wrap(key).putLong(lsn);
                    long hash = KeyHash.hash(key, 0, 8);
                    tree.put(
                        new Write().of(Kind.PUT, key, 0, 8).value(key, 0, 8).at(lsn).hashed(), log);
                    log.end(writer);
                  }
                }));
      }
      for (Future<?> writer : writers) {
        writer.get();
      }
      threads.shutdown();
      assertEquals(WRITERS * 8000, tree.entries());
      new TreeCheck(pool, KeyOrder.BYTES).check(tree);
      try (EntryCursor cursor = tree.cursor(Purpose.MERGE, null, null, -1)) {
        long expected = 8;
        for (boolean on = cursor.first(); on; on = cursor.next(), expected += 8) {
          assertEquals(expected, cursor.lsn());
        }
        assertFalse(cursor.valid());
        assertEquals(8 + WRITERS * 8000L * 8, expected);
      }
      tree.free();
    }
  }
}
