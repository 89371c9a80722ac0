package io.isobardb.lsm.sstable;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.ForwardingScheduler;
import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.io.ForwardingStorage;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.schedule.Errand;
import io.isobardb.lsm.schedule.Scheduler;
import io.isobardb.lsm.schedule.ThreadScheduler;
import io.isobardb.memory.cache.Access;
import io.isobardb.memory.page.Memory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Reads that are in flight beside their readers'. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PageLoadsTest {
  private static final int PAGE = 4096;
  private static final int FILE = 9;
  private static final long SEED = Long.getLong("isobar.seed", 20_261_128L);

  /** What a test does to reads. */
  private interface Reads {
    void before(int page, int pages) throws Exception;
  }

  /** Calls a test before each read. */
  private static final class WatchedStorage extends ForwardingStorage {
    private volatile Reads reads = (page, pages) -> {};
    private final AtomicInteger within = new AtomicInteger();

    WatchedStorage(HeapStorage storage) {
      super(storage);
    }

    @Override
    protected DataFile wrap(DataFile file, IoMode mode) {
      return new ForwardingFile(file) {
        @Override
        public int read(long offset, Memory target, int targetOffset, int length)
            throws IOException {
          within.incrementAndGet();
          try {
            reads.before((int) (offset / PAGE), length / PAGE);
            return super.read(offset, target, targetOffset, length);
          } catch (IOException | RuntimeException e) {
            throw e;
          } catch (Exception e) {
            throw new AssertionError(e);
          } finally {
            within.decrementAndGet();
          }
        }
      };
    }
  }

  /** A store of one SSTable, and helpers. */
  private static final class World implements AutoCloseable {
    final Run run;
    final WatchedStorage storage;
    final ThreadScheduler scheduler = new ThreadScheduler("t", 1);
    final TableSpace space;
    final SSTable table;

    /** How often helpers were asked. */
    final AtomicInteger asked = new AtomicInteger();

    World(int entries, int cachePages) throws IOException {
      run = new Run(PAGE, KeyOrder.BYTES, cachePages);
      storage = new WatchedStorage(run.storage);
      space = run.space.by(storage).with(PageLoads.by(counting()));
      SplittableRandom random = new SplittableRandom(SEED);
      for (int i = 0; i < entries; i++) {
        run.add(key(i), 8, Kind.PUT, Run.bytes(random, 500));
      }
      run.sort();
      SSTable written = run.onDisk(FILE, Packer.NONE, false);
      table = SSTable.written(space, KeyOrder.BYTES, written.meta());
      written.release();
    }

    private Scheduler counting() {
      return new ForwardingScheduler(scheduler) {
        @Override
        public boolean help(Errand errand) {
          asked.incrementAndGet();
          return super.help(errand);
        }
      };
    }

    static byte[] key(int i) {
      return ByteBuffer.allocate(4).putInt(i).array();
    }

    MissedPages pages(int from, int to) {
      MissedPages missed = new MissedPages();
      for (int i = from; i < to; i++) {
        missed.add(table, i);
      }
      return missed;
    }

    @Override
    public void close() {
      table.release();
      scheduler.close();
      run.close();
    }
  }

  @Test
  void aWaveHasManyReadsInFlight() throws Exception {
    try (World world = new World(1000, 400)) {
      int depth = 8;
      // No read ends before as many others have begun.
      CyclicBarrier together = new CyclicBarrier(depth);
      world.storage.reads = (page, pages) -> together.await(30, TimeUnit.SECONDS);
      world.space.loads().load(world.pages(1, 1 + 4 * depth));
      assertEquals(4 * depth, world.run.cachedPages(FILE));
      assertEquals(0, world.storage.within.get());
    }
  }

  @Test
  void aPageThatCanNotBeReadIsToldToTheReaderThatNeedsIt() throws Exception {
    try (World world = new World(1000, 400)) {
      byte[] bytes = world.run.storage.files.get(world.table.meta().fileName());
      bytes[7 * PAGE + 99] ^= 1;
      world.storage.reads =
          (page, pages) -> {
            if (page == 11) {
              throw new IOException("injected");
            }
          };
      world.space.loads().load(world.pages(1, 21));
      assertEquals(18, world.run.cachedPages(FILE));
      CorruptionException damage =
          assertThrows(CorruptionException.class, () -> world.table.loadPage(7, Access.QUERY));
      assertEquals(7L * PAGE, damage.offset());
      assertEquals(world.table.meta().fileName(), damage.file());
      world.storage.reads = (page, pages) -> {};
      world.table.loadPage(11, Access.QUERY);
      world.table.unpin(11);
    }
  }

  /** Else they would read pages of SSTables that the caller has given back. */
  @Test
  void helpersAreCalledOffIfNotAllCanBeAsked() throws Exception {
    try (World world = new World(1000, 400)) {
      List<Errand> asked = new ArrayList<>();
      Scheduler exhausted =
          new ForwardingScheduler(world.scheduler) {
            @Override
            public boolean help(Errand errand) {
              if (asked.size() == 2) {
                throw new OutOfMemoryError("planted: no heap to ask another");
              }
              return asked.add(errand);
            }
          };
      PageLoads loads = PageLoads.by(exhausted);
      assertThrows(OutOfMemoryError.class, () -> loads.load(world.pages(1, 9)));
      assertEquals(2, asked.size());
      asked.forEach(errand -> assertFalse(errand.run()));
      assertEquals(0, world.run.cachedPages(FILE));
    }
  }

  @Test
  void aReaderWaitsForThePageThatAHelperReads() throws Exception {
    try (World world = new World(1000, 400)) {
      CountDownLatch begun = new CountDownLatch(2);
      CountDownLatch go = new CountDownLatch(1);
      AtomicInteger reads = new AtomicInteger();
      world.storage.reads =
          (page, pages) -> {
            reads.incrementAndGet();
            begun.countDown();
            go.await();
          };
      Thread wave = new Thread(() -> world.space.loads().load(world.pages(1, 3)));
      wave.start();
      begun.await();
      Thread reader =
          new Thread(
              () -> {
                world.table.loadPage(2, Access.QUERY);
                world.table.unpin(2);
              });
      reader.start();
      while (reader.getState() != Thread.State.WAITING) {
        Thread.onSpinWait();
      }
      go.countDown();
      wave.join();
      reader.join();
      assertEquals(2, reads.get());
    }
  }

  @Test
  void aSmallCacheHasFewReadsInFlight() throws Exception {
    try (World world = new World(1000, 24)) {
      int most = world.space.loads().most(world.space);
      assertEquals(6, most);
      AtomicInteger deepest = new AtomicInteger();
      world.storage.reads =
          (page, pages) -> deepest.accumulateAndGet(world.storage.within.get(), Math::max);
      for (int from = 1; from < 100; from += most) {
        world.space.loads().load(world.pages(from, from + most));
      }
      assertTrue(deepest.get() <= 4, "reads in flight: " + deepest);
    }
  }

  /** It would read all of its pages one by one, each among many reads of others. */
  @Test
  void aWaveThatBeginsWhenOthersHaveAllHelpersGetsItsShare() throws Exception {
    try (World world = new World(4000, 2000)) {
      int first = 100;
      CountDownLatch full = new CountDownLatch(16);
      CountDownLatch go = new CountDownLatch(1);
      CountDownLatch ended = new CountDownLatch(1);
      CountDownLatch helped = new CountDownLatch(1);
      AtomicInteger ofSecond = new AtomicInteger();
      world.storage.reads =
          (page, pages) -> {
            if (page <= first) {
              full.countDown();
              go.await();
            } else if (Thread.currentThread().getName().contains("helper")) {
              helped.countDown();
            } else if (ofSecond.incrementAndGet() > 1) {
              helped.await();
            } else {
              go.countDown();
              ended.await();
            }
          };
      Thread one =
          new Thread(
              () -> {
                world.space.loads().load(world.pages(1, first + 1));
                ended.countDown();
              });
      one.start();
      full.await();
      Thread two = new Thread(() -> world.space.loads().load(world.pages(first + 1, first + 61)));
      two.start();
      one.join();
      two.join();
      assertEquals(first + 60, world.run.cachedPages(FILE));
    }
  }

  @Test
  void wavesOfManyThreadsLoadEachPageOnce() throws Exception {
    try (World world = new World(1000, 400)) {
      AtomicInteger reads = new AtomicInteger();
      world.storage.reads = (page, pages) -> reads.incrementAndGet();
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        Thread thread = new Thread(() -> world.space.loads().load(world.pages(1, 101)));
        thread.start();
        threads.add(thread);
      }
      for (Thread thread : threads) {
        thread.join();
      }
      assertEquals(100, world.run.cachedPages(FILE));
      assertEquals(100, reads.get());
    }
  }

  /** More of them than helpers: they take turns, and get errors as if they had read themselves. */
  @Test
  void readsOfVirtualThreadsAreHelpers() throws Exception {
    ExecutorService threads;
    try {
      threads =
          (ExecutorService)
              Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
    } catch (NoSuchMethodException e) {
      threads = Assumptions.abort("this JDK has no virtual threads");
    }
    try (World world = new World(1000, 400)) {
      Set<String> readers = ConcurrentHashMap.newKeySet();
      world.storage.reads =
          (page, pages) -> {
            readers.add(Thread.currentThread().getName().replaceAll("[0-9]+", "N"));
            if (page == 50) {
              throw new IOException("injected");
            }
          };
      List<Future<?>> done = new ArrayList<>();
      for (int i = 1; i <= 100; i++) {
        int page = i;
        done.add(
            threads.submit(
                () -> {
                  world.table.loadPage(page, Access.QUERY);
                  world.table.unpin(page);
                }));
      }
      for (int i = 1; i <= 100; i++) {
        Future<?> read = done.get(i - 1);
        if (i == 50) {
          Exception failure = assertThrows(ExecutionException.class, read::get);
          assertInstanceOf(UncheckedIOException.class, failure.getCause());
        } else {
          read.get();
        }
      }
      assertEquals(Set.of("isobar-t-reader-N"), readers);
      assertEquals(99, world.run.cachedPages(FILE));
    } finally {
      threads.shutdown();
    }
  }

  @Test
  void anInterruptNeitherEndsAWaveNorIsLost() throws Exception {
    try (World world = new World(1000, 400)) {
      Thread.currentThread().interrupt();
      world.space.loads().load(world.pages(1, 41));
      assertTrue(Thread.interrupted());
      assertEquals(40, world.run.cachedPages(FILE));
    }
  }

  @Test
  void whatIsReadAheadIsWhatTheFileHolds() throws Exception {
    try (World world = new World(4000, 64)) {
      SplittableRandom random = new SplittableRandom(SEED);
      for (int round = 0; round < 6; round++) {
        int fails = random.nextInt(8);
        SplittableRandom faults = random.split();
        world.storage.reads =
            (page, pages) -> {
              // Reads of helpers alone: readers find all they need.
              if (Thread.currentThread().getName().contains("-helper-")) {
                synchronized (faults) {
                  if (faults.nextInt(8) < fails) {
                    throw new IOException("injected");
                  }
                }
              }
            };
        int from = random.nextInt(1000);
        try (SSTableCursor cursor = world.table.cursor(Access.QUERY)) {
          int at = from;
          for (boolean more = cursor.seek(World.key(from), 0, 4, 8); more; more = cursor.next()) {
            Run.Entry entry = world.run.entries.get(at++);
            assertArrayEquals(entry.key(), Arrays.copyOf(cursor.key(), 4));
            byte[] value = new byte[cursor.valueLength()];
            cursor.copyValue(0, value, 0, value.length);
            assertArrayEquals(entry.value(), value);
          }
          assertEquals(4000, at);
        }
        assertEquals(0, world.storage.within.get());
      }
    }
  }

  @Test
  void closingACursorWaitsForWhatIsReadAhead() throws Exception {
    try (World world = new World(4000, 64)) {
      CountDownLatch begun = new CountDownLatch(1);
      CountDownLatch go = new CountDownLatch(1);
      world.storage.reads =
          (page, pages) -> {
            if (Thread.currentThread().getName().contains("-helper-")) {
              begun.countDown();
              go.await();
            }
          };
      SSTableCursor cursor = world.table.cursor(Access.QUERY);
      boolean more = cursor.first();
      while (more && world.asked.get() == 0) {
        more = cursor.next();
      }
      begun.await();
      Thread closing = new Thread(cursor::close);
      closing.start();
      try {
        while (closing.getState() != Thread.State.WAITING) {
          assertTrue(closing.isAlive(), "the cursor is closed, and its memory is being read into");
          Thread.onSpinWait();
        }
      } finally {
        go.countDown();
      }
      closing.join();
      assertEquals(0, world.storage.within.get());
    }
  }

  @Test
  void nothingIsReadAheadBeyondTheBound() throws Exception {
    try (World world = new World(4000, 64)) {
      byte[] end = World.key(300);
      int last = SSTable.pageOf(world.table.locatePinned(end, KeyHash.hash(end, 0, 4), 8, true));
      world.table.unpin(last);
      AtomicInteger furthest = new AtomicInteger();
      AtomicInteger reads = new AtomicInteger();
      world.storage.reads =
          (page, pages) -> {
            // Data pages are in front of those of the index.
            if (page < 400) {
              furthest.accumulateAndGet(page + pages - 1, Math::max);
              reads.incrementAndGet();
            }
          };
      try (SSTableCursor cursor = world.table.cursor(Access.QUERY)) {
        cursor.read(end, missed -> {});
        boolean more = cursor.first();
        while (more && Arrays.compareUnsigned(cursor.key(), 0, 4, end, 0, 4) < 0) {
          more = cursor.next();
        }
      }
      assertEquals(last, furthest.get());
      assertTrue(reads.get() < last / 2, "reads: " + reads + " of " + last + " pages");
    }
  }

  /** Goes over entries from one on, with a cursor of its own. */
  private static void scan(World world, int from, int entries) {
    try (SSTableCursor cursor = world.table.cursor(Access.QUERY)) {
      boolean more = cursor.seek(World.key(from), 0, 4, 8);
      for (int i = 0; i < entries; i++) {
        assertTrue(more);
        assertArrayEquals(World.key(from + i), Arrays.copyOf(cursor.key(), 4));
        more = i + 1 < entries && cursor.next();
      }
    }
  }

  /** Has each read of data pages noted, as its first page and how many there are. */
  private static List<String> noteReads(World world) {
    List<String> noted = new ArrayList<>();
    world.storage.reads =
        (page, pages) -> {
          if (page > 0 && page < 400) {
            noted.add(page + "+" + pages);
          }
        };
    return noted;
  }

  @Test
  void aShortScanReadsAllItsPagesTogether() throws Exception {
    try (World world = new World(4000, 400)) {
      List<String> reads = noteReads(world);
      // Seven entries a page.
      scan(world, 0, 21);
      assertEquals(List.of("1+1", "2+1", "3+1"), reads);
      reads.clear();
      scan(world, 700, 21);
      scan(world, 1400, 21);
      assertEquals(List.of("101+3", "201+3"), reads);
    }
  }

  @Test
  void aScanReadsNoPagesThatScansDoNotUsuallyNeed() throws Exception {
    try (World world = new World(4000, 400)) {
      List<String> reads = noteReads(world);
      for (int from = 0; from < 700; from += 70) {
        scan(world, from, 7);
      }
      assertEquals("[1+1, 11+1, 21+1, 31+1, 41+1, 51+1, 61+1, 71+1, 81+1, 91+1]", reads + "");
    }
  }

  @Test
  void aScanReadsNoPageAgainThatTheCacheHas() throws Exception {
    try (World world = new World(4000, 400)) {
      scan(world, 0, 21);
      scan(world, 707, 7);
      List<String> reads = noteReads(world);
      scan(world, 700, 21);
      assertEquals(List.of("101+1", "103+1"), reads);
    }
  }

  @Test
  void aPageThatAScanDoesNotComeToDoesNotFailIt() throws Exception {
    try (World world = new World(4000, 400)) {
      scan(world, 0, 21);
      byte[] bytes = world.run.storage.files.get(world.table.meta().fileName());
      bytes[202 * PAGE + 99] ^= 1;
      world.storage.reads =
          (page, pages) -> {
            if (page <= 102 && page + pages > 102) {
              throw new IOException("injected");
            }
          };
      scan(world, 700, 7);
      assertThrows(UncheckedIOException.class, () -> scan(world, 700, 21));
      scan(world, 1400, 7);
      CorruptionException damage =
          assertThrows(CorruptionException.class, () -> scan(world, 1400, 21));
      assertEquals(202L * PAGE, damage.offset());
    }
  }
}
