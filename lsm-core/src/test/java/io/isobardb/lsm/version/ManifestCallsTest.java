package io.isobardb.lsm.version;

import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.io.TracedDisk;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.simulation.Fault;
import io.isobardb.lsm.simulation.FaultPlan;
import io.isobardb.lsm.simulation.Operation;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import io.isobardb.repair.format.ManifestRemains;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What a manifest does to the disk, and when: the calls. {@code manifest-*.txt} has a life of a
 * manifest in each question.
 *
 * <pre>
 *   create ROLLBYTES   open ROLLBYTES   settle   promise LSN   append EDIT | EDIT ...   close
 *   late EDIT | ...    as append, but not synced         sync
 *   big COUNT BYTES    an edit of so many properties of so many bytes
 *   kill               goes on with the files as they stand
 *   fail OPERATION FAULT [ENDING] | none     capacity KB|all   what the disk does from now on
 *   put FILE OFFSET BYTE...   shorten FILE BYTES   remove FILE   files   remains
 * </pre>
 */
class ManifestCallsTest {
  @ParameterizedTest
  @ValueSource(strings = {"writes", "unsynced", "opens", "failures"})
  void callsToTheDisk(String about) throws IOException {
    GoldenFile.check(
        ManifestCallsTest.class, "manifest-" + about + ".txt", lines -> new Life().live(lines));
  }

  private static final class Life {
    private final StringBuilder out = new StringBuilder();
    private final PagePool pool = new PagePool(4 << 20, 4096);
    private SimulatedStorage disk = new SimulatedStorage();
    private TracedDisk traced = new TracedDisk(disk);
    private Manifest manifest;

    String live(List<String> lines) {
      for (String line : lines) {
        out.append("> ").append(line).append('\n');
        try {
          step(line.split(" "), line);
        } catch (IOException | IsobarException | IllegalStateException e) {
          traced.note("! " + e.getClass().getSimpleName() + ": " + e.getMessage());
        } catch (IllegalArgumentException e) {
          traced.note("! refused: " + e.getMessage());
        }
        traced.take().forEach(call -> out.append(call).append('\n'));
      }
      return out.toString();
    }

    private void step(String[] words, String line) throws IOException {
      switch (words[0]) {
        case "create" -> {
          manifest = Manifest.create(traced.storage(), pool, 5, 6, number(words[1]));
          traced.note(manifest.storeId() + " " + manifest.fileName());
        }
        case "open" -> open(number(words[1]));
        case "settle" -> manifest.settle();
        case "promise" -> manifest.promise(number(words[1]));
        case "append" -> manifest.append(edits(line.substring(7)));
        case "late" -> manifest.appendUnsynced(edits(line.substring(5)));
        case "sync" -> manifest.sync();
        case "big" -> {
          VersionEdit.Builder edit = VersionEdit.store();
          for (int i = 0; i < number(words[1]); i++) {
            edit.property("p" + i, "x".repeat((int) number(words[2])));
          }
          manifest.append(List.of(edit.build()));
        }
        case "close" -> {
          manifest.close();
          traced.note(disk.openFiles() + " files open, " + pool.ledger().bytes(Purpose.METADATA));
        }
        case "kill" -> {
          SimulatedStorage left = disk.copy();
          manifest.close();
          disk = left;
          traced = new TracedDisk(disk);
        }
        case "files" -> {
          traced.note("live " + new TreeSet<>(manifest.liveFiles()));
          traced.note("orphans " + manifest.orphans(disk.list()));
        }
        case "remains" -> traced.note(ManifestRemains.read(traced.storage(), pool).toString());
        default -> harm(words);
      }
    }

    private static List<VersionEdit> edits(String text) {
      List<VersionEdit> edits = new ArrayList<>();
      for (String edit : text.split("\\|")) {
        edits.add(EditText.parse(edit));
      }
      return edits;
    }

    private void open(long rollBytes) throws IOException {
      Recovered recovered = Manifest.open(traced.storage(), pool, rollBytes);
      manifest = recovered.manifest();
      traced.note(recovered.counters() + " " + new TreeSet<>(recovered.properties().keySet()));
      for (Recovered.Tree tree : recovered.trees()) {
        Version version = tree.version(KeyOrder.BYTES);
        traced.note(tree.definition() + " flushed " + tree.flushedLsn());
        version.groups().forEach(group -> traced.note(group.place() + " " + files(group.run())));
        for (int i = 1; i <= version.levelCount(); i++) {
          traced.note("L" + i + " " + files(version.level(i)));
        }
      }
    }

    private static List<String> files(Level<SSTableMeta> run) {
      return run.elements().stream().map(SSTableMeta::fileName).toList();
    }

    private void harm(String[] words) throws IOException {
      switch (words[0]) {
        case "fail" -> disk.faults(words[1].equals("none") ? FaultPlan.NONE : plan(words));
        case "capacity" ->
            disk.capacityBytes(words[1].equals("all") ? Long.MAX_VALUE : number(words[1]) << 10);
        case "put" -> {
          int count = words.length - 3;
          Memory bytes = new Memory(ByteBuffer.allocateDirect(Math.max(1, count)));
          for (int i = 0; i < count; i++) {
            bytes.putByte(i, (byte) number(words[i + 3]));
          }
          try (DataFile file =
              disk.exists(words[1])
                  ? disk.open(words[1], IoMode.BUFFERED)
                  : disk.create(words[1], IoMode.BUFFERED)) {
            file.write(number(words[2]), bytes, 0, count);
          }
        }
        case "shorten" -> {
          try (DataFile file = disk.open(words[1], IoMode.BUFFERED)) {
            file.truncate(number(words[2]));
          }
        }
        case "remove" -> disk.delete(words[1]);
        default -> throw new AssertionError(Arrays.toString(words));
      }
    }

    private static FaultPlan plan(String[] words) {
      Operation failing = Operation.valueOf(words[1]);
      Fault fault = words[2].equals("EIO") ? Fault.EIO : Fault.ENOSPC;
      String ending = words.length > 3 ? words[3] : "";
      return (operation, file, i) ->
          operation == failing && file.endsWith(ending) ? fault : Fault.NONE;
    }

    private static long number(String word) {
      return Long.parseLong(word);
    }
  }
}
