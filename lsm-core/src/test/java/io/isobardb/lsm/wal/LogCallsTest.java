package io.isobardb.lsm.wal;

import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.event.StallSpan;
import io.isobardb.lsm.event.SyncSpan;
import io.isobardb.lsm.io.TracedDisk;
import io.isobardb.lsm.observe.StallReason;
import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.schedule.Job;
import io.isobardb.lsm.simulation.Fault;
import io.isobardb.lsm.simulation.FaultPlan;
import io.isobardb.lsm.simulation.Operation;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedScheduler;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.version.GoldenFile;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import io.isobardb.repair.format.LogSalvage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What a log does to the disk, and when: the calls, and where it stands after each step. {@code
 * log-*.txt} has a life of a log in each question.
 *
 * <pre>
 *   log direct|buffered segment=KB ring=KB async=MS spares=N       the first line
 *   open [START [SYNCED]]   append BYTES [TIMES]   marker [TIMES]   begin BYTES   put BYTES   complete
 *   publish   abandon   wait   flush   run   pass MS   truncate LSN   check   close
 *   later STEP              a step that is done when somebody waits
 *   look [START [SYNCED]]   scan [START [SYNCED]]   observe   fail-with MESSAGE
 *   kill                    what was not closed goes on with the files as they stand
 *   fail OPERATION FAULT | none     capacity KB|all     what the disk does from now on
 *   spare FILE BYTES   zero FILE OFFSET BYTES   shorten FILE BYTES   remove FILE
 *   salvage START SYNCED    what can be read of the files
 * </pre>
 */
class LogCallsTest {
  @ParameterizedTest
  @ValueSource(strings = {"writes", "segments", "opens", "failures", "fences", "salvage"})
  void callsToTheDisk(String about) throws IOException {
    GoldenFile.check(LogCallsTest.class, "log-" + about + ".txt", lines -> new Life().live(lines));
  }

  private static final class Life {
    /** What can be done while there is no log. */
    private static final Set<String> CLOSED =
        Set.of(
            "log",
            "open",
            "look",
            "scan",
            "kill",
            "salvage",
            "fail",
            "capacity",
            "spare",
            "zero",
            "shorten",
            "remove");

    private final StringBuilder out = new StringBuilder();
    private final SimulatedClock clock = new SimulatedClock();
    private final PagePool pool = new PagePool(8 << 20, 4096);
    private SimulatedStorage disk = new SimulatedStorage(clock);
    private TracedDisk traced = new TracedDisk(disk);
    private SimulatedScheduler scheduler = scheduler();
    private LogOptions options = LogWorld.SMALL;
    private Log log;
    private LogRecord record;
    private int appended;

    /** The last fence, unless what it is about is durable; then 0. */
    private long unsettled;

    String live(List<String> lines) {
      for (String line : lines) {
        out.append("> ").append(line).append('\n');
        try {
          step(line.split(" "));
        } catch (IOException | IsobarException | IllegalStateException e) {
          traced.note("! " + e.getClass().getSimpleName() + ": " + e.getMessage());
        } catch (IllegalArgumentException e) {
          traced.note("! refused: " + e.getMessage());
        }
        traced.take().forEach(call -> out.append(call).append('\n'));
        if (log != null) {
          out.append(where()).append('\n');
        }
      }
      return out.toString();
    }

    /** Waits that nothing ends fail. */
    private SimulatedScheduler scheduler() {
      SimulatedScheduler made = new SimulatedScheduler(clock, 1);
      made.setStepLimit(5000);
      return made;
    }

    private String where() {
      return "= end %d visible %d durable %d, %d syncs, %d written, size %d, dropped %d"
          .formatted(
              log.end(),
              log.visible(),
              log.durable(),
              log.syncs(),
              log.writtenBytes(),
              log.sizeBytes(),
              log.droppedBytes());
    }

    private void step(String[] words) throws IOException {
      if (log == null && !CLOSED.contains(words[0])) {
        traced.note("! not open");
        return;
      }
      switch (words[0]) {
        case "log" -> options(words);
        case "open" -> open(extent(words));
        case "append" -> {
          for (long i = number(words, 2, 1); i > 0; i--) {
            LogWorld.append(record, payload((int) number(words, 1, 0)));
          }
        }
        case "marker" -> {
          for (long i = number(words, 1, 1); i > 0; i--) {
            LogWorld.marker(log);
          }
        }
        case "fence" -> {
          unsettled = number(words, 1, 0);
          log.fence(unsettled);
        }
        case "begin" -> record.begin((int) number(words, 1, 0));
        case "put" -> record.put(payload((int) number(words, 1, 0)), 0, (int) number(words, 1, 0));
        case "complete" -> record.complete();
        case "publish" -> record.publish();
        case "abandon" -> traced.note(record.abandon() ? "void" : "kept");
        case "wait" -> log.awaitDurable(number(words, 1, log.end() - 1));
        case "flush" -> log.flush();
        case "run" -> scheduler.runUntilIdle();
        case "pass" -> scheduler.runFor(number(words, 1, 0) * 1_000_000);
        case "truncate" -> log.truncateBefore(number(words, 1, 0));
        case "check" -> log.checkWritable();
        case "close" -> {
          try {
            log.close();
          } finally {
            log = null;
            traced.note(disk.openFiles() + " files open, " + pool.ledger().bytes(Purpose.LOG));
          }
        }
        case "later" -> later(Arrays.copyOfRange(words, 1, words.length));
        case "fail-with" -> log.fail(new IllegalStateException(words[1]));
        case "look" -> Log.check(site(), options, extent(words));
        case "scan" -> {
          Found found = new Found();
          traced.note(LogScan.run(disk, pool, LogWorld.STORE, extent(words), found).toString());
          traced.note("found " + found);
        }
        case "kill" -> kill();
        case "salvage" -> salvage(number(words, 1, 0), number(words, 2, 0));
        default -> harm(words);
      }
    }

    private void harm(String[] words) throws IOException {
      switch (words[0]) {
        case "fail" ->
            disk.faults(
                words[1].equals("none")
                    ? FaultPlan.NONE
                    : FaultPlan.every(Operation.valueOf(words[1]), fault(words[2])));
        case "capacity" ->
            disk.capacityBytes(words[1].equals("all") ? Long.MAX_VALUE : number(words, 1, 0) << 10);
        case "spare" -> {
          try (var file = disk.create(words[1], IoMode.BUFFERED)) {
            file.truncate(number(words, 2, 0));
          }
        }
        case "zero" -> {
          try (var file = disk.open(words[1], IoMode.BUFFERED)) {
            Memory zeros = new Memory(ByteBuffer.allocateDirect((int) number(words, 3, 0)));
            file.write(number(words, 2, 0), zeros, 0, zeros.size());
          }
        }
        case "shorten" -> {
          try (var file = disk.open(words[1], IoMode.BUFFERED)) {
            file.truncate(number(words, 2, 0));
          }
        }
        case "remove" -> disk.delete(words[1]);
        default -> throw new AssertionError(words[0]);
      }
    }

    private static Fault fault(String name) {
      return name.equals("EIO") ? Fault.EIO : Fault.ENOSPC;
    }

    private static long number(String[] words, int at, long otherwise) {
      return at < words.length ? Long.parseLong(words[at]) : otherwise;
    }

    private void options(String[] words) {
      Map<String, Integer> values = new HashMap<>();
      for (int i = 2; i < words.length; i++) {
        String[] option = words[i].split("=");
        values.put(option[0], Integer.parseInt(option[1]));
      }
      options =
          new LogOptions(
              values.getOrDefault("segment", 64) << 10,
              values.getOrDefault("ring", 16) << 10,
              words[1].equals("direct"),
              values.getOrDefault("async", 100) * 1_000_000L,
              values.getOrDefault("spares", 2));
    }

    /** Bytes that tell records apart. */
    private byte[] payload(int length) {
      byte[] bytes = new byte[length];
      Arrays.fill(bytes, (byte) ++appended);
      return bytes;
    }

    private Environment environment() {
      return new Environment(traced.storage(), clock, scheduler, new SplittableRandom(1));
    }

    private static LogExtent extent(String[] words) {
      return new LogExtent(
          number(words, 1, Lsn.FIRST), number(words, 2, 0), number(words, 3, Long.MAX_VALUE));
    }

    private void open(LogExtent extent) throws IOException {
      Found replayed = new Found();
      try {
        Log.deleteSpares(traced.storage());
        log = new Log().open(site(), options, extent, replayed);
        record = log.newRecord();
      } finally {
        traced.note("replayed " + replayed);
      }
    }

    private LogSite site() {
      return new LogSite(environment(), pool, LogWorld.STORE, new Heard());
    }

    /** Notes what is told of the log. */
    private final class Heard implements LogListener {
      @Override
      public void beforeSync() {
        if (unsettled > 0) {
          traced.note("change " + unsettled + " is made durable");
          unsettled = 0;
        }
      }

      @Override
      public void onSynced(SyncSpan span, StoreListener.Sync sync) {
        traced.note("synced " + sync.bytes() + " bytes in " + sync.nanos() + " ns");
      }

      @Override
      public StallSpan beginStall(StallReason reason) {
        return StallSpan.start(reason, clock.nanos());
      }

      @Override
      public void endStall(StallSpan span) {
        long nanos = clock.nanos() - span.startNanos();
        traced.note("waited for " + span.why() + " " + nanos + " ns");
      }

      @Override
      public void countRefusal() {
        traced.note("refused");
      }

      @Override
      public void onFailed(Throwable cause) {
        traced.note("broken: " + cause.getMessage());
      }
    }

    private void later(String[] words) {
      scheduler.submit(
          new Job() {
            @Override
            public Priority priority() {
              return Priority.IDLE;
            }

            @Override
            public String name() {
              return "later";
            }

            @Override
            public boolean step() throws IOException {
              traced.note("now: " + String.join(" ", words));
              Life.this.step(words);
              return false;
            }

            @Override
            public void onFailed(Throwable cause) {
              traced.note("! later: " + cause.getMessage());
            }
          });
    }

    private void kill() throws IOException {
      SimulatedStorage left = disk.copy();
      if (log != null) {
        log.fail(new IllegalStateException("killed"));
        log.close();
        log = null;
      }
      disk = left;
      traced = new TracedDisk(disk);
      scheduler = scheduler();
    }

    private void salvage(long start, long synced) throws IOException {
      Found found = new Found();
      LogSalvage salvage =
          LogSalvage.run(disk, pool, LogWorld.STORE, new LogExtent(start, synced), found);
      traced.note("store " + LogSalvage.storeId(disk, pool));
      traced.note("found " + found);
      salvage.lost().forEach(lost -> traced.note(lost.toString()));
      salvage.headers().forEach(header -> traced.note(header.toString()));
    }
  }

  /**
   * The records that came: position, length, how many such follow each other, and a sum of their
   * last bytes.
   */
  private static final class Found implements LogHandler {
    private final List<String> rows = new ArrayList<>();
    private String row = "";
    private int inRow;
    private int sum;
    private int length = -1;

    /** Bytes of the record's parts so far. */
    private int earlier;

    private long next;

    @Override
    public void record(long lsn, byte kind, Memory payload, int offset, int part, int rest) {
      earlier += part;
      if (rest > 0) {
        return;
      }
      int bytes = earlier;
      earlier = 0;
      if (bytes != length || lsn != next || kind == MARKER) {
        endRow();
        row = (kind == MARKER ? "marker@" : "@") + lsn + "+" + bytes;
      }
      if (bytes > 0) {
        sum = 31 * sum + payload.getByte(offset + part - 1);
      }
      inRow++;
      length = kind == MARKER ? -1 : bytes;
      next = lsn + RecordLayout.HEADER_BYTES + Lsn.align(bytes);
    }

    private void endRow() {
      if (inRow > 0) {
        rows.add(row + (inRow > 1 ? " x" + inRow : "") + " #" + Integer.toHexString(sum));
      }
      inRow = 0;
      sum = 0;
    }

    @Override
    public String toString() {
      endRow();
      return rows.toString();
    }
  }
}
