package io.isobardb.lsm.wal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.error.DiskFullException;
import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.simulation.CrashMode;
import io.isobardb.lsm.simulation.Fault;
import io.isobardb.lsm.simulation.FaultPlan;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.wal.LogWorld.Entry;
import io.isobardb.memory.page.Memory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Power loss at, and failure of, every operation of a short life of a log, which is quiet at times.
 */
@Tag("any-jdk")
class LogCrashTest {
  /** A log's life: what was written, and what of it must survive. */
  private static final class Life {
    final LogWorld world;
    final SplittableRandom random;
    final List<Entry> written = new ArrayList<>();
    long start = Lsn.FIRST;

    /** What awaitDurable and flush reported. */
    long acknowledged = Lsn.FIRST;

    Log log;
    boolean shrunk;

    Life(long seed, LogOptions options) {
      world = new LogWorld(options, seed);
      random = new SplittableRandom(seed);
    }

    void run() throws IOException {
      for (int session = 0; session < 3; session++) {
        log = world.open(start);
        LogRecord record = log.newRecord();
        for (int i = 0; i < 40; i++) {
          int length = random.nextInt(10) == 0 ? random.nextInt(9_000) : random.nextInt(900);
          written.add(LogWorld.append(record, LogWorld.bytes(random, length)));
          if (random.nextInt(6) == 0) {
            log.awaitDurable(written.get(random.nextInt(written.size())).lsn());
            acknowledged = Math.max(acknowledged, log.durable());
          }
          if (random.nextInt(30) == 0) {
            log.flush();
            acknowledged = log.durable();
            start = written.get(written.size() - 1).lsn();
            log.truncateBefore(start);
          }
        }
        if (session == 1) {
          beQuiet();
        }
        log.close();
        acknowledged = log.end();
        log = null;
      }
    }

    /** For so long that the log, which is not needed any more, gives room back. */
    private void beQuiet() throws IOException {
      log.flush();
      acknowledged = log.durable();
      start = log.durable();
      log.truncateBefore(start);
      long taken = log.allocatedBytes();
      world.scheduler.runFor(2 * LogWriter.QUIET_NANOS);
      shrunk = log.allocatedBytes() < taken;
    }
  }

  /** Opens what is left, twice, and writes on. */
  private static void check(Life life, SimulatedStorage disk, long seed, String what)
      throws IOException {
    LogWorld world = new LogWorld(life.world.options, seed, disk);
    Log log = world.open(life.start);
    List<Entry> whole = life.written.stream().filter(entry -> entry.lsn() >= life.start).toList();
    int kept = world.replayed.size();
    assertTrue(kept <= whole.size(), what);
    assertEquals(whole.subList(0, kept), world.replayed, what);
    if (kept < whole.size()) {
      assertTrue(whole.get(kept).lsn() >= life.acknowledged, what + ": lost " + whole.get(kept));
    }
    List<Entry> expected = new ArrayList<>(world.replayed);
    expected.add(LogWorld.append(log.newRecord(), new byte[77]));
    log.close();
    log = world.open(life.start);
    assertEquals(expected, world.replayed, what);
    log.close();
    world.close();
  }

  @Test
  void powerLossAtAnyOperationLosesNothingSyncedAndLeavesAPrefix() throws IOException {
    for (long s = 1; s <= 4; s++) {
      long seed = s;
      LogOptions options = seed % 2 == 0 ? LogWorld.SMALL : LogWorld.SMALL_BUFFERED;
      Life life = new Life(seed, options);
      SplittableRandom chance = new SplittableRandom(seed);
      String name = "seed " + seed + ", operation ";
      life.world.storage.onMutation(
          storage -> {
            try {
              for (CrashMode mode : CrashMode.values()) {
                String what = name + storage.mutations() + " " + mode;
                check(life, storage.crash(chance, mode), seed, what);
              }
            } catch (IOException e) {
              throw new UncheckedIOException(e);
            }
          });
      life.run();
      life.world.close();
      assertTrue(life.shrunk, name + "any");
    }
  }

  @Test
  void powerLossWhileRecoveringIsHarmless() throws IOException {
    long seed = 5;
    Life life = new Life(seed, LogWorld.SMALL);
    SplittableRandom chance = new SplittableRandom(seed);
    List<SimulatedStorage> inner = new ArrayList<>();
    AtomicInteger checked = new AtomicInteger();
    life.world.storage.onMutation(
        storage -> {
          if (chance.nextInt(2) != 0) {
            return;
          }
          try {
            SimulatedStorage crashed = storage.crash(chance, CrashMode.RANDOM);
            inner.clear();
            crashed.onMutation(again -> inner.add(again.crash(chance, CrashMode.RANDOM)));
            LogWorld recovering = new LogWorld(life.world.options, seed, crashed);
            Log log = recovering.open(life.start);
            int operations = inner.size();
            checked.addAndGet(operations);
            log.close();
            recovering.close();
            for (int i = 0; i < operations; i++) {
              check(life, inner.get(i), seed, "seed 5, operation " + storage.mutations());
            }
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        });
    life.run();
    life.world.close();
    assertTrue(checked.get() > 50, "states checked: " + checked);
  }

  @Test
  void afterAnyFailedOperationNothingAcknowledgedIsLost() throws IOException {
    Life clean = new Life(9, LogWorld.SMALL);
    clean.run();
    long operations = clean.world.storage.operations();
    clean.world.close();
    assertTrue(clean.shrunk, "never shrunk");
    Fault[] faults = {Fault.EIO, Fault.ENOSPC, Fault.SHORT_THEN_EIO, Fault.SHORT_THEN_ENOSPC};
    for (long i = 0; i < operations; i++) {
      Fault fault = faults[(int) (i % faults.length)];
      String what = "seed 9, operation " + i + " " + fault;
      Life life = new Life(9, LogWorld.SMALL);
      life.world.storage.faults(FaultPlan.once(i, fault));
      try {
        life.run();
      } catch (IOException | IsobarException e) {
        closeAfter(life);
      }
      check(life, life.world.storage.copy(), 9, what + ", all");
      SimulatedStorage left =
          life.world.storage.crash(new SplittableRandom(i), CrashMode.ONLY_SYNCED);
      check(life, left, 9, what + ", synced");
      life.world.close();
    }
  }

  private static void closeAfter(Life life) {
    if (life.log == null) {
      return;
    }
    try {
      life.log.close();
    } catch (IOException | DiskFullException e) {
      // The second failure of the same kind.
    }
  }

  @Test
  void whatReplayHandsOverAfterAKillIsNotLostInAPowerFailureDuringReplay() throws IOException {
    LogOptions lazy = new LogOptions(64 << 10, 16 << 10, true, 1L << 50, 2);
    LogWorld world = new LogWorld(lazy, 1);
    Log log = world.open();
    LogRecord record = log.newRecord();
    for (int i = 0; i < 100; i++) {
      LogWorld.append(record, new byte[300]);
    }
    SimulatedStorage killed = world.storage.copy();
    log.close();
    world.close();

    LogWorld next = new LogWorld(lazy, 2, killed);
    List<Long> seen = new ArrayList<>();
    List<SimulatedStorage> disks = new ArrayList<>();
    new Log()
        .open(
            next.site(),
            lazy,
            LogExtent.from(Lsn.FIRST),
            (lsn, kind, payload, offset, length, rest) -> {
              seen.add(lsn);
              disks.add(killed.crash(new SplittableRandom(lsn), CrashMode.ONLY_SYNCED));
            })
        .close();
    next.close();
    assertTrue(seen.size() > 10, "written without a sync: " + seen.size());
    for (int i = 0; i < disks.size(); i++) {
      LogWorld last = new LogWorld(lazy, 3, disks.get(i));
      last.open().close();
      assertTrue(last.replayed.size() > i, "acted on " + (i + 1) + ", lost but " + last.replayed);
      last.close();
    }
  }

  /**
   * Records fill sectors, so that the zeros that end a write lie in another sector than what they
   * end, and can be lost without it: what stood there before the tail was cut must be gone.
   */
  @Test
  void whatStoodBehindACutTailNeverComesBack() throws IOException {
    LogOptions lazy = new LogOptions(64 << 10, 16 << 10, false, 1L << 50, 2);
    LogWorld world = new LogWorld(lazy, 1);
    Log log = world.open();
    LogRecord record = log.newRecord();
    byte[] payload = new byte[512 - RecordLayout.HEADER_BYTES];
    Arrays.fill(payload, (byte) 1);
    List<Entry> first = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      first.add(LogWorld.append(record, payload));
    }
    SimulatedStorage torn = world.storage.copy();
    log.close();
    world.close();
    try (DataFile file = torn.open(SegmentLayout.fileName(0), IoMode.BUFFERED)) {
      Memory zeros = new Memory(ByteBuffer.allocateDirect(512));
      file.write(DataFile.BLOCK + first.get(5).lsn(), zeros, 0, 512);
    }

    LogWorld next = new LogWorld(lazy, 2, torn);
    Log cut = next.open();
    assertEquals(first.subList(0, 5), next.replayed);
    LogRecord again = cut.newRecord();
    byte[] other = payload.clone();
    Arrays.fill(other, (byte) 2);
    Entry rewritten = LogWorld.append(again, other);
    assertEquals(first.get(5).lsn(), rewritten.lsn());
    List<SimulatedStorage> disks = new ArrayList<>();
    torn.onMutation(
        disk -> {
          for (int seed = 0; seed < 200; seed++) {
            disks.add(disk.crash(new SplittableRandom(seed), CrashMode.RANDOM));
          }
        });
    cut.flush();
    torn.onMutation(disk -> {});
    cut.close();
    next.close();
    List<Entry> without = first.subList(0, 5);
    List<Entry> with = new ArrayList<>(without);
    with.add(rewritten);
    int seen = 0;
    for (SimulatedStorage disk : disks) {
      LogWorld last = new LogWorld(lazy, 3, disk);
      last.open().close();
      boolean there = last.replayed.size() > 5;
      assertEquals(there ? with : without, last.replayed);
      seen += there ? 1 : 0;
      last.close();
    }
    assertTrue(seen > 0 && seen < disks.size(), seen + " of " + disks.size() + " saw the rewrite");
  }

  /** A record of several segments that has no end: of these all but the first one go. */
  @Test
  void powerLossWhileSeveralSegmentsAreCutOffIsHarmless() throws IOException {
    LogWorld world = new LogWorld(LogWorld.SMALL, 1);
    Log log = world.open();
    LogRecord record = log.newRecord();
    List<Entry> whole = List.of(LogWorld.append(record, new byte[100]));
    log.flush();
    record.begin(400_000);
    record.put(new byte[350_000], 0, 350_000);
    SimulatedStorage torn = world.storage.crash(new SplittableRandom(1), CrashMode.ALL);
    assertTrue(torn.list().stream().filter(name -> SegmentLayout.indexOf(name) >= 0).count() > 4);
    record.abandon();
    log.close();
    world.close();

    List<SimulatedStorage> disks = new ArrayList<>();
    torn.onMutation(
        disk -> {
          for (int seed = 0; seed < 50; seed++) {
            disks.add(disk.crash(new SplittableRandom(seed), CrashMode.RANDOM));
          }
        });
    LogWorld next = new LogWorld(LogWorld.SMALL, 2, torn);
    next.open().close();
    next.close();
    assertEquals(whole, next.replayed);
    for (SimulatedStorage disk : disks) {
      LogWorld last = new LogWorld(LogWorld.SMALL, 3, disk);
      last.open().close();
      last.close();
      assertEquals(whole, last.replayed);
    }
  }
}
