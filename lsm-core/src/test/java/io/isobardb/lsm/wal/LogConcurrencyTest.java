package io.isobardb.lsm.wal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.io.Clock;
import io.isobardb.lsm.io.DirectoryStorage;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.schedule.ThreadScheduler;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.wal.LogWorld.Entry;
import io.isobardb.memory.pool.PagePool;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Writers on threads. */
class LogConcurrencyTest {
  private final SimulatedStorage storage = new SimulatedStorage();
  private final ThreadScheduler scheduler = new ThreadScheduler("test", 1);
  private final PagePool pool = new PagePool(64 << 20, 4096);
  private final List<Entry> replayed = new ArrayList<>();

  private Log open(LogOptions options) throws IOException {
    return open(
        new Environment(storage, Clock.SYSTEM, scheduler, new SplittableRandom(1)),
        options,
        replayed);
  }

  private Log open(Environment environment, LogOptions options, List<Entry> found)
      throws IOException {
    found.clear();
    return new Log()
        .open(
            new LogSite(environment, pool, LogWorld.STORE, LogWorld.QUIET),
            options,
            LogExtent.from(Lsn.FIRST),
            LogWorld.whole((lsn, kind, bytes) -> found.add(new Entry(lsn, kind, bytes))));
  }

  @AfterEach
  void nothingIsLeft() {
    scheduler.close();
    assertEquals(0, storage.openFiles());
    pool.close();
  }

  private static void onThreads(int count, Callable<Void> work) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(count);
    try {
      List<Future<Void>> futures = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        futures.add(threads.submit(work));
      }
      for (Future<Void> future : futures) {
        future.get();
      }
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  void whatManyThreadsWriteIsVisibleInOrderAndReplayed() throws Exception {
    Log log = open(LogWorld.SMALL);
    ConcurrentSkipListMap<Long, Entry> written = new ConcurrentSkipListMap<>();
    AtomicInteger ids = new AtomicInteger();
    onThreads(
        5,
        () -> {
          SplittableRandom random = new SplittableRandom(ids.incrementAndGet());
          LogRecord record = log.newRecord();
          for (int i = 0; i < 2000; i++) {
            long visible = log.visible();
            int what = random.nextInt(20);
            Entry entry;
            if (what == 0) {
              entry = LogWorld.marker(log);
            } else if (what == 1) {
              record.begin(random.nextInt(10_000));
              assertTrue(record.abandon());
              continue;
            } else {
              int length = random.nextInt(100) == 0 ? random.nextInt(40_000) : random.nextInt(300);
              entry = LogWorld.append(record, LogWorld.bytes(random, length));
            }
            assertTrue(entry.lsn() > visible);
            assertTrue(entry.lsn() <= log.visible());
            written.put(entry.lsn(), entry);
            if (what == 2) {
              log.awaitDurable(entry.lsn());
              assertTrue(log.durable() > entry.lsn());
            }
          }
          return null;
        });
    assertEquals(log.end() - 1, log.visible());
    log.close();
    open(LogWorld.SMALL).close();
    assertEquals(List.copyOf(written.values()), replayed);
  }

  @Test
  @Timeout(60)
  void oneSyncServesAllWhoWaitMeanwhile() throws Exception {
    int writers = 8;
    LogOptions options = new LogOptions(1 << 20, 64 << 10, true, 3_600_000_000_000L, 1);
    Log log = open(options);
    long all = log.end() + (long) writers * (16 + 104);
    long syncs = log.syncs();
    // The first write is held up until everybody has published, so that the sync after it, or the
    // one after that, is for all of them.
    storage.onMutation(
        disk -> {
          while (log.visible() + 1 < all) {
            Thread.onSpinWait();
          }
        });
    onThreads(
        writers,
        () -> {
          Entry entry = LogWorld.append(log.newRecord(), new byte[100]);
          log.awaitDurable(entry.lsn());
          return null;
        });
    assertEquals(all, log.durable());
    assertTrue(log.syncs() - syncs <= 2, "syncs: " + (log.syncs() - syncs));
    storage.onMutation(disk -> {});
    log.close();
  }

  /**
   * A writer that waits for a sync may be the one that writes, rolls the segment and syncs, for
   * all.
   */
  @Test
  void interruptsOfThoseWhoSyncDoNoHarm(@TempDir Path directory) throws Exception {
    LogOptions options = new LogOptions(64 << 10, 16 << 10, true, 1_000_000L, 1);
    List<Entry> found = new ArrayList<>();
    ConcurrentSkipListMap<Long, Entry> written = new ConcurrentSkipListMap<>();
    try (Storage files = DirectoryStorage.open(directory, true)) {
      Environment environment =
          new Environment(files, Clock.SYSTEM, scheduler, new SplittableRandom(1));
      Log log = open(environment, options, found);
      AtomicInteger ids = new AtomicInteger();
      onThreads(
          4,
          () -> {
            SplittableRandom random = new SplittableRandom(ids.incrementAndGet());
            LogRecord record = log.newRecord();
            for (int i = 0; i < 300; i++) {
              Entry entry = LogWorld.append(record, LogWorld.bytes(random, random.nextInt(2_000)));
              written.put(entry.lsn(), entry);
              boolean interrupt = random.nextInt(3) == 0;
              if (interrupt) {
                Thread.currentThread().interrupt();
              }
              log.awaitDurable(entry.lsn());
              assertTrue(log.durable() > entry.lsn());
              assertEquals(interrupt, Thread.interrupted());
            }
            return null;
          });
      log.close();
      open(environment, options, found).close();
    }
    assertEquals(List.copyOf(written.values()), found);
  }
}
