package io.isobardb.lsm.wal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.ForwardingScheduler;
import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.error.DiskFullException;
import io.isobardb.lsm.error.StoreClosedException;
import io.isobardb.lsm.error.StoreFailedException;
import io.isobardb.lsm.io.Clock;
import io.isobardb.lsm.schedule.Awaited;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.schedule.Scheduler;
import io.isobardb.lsm.schedule.Signal;
import io.isobardb.lsm.simulation.CrashMode;
import io.isobardb.lsm.simulation.Fault;
import io.isobardb.lsm.simulation.FaultPlan;
import io.isobardb.lsm.simulation.Operation;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.wal.LogWorld.Entry;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

class LogFailureTest {
  @Test
  void aFullDiskStopsWritersUntilThereIsRoomAgain() throws IOException {
    LogWorld world = new LogWorld(LogWorld.SMALL, 3);
    Log log = world.open();
    LogRecord record = log.newRecord();
    List<Entry> written = new ArrayList<>();
    world.storage.capacityBytes(world.storage.usedBytes() + (100 << 10));
    DiskFullException full =
        assertThrows(
            DiskFullException.class,
            () -> {
              for (int i = 0; i < 1000; i++) {
                log.checkWritable();
                written.add(LogWorld.append(record, new byte[500]));
                if (i % 10 == 9) {
                  log.awaitDurable(written.get(i).lsn());
                }
              }
            });
    assertNotNull(full.getCause());
    long last = written.get(written.size() - 1).lsn();
    assertThrows(DiskFullException.class, log::checkWritable);
    log.awaitDurable(last);
    assertTrue(log.durable() < last, "the segments have no room for it");
    assertEquals(written, replayedAfterPowerLoss(world), "what was admitted is in the ring");
    world.scheduler.runFor(5_000_000_000L);
    assertThrows(DiskFullException.class, log::checkWritable, "there still is no room");
    // What fits into the ring is taken nevertheless.
    written.add(LogWorld.append(record, new byte[500]));

    world.storage.capacityBytes(Long.MAX_VALUE);
    world.scheduler.runFor(5_000_000_000L);
    log.checkWritable();
    assertEquals(log.end(), log.durable());
    written.add(LogWorld.append(record, new byte[500]));
    log.close();
    world.open().close();
    assertEquals(written, world.replayed);
    world.close();
  }

  private static List<Entry> replayedAfterPowerLoss(LogWorld world) throws IOException {
    SimulatedStorage left = world.storage.crash(new SplittableRandom(1), CrashMode.ONLY_SYNCED);
    left.capacityBytes(Long.MAX_VALUE);
    LogWorld after = new LogWorld(world.options, 4, left);
    after.open().close();
    after.close();
    return after.replayed;
  }

  @Test
  void aWriteThatFindsTheBufferFullTurnsBackWhenTheDiskIsFull() throws IOException {
    LogWorld world = new LogWorld(LogWorld.SMALL, 3);
    Log log = world.open();
    LogRecord record = log.newRecord();
    List<Entry> written = new ArrayList<>();
    world.storage.capacityBytes(world.storage.usedBytes());
    assertThrows(
        DiskFullException.class,
        () -> {
          for (int i = 0; i < 10_000; i++) {
            written.add(LogWorld.append(record, new byte[500]));
          }
        });
    long end = log.end();
    assertThrows(DiskFullException.class, () -> LogWorld.append(record, new byte[500]));
    assertEquals(end, log.end(), "it has taken no place");

    world.storage.capacityBytes(Long.MAX_VALUE);
    world.scheduler.runFor(5_000_000_000L);
    written.add(LogWorld.append(record, new byte[500]));
    log.close();
    world.open().close();
    assertEquals(written, world.replayed);
    world.close();
  }

  @Test
  void aFailedSyncIsFinal() throws IOException {
    for (Fault fault : new Fault[] {Fault.EIO, Fault.ENOSPC}) {
      LogWorld world = new LogWorld(LogWorld.SMALL, 3);
      Log log = world.open();
      LogRecord record = log.newRecord();
      Entry first = LogWorld.append(record, new byte[100]);
      log.flush();
      world.storage.faults(FaultPlan.every(Operation.SYNC, fault));
      Entry second = LogWorld.append(record, new byte[100]);
      assertEquals(log.end() - 1, log.visible());
      StoreFailedException failed =
          assertThrows(StoreFailedException.class, () -> log.awaitDurable(second.lsn()));
      assertTrue(failed.getCause() instanceof IOException);
      world.storage.faults(FaultPlan.NONE);
      world.scheduler.runFor(1_000_000_000L);
      assertStopped(log, record);
      assertTrue(log.durable() <= second.lsn());
      log.awaitDurable(first.lsn());
      log.close();
      world.close();
    }
  }

  @Test
  void noWriterSyncsAgainWhatTheLogsThreadCouldNotSync() throws IOException {
    LogWorld world = new LogWorld(LogWorld.SMALL, 3);
    AtomicInteger syncs = new AtomicInteger();
    AtomicReference<Runnable> another = new AtomicReference<>();
    Clock clock =
        new Clock() {
          @Override
          public long nanos() {
            Runnable first = syncs.get() == 0 ? null : another.getAndSet(null);
            if (first != null) {
              first.run();
            }
            return world.clock.nanos();
          }

          @Override
          public long wallMillis() {
            return world.clock.wallMillis();
          }
        };
    Environment environment =
        new Environment(world.storage, clock, world.scheduler, new SplittableRandom(1));
    LogSite site = new LogSite(environment, world.pool, LogWorld.STORE, LogWorld.QUIET);
    LogHandler nobody = LogWorld.whole((lsn, kind, bytes) -> {});
    Log log = new Log().open(site, world.options, LogExtent.from(Lsn.FIRST), nobody);
    Entry entry = LogWorld.append(log.newRecord(), new byte[100]);
    List<String> told = new ArrayList<>();
    another.set(
        () -> {
          try {
            log.awaitDurable(entry.lsn());
            told.add("durable");
          } catch (StoreFailedException e) {
            told.add("failed");
          }
        });
    world.storage.faults(
        (operation, file, index) ->
            operation == Operation.SYNC && syncs.getAndIncrement() == 0 ? Fault.EIO : Fault.NONE);

    world.scheduler.runFor(1_000_000_000L);

    assertEquals(List.of("failed"), told, "as soon as the log's thread has given the log back");
    assertEquals(1, syncs.get());
    assertTrue(log.durable() <= entry.lsn());
    log.close();
    world.close();
  }

  /** Has no heap for the next wait for room in the ring, if it is to. */
  private static final class NoHeapToWait extends ForwardingScheduler {
    private boolean planted;

    NoHeapToWait(Scheduler scheduler) {
      super(scheduler);
    }

    @Override
    public Signal signal(String name) {
      Signal signal = super.signal(name);
      if (!name.equals(Awaited.LOG_ROOM.text())) {
        return signal;
      }
      return new Signal() {
        @Override
        public void await(BooleanSupplier condition) {
          if (planted) {
            throw new OutOfMemoryError("planted: no heap to wait");
          }
          signal.await(condition);
        }

        @Override
        public boolean await(BooleanSupplier condition, long nanos) {
          return signal.await(condition, nanos);
        }

        @Override
        public void raise() {
          signal.raise();
        }
      };
    }
  }

  @Test
  void theLogStopsIfAPlaceInItCanNotBeFilled() throws IOException {
    LogWorld world = new LogWorld(LogWorld.SMALL, 3);
    NoHeapToWait scheduler = new NoHeapToWait(world.scheduler);
    Environment environment =
        new Environment(world.storage, world.clock, scheduler, new SplittableRandom(1));
    LogSite site = new LogSite(environment, world.pool, LogWorld.STORE, LogWorld.QUIET);
    LogHandler nobody = LogWorld.whole((lsn, kind, bytes) -> {});
    Log log = new Log().open(site, world.options, LogExtent.from(Lsn.FIRST), nobody);
    LogRecord record = log.newRecord();
    scheduler.planted = true;
    assertThrows(OutOfMemoryError.class, () -> LogWorld.append(record, new byte[100_000]));
    record.abandon();
    scheduler.planted = false;
    // Else this one would wait for the other one, which nobody writes.
    assertThrows(StoreFailedException.class, () -> LogWorld.append(log.newRecord(), new byte[10]));
    assertStopped(log, record);
    log.close();
    world.close();
  }

  @Test
  void aFailedWriteIsFinalAndFreesThoseWhoWaitForRoom() throws IOException {
    LogWorld world = new LogWorld(LogWorld.SMALL, 3);
    Log log = world.open();
    LogRecord record = log.newRecord();
    world.storage.faults(FaultPlan.every(Operation.WRITE, Fault.SHORT_THEN_EIO));
    StoreFailedException failed =
        assertThrows(StoreFailedException.class, () -> LogWorld.append(record, new byte[100_000]));
    assertTrue(failed.getCause() instanceof IOException);
    world.storage.faults(FaultPlan.NONE);
    assertStopped(log, record);
    log.close();
    world.close();
  }

  private static void assertStopped(Log log, LogRecord record) {
    assertThrows(StoreFailedException.class, log::checkWritable);
    assertThrows(StoreFailedException.class, () -> record.begin(1));
    assertTrue(record.abandon());
    assertThrows(StoreFailedException.class, log::reserveMarker);
    if (log.durable() <= log.visible()) {
      assertThrows(StoreFailedException.class, log::flush);
    }
  }

  @Test
  void aClosedLogSaysSoAndAFailedOneClosesAsItStands() throws IOException {
    LogWorld world = new LogWorld(LogWorld.SMALL, 3);
    Log log = world.open();
    LogRecord record = log.newRecord();
    Entry entry = LogWorld.append(record, new byte[10]);
    log.close();
    log.close();
    assertThrows(StoreClosedException.class, log::checkWritable);
    assertThrows(StoreClosedException.class, () -> record.begin(1));

    Log failed = world.open();
    failed.fail(new IllegalStateException("planted"));
    failed.fail(new IllegalStateException("too late"));
    StoreFailedException e = assertThrows(StoreFailedException.class, failed::checkWritable);
    assertEquals("planted", e.getCause().getMessage());
    failed.close();
    world.open().close();
    assertEquals(List.of(entry), world.replayed);
    world.close();
  }

  @Test
  void waitingForWhatWasNeverReservedIsRefused() throws IOException {
    LogWorld world = new LogWorld(LogWorld.SMALL, 3);
    Log log = world.open();
    assertThrows(IllegalArgumentException.class, () -> log.awaitDurable(log.end()));
    log.close();
    world.close();
  }
}
