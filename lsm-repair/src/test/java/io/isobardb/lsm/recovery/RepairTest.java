package io.isobardb.lsm.recovery;

import static io.isobardb.lsm.recovery.HandmadeStore.LOGGED;
import static io.isobardb.lsm.recovery.HandmadeStore.LOGGED_KEYS;
import static io.isobardb.lsm.recovery.HandmadeStore.ORDERS;
import static io.isobardb.lsm.recovery.HandmadeStore.UNLOGGED;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.error.StoreLockedException;
import io.isobardb.lsm.inspect.CheckProgress;
import io.isobardb.lsm.inspect.RepairReport;
import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.simulation.Fault;
import io.isobardb.lsm.simulation.FaultPlan;
import io.isobardb.lsm.simulation.Operation;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.version.Place;
import io.isobardb.lsm.version.VersionEdit;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.repair.check.OfflineStore;
import io.isobardb.repair.format.ManifestRemains;
import io.isobardb.repair.salvage.RepairJob;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a repair makes of stores that were put together by hand. */
class RepairTest {
  private static final String LOG = "0000000000.log";

  private final long memoryBytes = HandmadeStore.memoryBytes();
  private final HandmadeStore store = new HandmadeStore();
  private final SimulatedStorage target = new SimulatedStorage();

  @AfterEach
  void allIsGivenBack() {
    assertEquals(memoryBytes, HandmadeStore.memoryBytes(), "memory that is held");
    assertEquals(0, store.disk().openFiles(), "files left open");
    assertEquals(0, target.openFiles(), "new files left open");
  }

  private RepairReport repair() throws IOException {
    return repair(target, CheckProgress.NONE);
  }

  private RepairReport repair(SimulatedStorage to, CheckProgress progress) throws IOException {
    RepairJob.Settings settings = new RepairJob.Settings(4 << 20, 1 << 20, ORDERS, new UUID(7, 8));
    return RepairJob.run(store.disk().copy(), to, settings, progress);
  }

  private static Map<String, Long> trees(RepairReport report) {
    Map<String, Long> trees = new TreeMap<>();
    report.trees().forEach(tree -> trees.put(tree.name(), tree.entries()));
    return trees;
  }

  private void loseManifest(boolean currentAlone) throws IOException {
    for (String name : store.disk().list()) {
      if (name.equals("CURRENT") || !currentAlone && name.startsWith("MANIFEST")) {
        store.disk().delete(name);
      }
    }
  }

  @Test
  void eachFileAndEachTreeIsToldOfAsItComes() throws IOException {
    String first = store.add(LOGGED, Place.level(0), "a@4200", "b@4200");
    String second = store.add(UNLOGGED, Place.level(0), "a@4200");
    store.edit(VersionEdit.store().checkpointLsn(5000));
    List<String> progress = new ArrayList<>();
    RepairReport report =
        repair(target, (what, done, total) -> progress.add(what + " " + done + "/" + total));
    assertEquals(
        List.of(
            first + " 0/2",
            second + " 1/2",
            "the log 0/1",
            "tree 'logged' 0/3",
            "tree 'unlogged' 1/3",
            "tree 'backwards' 2/3"),
        progress);
    assertEquals(List.of(), report.losses());
    assertEquals(List.of(), report.notes());
    assertTrue(report.isComplete());
    assertEquals(
        Map.of("logged", 2L + LOGGED_KEYS, "unlogged", 1L, "backwards", 0L), trees(report));
    assertThrows(StoreLockedException.class, target::lock);
  }

  @Test
  void whatTheManifestCallsFlushedIsNotTakenFromTheLog() throws IOException {
    List<Long> lsns = new ArrayList<>();
    try (OfflineStore inspector = store.inspect()) {
      inspector.log((lsn, tree, write) -> lsns.add(lsn));
    }
    store.edit(VersionEdit.of(LOGGED).flushedLsn(lsns.get(7)));
    assertEquals(LOGGED_KEYS - 7L, trees(repair()).get("logged"));
  }

  /** What was changed of a tree, and changed back, is noted as an empty text. */
  @Test
  void whatWasChangedBackOfATreeDoesNotKeepItFromBeingSavedWithoutAManifest() throws IOException {
    try (Store open = store.open()) {
      Tree tree = open.tree("logged");
      tree.setTimeToLive(Duration.ofDays(1));
      tree.setTimeToLive(Duration.ZERO);
      tree.setMaxSpace(2);
    }
    loseManifest(true);
    assertEquals(LOGGED_KEYS, trees(repair()).get("logged"));
    PagePool pool = new PagePool(2 << 20, 4096);
    try {
      Map<String, String> saved = ManifestRemains.read(target.copy(), pool).properties();
      assertEquals(2, StoreProperties.adjustments(saved, LOGGED).maxSpace());
      assertEquals(0, StoreProperties.adjustments(saved, LOGGED).timeToLive());
    } finally {
      pool.close();
    }
  }

  /** The typical damage of a disk: reading some place of it fails. */
  @Test
  void aFileThatTheDeviceCanNotReadIsLostAndTheOthersAreSaved() throws IOException {
    store.add(UNLOGGED, Place.level(0), "a@4200", "c@4200");
    store.add(LOGGED, Place.level(0), "a@4200", "d@4200");
    store.edit(VersionEdit.store().checkpointLsn(5000));
    RepairJob.Settings settings = new RepairJob.Settings(4 << 20, 1 << 20, ORDERS, new UUID(9, 9));
    for (String name : store.disk().list()) {
      SimulatedStorage damaged = store.disk().copy();
      damaged.faults(
          (operation, file, at) ->
              operation == Operation.READ && file.equals(name) ? Fault.EIO : Fault.NONE);
      RepairReport report =
          RepairJob.run(damaged, new SimulatedStorage(), settings, CheckProgress.NONE);
      assertEquals(name.equals("LOCK"), report.isComplete(), name + ": " + report);
      long lost = name.equals(LOG) ? LOGGED_KEYS : name.endsWith(".sst") ? 2 : 0;
      long saved = trees(report).values().stream().mapToLong(Long::longValue).sum();
      assertEquals(LOGGED_KEYS + 4 - lost, saved, name + ": " + report);
    }
  }

  /** What was found is read once more to be copied; a device may fail in between. */
  @Test
  void aPlaceThatTheDeviceReadsOnceOnlyIsToldOf() throws IOException {
    String file = store.add(LOGGED, Place.level(0), "a@4200", "c@4200");
    int whole = 0;
    int partial = 0;
    for (int reads = 0; whole == 0; reads++) {
      SimulatedStorage damaged = store.disk().copy();
      int[] left = {reads};
      damaged.faults(
          (operation, name, at) ->
              operation == Operation.READ && name.equals(file) && left[0]-- <= 0
                  ? Fault.EIO
                  : Fault.NONE);
      RepairJob.Settings settings =
          new RepairJob.Settings(4 << 20, 1 << 20, ORDERS, new UUID(9, 9));
      RepairReport report =
          RepairJob.run(damaged, new SimulatedStorage(), settings, CheckProgress.NONE);
      boolean all = trees(report).get("logged") == LOGGED_KEYS + 2;
      assertEquals(all, report.isComplete(), "after " + reads + " reads: " + report);
      whole += all ? 1 : 0;
      partial += all ? 0 : 1;
    }
    assertTrue(partial > 2, partial + " reads");
  }

  /** The pages of a file under another's name are right, but they are not what is missed. */
  @Test
  void anSSTableThatIsACopyOfAnotherOneIsMissed() throws IOException {
    String first = store.add(LOGGED, Place.level(0), "a@4200", "b@4200");
    String second = store.add(LOGGED, Place.level(0), "c@4208", "d@4208");
    byte[] copied = store.read(first);
    store.disk().delete(second);
    HandmadeStore.write(store.disk(), second, copied);
    RepairReport report = repair();
    assertEquals(2L + LOGGED_KEYS, trees(report).get("logged"));
    assertEquals(1, report.losses().size(), report.toString());
    RepairReport.Loss loss = report.losses().get(0);
    assertEquals(second, loss.file());
    assertEquals("logged", loss.tree());
    assertEquals("c", new String(loss.after(), UTF_8));
    assertEquals("d", new String(loss.before(), UTF_8));
  }

  @Test
  void aValueWhosePagesCanNotBeIsFoundByACheckAndLostByARepair() throws IOException {
    for (int first : new int[] {0, -1, 1, 1000, Integer.MAX_VALUE - 1, Integer.MIN_VALUE}) {
      HandmadeStore lying = new HandmadeStore();
      Memory value = new Memory(ByteBuffer.allocateDirect(16));
      value.putInt(0, first);
      value.putLong(8, 100_000);
      String file =
          lying.add(
              LOGGED,
              Place.level(0),
              writer -> {
                byte[] key = "k".getBytes(UTF_8);
                writer.add(key, key.length, 4200, Kind.PUT_OVERFLOW, value, 0, 16);
                writer.add(new byte[] {'l'}, 1, 4200, Kind.PUT, value, 0, 8);
              });
      assertFalse(lying.check().isSound(), "pages from " + first);
      RepairJob.Settings settings =
          new RepairJob.Settings(4 << 20, 1 << 20, ORDERS, new UUID(7, 8));
      RepairReport report =
          RepairJob.run(lying.disk().copy(), new SimulatedStorage(), settings, CheckProgress.NONE);
      assertEquals(1L + LOGGED_KEYS, trees(report).get("logged"), "pages from " + first);
      assertEquals(List.of(file), report.losses().stream().map(RepairReport.Loss::file).toList());
    }
  }

  /** Opening does not need them, but the SSTable that holds them can't be read. */
  @Test
  void whatADamagedSSTableHeldIsTakenFromTheLogIfThatStillHasIt() throws IOException {
    store.open().close();
    try (Store open = store.open()) {
      open.tree("backwards").put("keeps the log".getBytes(UTF_8), new byte[10]);
      open.tree("logged").put("k".getBytes(UTF_8), new byte[500]);
      open.tree("logged").delete("logged07".getBytes(UTF_8));
    }
    List<Long> lsns = new ArrayList<>();
    try (OfflineStore inspector = store.inspect()) {
      inspector.log((lsn, tree, write) -> lsns.add(lsn));
    }
    long behind = lsns.get(lsns.size() - 1) + 8;
    String file = store.add(LOGGED, Place.level(0), "a@4200", "c@4200");
    store.edit(VersionEdit.of(LOGGED).flushedLsn(behind));
    assertEquals(2L, trees(repair()).get("logged"));
    store.disk().delete(file);
    assertEquals(
        (long) LOGGED_KEYS,
        trees(repair(new SimulatedStorage(), CheckProgress.NONE)).get("logged"));
  }

  @Test
  void aFileCurrentOfAnotherStoreCostsNothingButTheManifest() throws IOException {
    store.add(LOGGED, Place.level(0), "a@4200", "b@4200");
    Map<String, Long> whole = trees(repair());
    Memory current = new Memory(ByteBuffer.allocateDirect(64));
    try (DataFile file = target.open("CURRENT", IoMode.BUFFERED)) {
      assertEquals(64, file.read(0, current, 0, 64));
    }
    try (DataFile file = store.disk().open("CURRENT", IoMode.BUFFERED)) {
      file.write(0, current, 0, 64);
    }
    SimulatedStorage again = new SimulatedStorage();
    RepairReport report = repair(again, CheckProgress.NONE);
    assertEquals(whole, trees(report));
    assertEquals(
        List.of(RepairJob.MANIFEST), report.losses().stream().map(loss -> loss.file()).toList());
  }

  /** What it had of the newest writes, nobody knows. */
  @Test
  void aRingThatCanNotBeReadIsALoss() throws IOException {
    store.overwrite("RING", 20, 8, 99);
    RepairReport report = repair();
    assertEquals((long) LOGGED_KEYS, trees(report).get("logged"));
    assertEquals(1, report.notes().size(), report.toString());
    assertEquals(List.of("RING"), report.losses().stream().map(loss -> loss.file()).toList());
  }

  @Test
  void recordsThatCanNotBeReadAreToldWithTheirPlace() throws IOException {
    List<Long> lsns = new ArrayList<>();
    try (OfflineStore inspector = store.inspect()) {
      inspector.log((lsn, tree, write) -> lsns.add(lsn));
    }
    // In the first segment a record's offset is its LSN and the page of the header.
    store.overwrite(LOG, lsns.get(5) + 4096 + 100, 1, 99);
    RepairReport report = repair();
    assertEquals(LOGGED_KEYS - 1L, trees(report).get("logged"));
    assertEquals(
        List.of(
            new RepairReport.Loss(
                LOG,
                lsns.get(5) + 4096,
                lsns.get(6) + 4096,
                null,
                null,
                null,
                "records that can't be read")),
        report.losses());
  }

  @Test
  void aSegmentWithoutItsHeaderIsNotedAndItsRecordsAreSaved() throws IOException {
    store.overwrite(LOG, 20, 8, 99);
    RepairReport report = repair();
    assertEquals((long) LOGGED_KEYS, trees(report).get("logged"));
    assertEquals(1, report.notes().size(), report.toString());
    assertTrue(report.notes().get(0).startsWith(LOG), report.toString());
  }

  @Test
  void ofATreeThatIsInTheLogAloneTheNameIsTakenFromWhatIsLeftOfManifests() throws IOException {
    loseManifest(true);
    RepairReport report = repair();
    assertEquals((long) LOGGED_KEYS, trees(report).get("logged"), report.toString());
    assertEquals(1, report.losses().size(), report.toString());
    assertEquals(RepairJob.MANIFEST, report.losses().get(0).file());
  }

  /** Makes trees of one name, each dropped before the next, and puts the files back they had. */
  private List<String> dropped(String name, int times) throws IOException {
    Map<String, byte[]> files = new TreeMap<>();
    try (Store opened = store.open()) {
      opened.flush();
      for (int i = 0; i < times; i++) {
        opened.createTree(name, TreeOptions.defaults()).put("k".getBytes(UTF_8), new byte[10]);
        List<String> before = store.disk().list();
        opened.flush();
        for (String file : store.disk().list()) {
          if (file.endsWith(".sst") && !before.contains(file)) {
            files.put(file, store.read(file));
          }
        }
        opened.dropTree(name);
      }
    }
    assertEquals(times, files.size());
    for (Map.Entry<String, byte[]> file : files.entrySet()) {
      byte[] bytes = file.getValue();
      Memory memory = new Memory(ByteBuffer.allocateDirect(bytes.length).put(0, bytes));
      try (DataFile put = store.disk().create(file.getKey(), IoMode.BUFFERED)) {
        put.write(0, memory, 0, bytes.length);
      }
    }
    return List.copyOf(files.keySet());
  }

  @Test
  void aFileOfATreeThatWasDroppedIsNotedIfFilesAreMissing() throws IOException {
    String live = store.add(LOGGED, Place.level(0), "a@4200", "c@4200");
    String left = dropped("gone", 1).get(0);
    assertEquals(List.of(), repair(new SimulatedStorage(), CheckProgress.NONE).notes());
    store.disk().delete(live);
    RepairReport report = repair();
    assertEquals(List.of(left + " is of tree 4, which there is no more"), report.notes());
    assertEquals(live, report.losses().get(0).file());
    assertEquals("logged", report.losses().get(0).tree());
  }

  @Test
  void treesOfOneNameAreToldApart() throws IOException {
    dropped("twice", 3);
    loseManifest(false);
    Map<String, Long> trees = trees(repair());
    assertEquals(1, trees.get("twice"));
    assertEquals(1, trees.get("twice-2"));
    assertEquals(1, trees.get("twice-3"));
  }

  @Test
  void aRepairThatMeetsAFailingDiskGivesAllBack() throws IOException {
    store.add(UNLOGGED, Place.level(0), "a@4200", "c@4200");
    store.add(UNLOGGED, Place.level(1), "a@4800", "d@4800");
    store.edit(VersionEdit.store().checkpointLsn(5000));
    int told = 0;
    for (int i = 0; ; i++) {
      SimulatedStorage to = new SimulatedStorage();
      int[] before = {i};
      to.faults((operation, file, at) -> before[0]-- == 0 ? Fault.EIO : Fault.NONE);
      try {
        repair(to, CheckProgress.NONE);
      } catch (IOException | UncheckedIOException | IsobarException e) {
        told++;
      }
      to.faults(FaultPlan.NONE);
      assertEquals(memoryBytes, HandmadeStore.memoryBytes(), "memory held, operation " + i);
      assertEquals(0, to.openFiles(), "files left open, operation " + i);
      if (before[0] >= 0) {
        break;
      }
    }
    assertTrue(told > 20, told + " failures");
  }
}
