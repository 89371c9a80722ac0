package io.isobardb.lsm;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.inspect.CheckProgress;
import io.isobardb.lsm.inspect.RepairReport;
import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.io.TracedDisk;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.simulation.CrashMode;
import io.isobardb.lsm.simulation.Fault;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.Operation;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedScheduler;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.version.GoldenFile;
import io.isobardb.memory.page.Memory;
import io.isobardb.repair.check.OfflineStore;
import io.isobardb.repair.salvage.RepairJob;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.UUID;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What opening, closing, checking and repairing a store does to the disk, and in which order: the
 * calls, reads left out. {@code store-*.txt} has the life of a store in each question.
 *
 * <pre>
 *   open [existing]   close   tree NAME logged|unlogged plain|packed   drop NAME
 *   put TREE KEY BYTES [TIMES]   delete TREE KEY   flush   sync   checkpoint   run   pass MS   show TREE
 *   kill     goes on with the files as they stand          lose     with what is synced of them
 *   fail OPERATION FAULT [ENDING] | none     what the disk does from now on
 *   byte FILE OFFSET VALUE...   shorten FILE BYTES   remove FILE   make FILE   files
 *   check     repair [HEAPBYTES]
 * </pre>
 */
class StoreCallsTest {
  @ParameterizedTest
  @ValueSource(strings = {"opens", "rollback", "check", "repair"})
  void callsToTheDisk(String about) throws IOException {
    GoldenFile.check(
        StoreCallsTest.class, "store-" + about + ".txt", lines -> new Life().live(lines));
  }

  private static final class Life {
    private final StringBuilder out = new StringBuilder();
    private final SimulatedClock clock = new SimulatedClock();
    private SimulatedStorage disk = new SimulatedStorage(clock);
    private TracedDisk traced = new TracedDisk(disk);
    private SimulatedScheduler scheduler;
    private Store store;
    private int seed;

    String live(List<String> lines) {
      for (String line : lines) {
        out.append("> ").append(line).append('\n');
        try {
          step(line.split(" "));
        } catch (IOException | UncheckedIOException | IsobarException e) {
          traced.note("! " + e.getClass().getSimpleName() + ": " + e.getMessage());
        } catch (IllegalArgumentException | IllegalStateException e) {
          traced.note("! refused: " + e.getMessage());
        }
        traced.take().stream()
            .filter(call -> !call.startsWith("read "))
            .forEach(call -> out.append(call).append('\n'));
      }
      close();
      return out.toString();
    }

    private void step(String[] words) throws IOException {
      switch (words[0]) {
        case "open" -> {
          store = open(traced, words.length > 1);
          traced.note("trees " + store.treeNames());
        }
        case "close" -> {
          store.close();
          traced.note(disk.openFiles() + " files open");
        }
        case "tree" ->
            store.createTree(
                words[1],
                TreeOptions.builder()
                    .logged(words[2].equals("logged"))
                    .compression(words[3].equals("packed") ? Compression.LZ4 : Compression.NONE)
                    .build());
        case "drop" -> store.dropTree(words[1]);
        case "put" -> {
          long times = words.length > 4 ? number(words[4]) : 1;
          for (int i = 0; i < times; i++) {
            byte[] value = new byte[(int) number(words[3])];
            Arrays.fill(value, (byte) ++seed);
            String key = words[2] + (times > 1 ? String.format("%05d", i) : "");
            store.tree(words[1]).put(key.getBytes(UTF_8), value, Durability.ASYNC);
          }
        }
        case "delete" -> store.tree(words[1]).delete(words[2].getBytes(UTF_8), Durability.ASYNC);
        case "flush" -> store.flush();
        case "checkpoint" -> store.checkpoint();
        case "sync" -> store.sync();
        case "run" -> scheduler.runUntilIdle();
        case "pass" -> scheduler.runFor(number(words[1]) * 1_000_000);
        case "show" -> traced.note(text(store.tree(words[1])));
        case "kill" -> next(disk.copy());
        case "lose" -> next(disk.crash(new SplittableRandom(1), CrashMode.ONLY_SYNCED));
        case "check" -> check();
        case "repair" -> repair(words.length > 1 ? number(words[1]) : 1 << 20);
        default -> harm(words);
      }
    }

    /** Gives memory back; what this does to the disk nobody sees any more. */
    private void close() {
      try {
        if (store != null) {
          store.close();
        }
      } catch (IsobarException | UncheckedIOException e) {
        // It was to fail.
      }
      store = null;
    }

    private Store open(TracedDisk on, boolean existing) {
      StoreOptions options =
          StoreOptions.builder()
              .memoryBudget(4 << 20)
              .pageSize(4096)
              .logLimit(1 << 20)
              .createIfMissing(!existing)
              .build();
      scheduler = new SimulatedScheduler(clock, 1);
      return Inside.open(
          new Environment(on.storage(), clock, scheduler, new SplittableRandom(1)), options);
    }

    private void next(SimulatedStorage left) {
      close();
      disk = left;
      traced = new TracedDisk(disk);
    }

    /** The entries of a tree: the first and the last one, and a sum of all. */
    private static String text(Tree tree) {
      int entries = 0;
      int sum = 0;
      String first = "";
      String last = "";
      try (Cursor cursor = tree.cursor(CursorOptions.all())) {
        for (boolean more = cursor.first(); more; more = cursor.next()) {
          byte[] value = cursor.value();
          last =
              new String(cursor.key(), UTF_8)
                  + "="
                  + value.length
                  + (value.length > 0 ? ":" + value[0] : "");
          first = first.isEmpty() ? last : first;
          entries++;
          sum = 31 * sum + Arrays.hashCode(cursor.key()) + Arrays.hashCode(value);
        }
      }
      return entries + " entries, " + first + " to " + last + " #" + Integer.toHexString(sum);
    }

    private void check() throws IOException {
      try (OfflineStore inspector = OfflineStore.open(traced.storage(), 4 << 20, orders())) {
        List<String> progress = new ArrayList<>();
        var report =
            inspector.check((what, done, of) -> progress.add(what + " " + done + "/" + of));
        progress.forEach(traced::note);
        report.findings().forEach(finding -> traced.note("found " + finding));
        report.notes().forEach(note -> traced.note("note " + note));
        traced.note(
            "%d trees, %d tables, %d pages, %d entries, %d bytes; log %d operations, %d bytes"
                .formatted(
                    report.trees(),
                    report.tables(),
                    report.pages(),
                    report.entries(),
                    report.tableBytes(),
                    report.logOperations(),
                    report.logBytes()));
      }
    }

    private static Map<String, KeyOrder> orders() {
      return StoreOptions.defaults().keyOrders();
    }

    private void repair(long heapBytes) throws IOException {
      SimulatedStorage to = new SimulatedStorage(clock);
      TracedDisk made = new TracedDisk(to);
      RepairReport report =
          RepairJob.run(
              disk.copy(),
              made.storage(),
              new RepairJob.Settings(4 << 20, heapBytes, orders(), new UUID(7, 8)),
              CheckProgress.NONE);
      made.take().forEach(traced::note);
      report.trees().forEach(tree -> traced.note(tree.toString()));
      report.losses().forEach(loss -> traced.note(text(loss)));
      report.notes().forEach(note -> traced.note("note " + note));
      try (Store repaired = open(new TracedDisk(to.copy()), true)) {
        for (String name : repaired.treeNames()) {
          traced.note(name + ": " + text(repaired.tree(name)));
        }
      }
    }

    private static String text(RepairReport.Loss loss) {
      return "lost "
          + String.join(
              " ",
              loss.file(),
              Long.toString(loss.from()),
              Long.toString(loss.to()),
              String.valueOf(loss.tree()),
              text(loss.after()),
              text(loss.before()),
              loss.what());
    }

    private static String text(byte[] key) {
      return key == null ? "-" : new String(key, UTF_8);
    }

    private void harm(String[] words) throws IOException {
      switch (words[0]) {
        case "fail" -> {
          String ending = words.length > 3 ? words[3] : "";
          disk.faults(
              (operation, file, i) ->
                  !words[1].equals("none")
                          && operation == Operation.valueOf(words[1])
                          && file.endsWith(ending)
                      ? words[2].equals("EIO") ? Fault.EIO : Fault.ENOSPC
                      : Fault.NONE);
        }
        case "byte" -> {
          int count = words.length - 3;
          Memory bytes = new Memory(ByteBuffer.allocateDirect(count));
          for (int i = 0; i < count; i++) {
            bytes.putByte(i, (byte) number(words[i + 3]));
          }
          try (DataFile file = disk.open(words[1], IoMode.BUFFERED)) {
            file.write(number(words[2]), bytes, 0, count);
          }
        }
        case "shorten" -> {
          try (DataFile file = disk.open(words[1], IoMode.BUFFERED)) {
            file.truncate(number(words[2]));
          }
        }
        case "make" -> disk.create(words[1], IoMode.BUFFERED).close();
        case "remove" -> disk.delete(words[1]);
        case "files" -> traced.note(disk.list().toString());
        default -> throw new AssertionError(Arrays.toString(words));
      }
    }

    private static long number(String word) {
      return Long.parseLong(word);
    }
  }
}
