package io.isobardb.lsm.damage;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.SimulatedStores;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.error.FormatException;
import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.error.StoreLockedException;
import io.isobardb.lsm.inspect.CheckProgress;
import io.isobardb.lsm.inspect.RepairReport;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.simulation.Fault;
import io.isobardb.lsm.simulation.Operation;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.simulation.SimulatedWorld;
import io.isobardb.lsm.sstable.PageLayout;
import io.isobardb.memory.pool.OutOfBudgetException;
import io.isobardb.memory.system.Region;
import io.isobardb.repair.StoreRepair;
import io.isobardb.repair.check.OfflineStore;
import io.isobardb.repair.salvage.RepairJob;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What a repair makes of damaged stores: what was not damaged is saved, and nothing appears that
 * never was.
 *
 * <p>{@code -Disobar.damage.perFile=N} and {@code -Disobar.seed} are as of {@link StoreDamageTest}.
 */
@Tag("any-jdk")
class StoreRepairTest {
  private static final long SEED = Long.getLong("isobar.seed", 20_261_122L);
  private static final int PER_FILE = Integer.getInteger("isobar.damage.perFile", 2);
  private static final Damage NO_MANIFEST =
      new Damage(
          "MANIFEST",
          "missing with CURRENT",
          files -> files.keySet().removeIf(n -> n.startsWith("MANIFEST") || n.equals("CURRENT")));

  private static final String RING = "RING";

  private static DamagedStore store;
  private static DamagedStore other;

  @BeforeAll
  static void makeStores() throws IOException {
    store = new DamagedStore(SEED);
    other = new DamagedStore(SEED + 1);
  }

  private static RepairReport repair(SimulatedStorage from, SimulatedStorage to)
      throws IOException {
    return repair(from, to, 1 << 20);
  }

  private static RepairReport repair(SimulatedStorage from, SimulatedStorage to, long heapBytes)
      throws IOException {
    return repair(from, to, 4 << 20, heapBytes);
  }

  private static RepairReport repair(
      SimulatedStorage from, SimulatedStorage to, long memoryBytes, long heapBytes)
      throws IOException {
    try (from;
        to) {
      return RepairJob.run(
          from,
          to,
          new RepairJob.Settings(
              memoryBytes, heapBytes, DamagedStore.OPTIONS.keyOrders(), new UUID(7, SEED)),
          CheckProgress.NONE);
    }
  }

  private static TreeMap<String, byte[]> contents(SimulatedStorage disk) throws IOException {
    TreeMap<String, byte[]> contents = new TreeMap<>();
    for (String name : disk.list()) {
      contents.put(name, DamagedStore.read(disk, name));
    }
    return contents;
  }

  /** Repairs, and checks what comes of it against what the store held; gives the report. */
  private static RepairReport judge(Damage damage) throws IOException {
    // Without the manifest nobody knows of a file that is not there any more.
    boolean mayMissFiles =
        damage.what().matches("(missing,|swapped with|replaced|zeros from 0 ).*")
            || endsTheLog(damage);
    SimulatedStorage from = store.disk(damage);
    TreeMap<String, byte[]> before = contents(from);
    SimulatedStorage to = new SimulatedStorage();
    RepairReport report = repair(from, to);
    TreeMap<String, byte[]> after = contents(from);
    assertEquals(before.keySet(), after.keySet());
    before.forEach((name, content) -> assertArrayEquals(content, after.get(name), name));
    assertEquals(0, from.openFiles());
    assertEquals(0, to.openFiles());
    try (OfflineStore inspector =
        OfflineStore.open(to.copy(), 4 << 20, DamagedStore.OPTIONS.keyOrders())) {
      assertEquals(List.of(), inspector.check(CheckProgress.NONE).findings());
    }
    try (Store repaired = new SimulatedWorld(to, SEED).open(DamagedStore.OPTIONS)) {
      for (String name : store.trees()) {
        compare(name, read(repaired, name), report, mayMissFiles);
      }
      if (report.isComplete()) {
        assertEquals(List.copyOf(store.trees()), repaired.treeNames());
      }
    }
    return report;
  }

  /** Zeros to the end of the last segment look like the log's end to whoever has no manifest. */
  private static boolean endsTheLog(Damage damage) {
    String last =
        store.files().keySet().stream().filter(n -> n.endsWith(".log")).reduce("", (a, b) -> b);
    return damage.file().equals(last)
        && damage
            .what()
            .matches("zeros from .* to " + store.files().get(last).length + ", no manifest");
  }

  private static Map<byte[], byte[]> read(Store repaired, String name) {
    Map<byte[], byte[]> found = new TreeMap<>(Arrays::compareUnsigned);
    if (repaired.treeNames().contains(name)) {
      try (Cursor cursor = repaired.tree(name).cursor()) {
        for (boolean more = cursor.first(); more; more = cursor.next()) {
          found.put(cursor.key(), cursor.value());
        }
      }
    }
    return found;
  }

  private static void compare(
      String tree, Map<byte[], byte[]> found, RepairReport report, boolean mayMissFiles) {
    TreeMap<byte[], byte[]> model = store.model(tree);
    TreeSet<byte[]> keys = new TreeSet<>(Arrays::compareUnsigned);
    keys.addAll(model.keySet());
    keys.addAll(found.keySet());
    for (byte[] key : keys) {
      byte[] value = found.get(key);
      String text = tree + ", key " + new String(key, UTF_8);
      assertTrue(value == null || store.everHeld(tree, key, value), () -> text + " never was");
      if (!Arrays.equals(model.get(key), value)) {
        assertTrue(
            report.losses().stream()
                .filter(loss -> mayMissFiles || !loss.file().equals(RepairJob.MANIFEST))
                .anyMatch(loss -> covers(loss, tree, key)),
            () -> text + ": found " + (value != null) + ", not told of: " + report);
      }
    }
  }

  private static boolean covers(RepairReport.Loss loss, String tree, byte[] key) {
    String named = loss.tree();
    if (named != null && !named.equals(tree)) {
      return false;
    }
    Comparator<byte[]> order = Arrays::compareUnsigned;
    if (tree.equals("backwards")) {
      order = order.reversed();
    }
    byte[] after = loss.after();
    byte[] before = loss.before();
    return (after == null || order.compare(after, key) <= 0)
        && (before == null || order.compare(key, before) <= 0);
  }

  @Test
  void aSoundStoreIsCopiedWhole() throws IOException {
    RepairReport report = judge(new Damage("", "none", files -> {}));
    assertEquals(List.of(), report.losses());
    assertEquals(List.of(), report.notes());
    for (RepairReport.SavedTree tree : report.trees()) {
      assertEquals(store.model(tree.name()).size(), tree.entries(), tree.name());
    }
  }

  @Test
  void aLogThatIsTooMuchForTheHeapIsSorted() throws IOException {
    SimulatedStorage to = new SimulatedStorage();
    RepairReport report = repair(store.disk(new Damage("", "none", files -> {})), to, 5_000);
    assertEquals(List.of(), report.losses());
    try (Store repaired = new SimulatedWorld(to, SEED).open(DamagedStore.OPTIONS)) {
      for (String name : store.trees()) {
        compare(name, read(repaired, name), report, false);
      }
    }
  }

  @Test
  void onlyTheManifestIsLostWithTheManifest() throws IOException {
    RepairReport report = judge(NO_MANIFEST);
    assertEquals(1, report.losses().size(), report.toString());
    assertEquals(RepairJob.MANIFEST, report.losses().get(0).file());
    assertEquals(List.of(), report.notes());
    assertEquals(
        List.copyOf(store.trees()),
        report.trees().stream().map(RepairReport.SavedTree::name).sorted().toList());
  }

  @Test
  void aStoreThatWasKilledIsSavedAsOpeningItWould() throws IOException {
    SimulatedWorld world = new SimulatedWorld(SEED);
    SimulatedStorage killed;
    try (Store open = world.open(SimulatedStores.SMALL)) {
      Tree tree = open.createTree("t", TreeOptions.defaults());
      for (int i = 0; i < 30; i++) {
        tree.put(SimulatedStores.key(i), SimulatedStores.value(i, 100), Durability.SYNC);
      }
      killed = world.storage().copy();
    }
    TreeMap<String, byte[]> files = contents(killed);
    String log = files.keySet().stream().filter(n -> n.endsWith(".log")).findFirst().orElseThrow();
    for (int end = 4096; end < 9000; end += 97) {
      TreeMap<String, byte[]> cut = new TreeMap<>(files);
      Damage.truncate(log, end).apply(cut);
      SimulatedStorage disk = DamagedStore.disk(killed, files, cut);
      SimulatedStorage to = new SimulatedStorage();
      RepairReport report = repair(disk.copy(), to);
      assertEquals(List.of(), report.losses(), "cut off at " + end);
      try (Store opened = new SimulatedWorld(disk, SEED).open(DamagedStore.OPTIONS);
          Store repaired = new SimulatedWorld(to, SEED).open(DamagedStore.OPTIONS)) {
        assertEquals(
            SimulatedStores.contents(opened.tree("t")),
            SimulatedStores.contents(repaired.tree("t")));
      }
    }
  }

  @Test
  void whatWasNotDamagedIsSavedAndNothingAppearsThatNeverWas() throws IOException {
    List<String> wrong = new ArrayList<>();
    List<Damage> damages = Damages.of(store, other, SEED, PER_FILE);
    int complete = 0;
    int judged = 0;
    for (Damage damage : sample(damages)) {
      judged++;
      try {
        complete += judge(damage).isComplete() ? 1 : 0;
      } catch (IOException | RuntimeException | AssertionError e) {
        wrong.add(damage + ": " + e);
      }
    }
    told(wrong);
    assertTrue(complete > judged / 10 && complete < judged, complete + " complete of " + judged);
  }

  @Test
  void soItIsIfTheManifestIsLostToo() throws IOException {
    List<String> wrong = new ArrayList<>();
    for (Damage damage : sample(Damages.of(store, other, SEED + 1, PER_FILE))) {
      if (damage.toString().matches(".*(CURRENT|MANIFEST).*")) {
        continue;
      }
      try {
        judge(
            new Damage(
                damage.file(),
                damage.what() + ", no manifest",
                files -> {
                  damage.apply(files);
                  NO_MANIFEST.apply(files);
                }));
      } catch (IOException | RuntimeException | AssertionError e) {
        wrong.add(damage + ": " + e);
      }
    }
    told(wrong);
  }

  /** Without the manifest nothing else says how much of the log there was. */
  @Test
  void aSegmentOfTheLogThatIsCutToNothingIsToldOf() throws IOException {
    for (String name : store.files().keySet()) {
      if (name.endsWith(".log")) {
        Damage cut = Damage.truncate(name, 0);
        RepairReport report =
            judge(
                new Damage(
                    name,
                    "cut to nothing",
                    files -> {
                      cut.apply(files);
                      NO_MANIFEST.apply(files);
                    }));
        assertTrue(
            report.losses().stream().anyMatch(loss -> loss.file().equals(name)), report::toString);
      }
    }
  }

  @Test
  void aRingThatIsCutIsNoError() throws IOException {
    int length = store.files().get(RING).length;
    for (int end : new int[] {0, 100, 4096, 4097, length / 2, length - 1}) {
      Damage cut = Damage.truncate(RING, end);
      RepairReport report = judge(cut);
      assertEquals(1, report.notes().size(), report::toString);
      assertTrue(report.notes().get(0).contains(RING), report::toString);
    }
  }

  /** Some of the damages in a build, all if more are asked for. */
  private static List<Damage> sample(List<Damage> damages) {
    SplittableRandom random = new SplittableRandom(SEED);
    return PER_FILE > 2
        ? damages
        : damages.stream().filter(damage -> random.nextInt(8) == 0).toList();
  }

  private static void told(List<String> wrong) {
    if (!wrong.isEmpty()) {
      List<String> some = wrong.subList(0, Math.min(20, wrong.size()));
      throw new AssertionError(
          "seed " + SEED + ", " + wrong.size() + " wrong:\n" + String.join("\n", some));
    }
  }

  @Test
  void aStoreThatIsOpenIsRefusedAndSoIsATargetThatIsNotEmpty() throws IOException {
    SimulatedStorage open = store.disk(new Damage("", "none", files -> {}));
    open.lock();
    assertThrows(StoreLockedException.class, () -> repair(open, new SimulatedStorage()));
    SimulatedStorage used = new SimulatedStorage();
    used.create("file", IoMode.BUFFERED).close();
    SimulatedStorage from = store.disk(new Damage("", "none", files -> {}));
    assertThrows(FormatException.class, () -> repair(from, used));
    assertEquals(List.of("file"), used.list());
  }

  private static Damage withoutHeaders(boolean footersToo) {
    return new Damage(
        "all SSTables",
        "no headers, no manifest",
        files -> {
          NO_MANIFEST.apply(files);
          for (String name : List.copyOf(files.keySet())) {
            if (name.endsWith(".sst")) {
              byte[] content = files.get(name).clone();
              Arrays.fill(content, 0, 4096, (byte) 7);
              if (footersToo) {
                Arrays.fill(content, content.length - 4096, content.length, (byte) 7);
              }
              files.put(name, content);
            }
          }
        });
  }

  /** All values of a store that was repaired are ones that some tree held. */
  private static int countKnown(SimulatedStorage disk) {
    int entries = 0;
    try (Store repaired = new SimulatedWorld(disk, SEED).open(DamagedStore.OPTIONS)) {
      for (String name : repaired.treeNames()) {
        for (Map.Entry<byte[], byte[]> entry : read(repaired, name).entrySet()) {
          assertTrue(
              store.trees().stream()
                  .anyMatch(tree -> store.everHeld(tree, entry.getKey(), entry.getValue())),
              name);
          entries++;
        }
      }
    }
    return entries;
  }

  @Test
  void treesWhoseNamesAreLostGetNamesThatSaySo() throws IOException {
    SimulatedStorage to = new SimulatedStorage();
    RepairReport report = repair(store.disk(withoutHeaders(false)), to);
    List<String> names = report.trees().stream().map(RepairReport.SavedTree::name).toList();
    assertTrue(names.containsAll(List.of("recovered-tree-1", "recovered-tree-2")), names + "");
    assertTrue(
        report.losses().stream().anyMatch(loss -> loss.what().contains("order that nothing names")),
        report.toString());
    assertTrue(countKnown(to) > 100);
  }

  @Test
  void filesWhoseTreesAreLostBecomeTreesOfTheirOwn() throws IOException {
    SimulatedStorage to = new SimulatedStorage();
    RepairReport report = repair(store.disk(withoutHeaders(true)), to);
    List<String> names = report.trees().stream().map(RepairReport.SavedTree::name).toList();
    assertTrue(names.stream().anyMatch(name -> name.matches("recovered-\\d{10}")), names + "");
    assertTrue(countKnown(to) > 100);
  }

  @Test
  void aTreeWhoseKeyOrderIsNotKnownIsLostAndOthersAreSaved() throws IOException {
    SimulatedStorage to = new SimulatedStorage();
    RepairReport report;
    try (SimulatedStorage from = store.disk(new Damage("", "none", files -> {}))) {
      report =
          RepairJob.run(
              from,
              to,
              new RepairJob.Settings(
                  4 << 20, 1 << 20, SimulatedStores.SMALL.keyOrders(), new UUID(7, SEED)),
              CheckProgress.NONE);
    } finally {
      to.close();
    }
    assertEquals(1, report.losses().size(), report.toString());
    assertEquals("backwards", report.losses().get(0).tree());
    assertEquals(
        List.of("packed", "plain", "unlogged"),
        report.trees().stream().map(RepairReport.SavedTree::name).sorted().toList());
  }

  @Test
  void ofALogAloneItsWritesAreSaved() throws IOException {
    SimulatedStorage to = new SimulatedStorage();
    Damage onlyTheLog =
        new Damage("all", "gone", files -> files.keySet().removeIf(n -> !n.endsWith(".log")));
    RepairReport report = repair(store.disk(onlyTheLog), to);
    assertTrue(report.trees().size() >= 3, report.toString());
    assertTrue(countKnown(to) > 30);
  }

  @Test
  void whatIsNoStoreIsRefused() throws IOException {
    SimulatedStorage nothing = new SimulatedStorage();
    nothing.create("0000000001.sst", IoMode.BUFFERED).close();
    SimulatedStorage to = new SimulatedStorage();
    assertThrows(FormatException.class, () -> repair(nothing, to));
    assertEquals(List.of(), to.list());
  }

  @Test
  void aLostPageOfAnSSTableCostsItsKeysOnly() throws IOException {
    for (Map.Entry<String, byte[]> file : store.files().entrySet()) {
      byte[] content = file.getValue();
      for (int at = 4096; file.getKey().endsWith(".sst") && at < content.length; at += 4096) {
        boolean compressed = content[76] != 0;
        if (!compressed && content[at + PageLayout.TYPE] == PageLayout.DATA) {
          RepairReport report = judge(Damage.fill(file.getKey(), at, at + 4096, 1));
          assertEquals(1, report.losses().size(), report.toString());
          assertEquals(file.getKey(), report.losses().get(0).file());
          assertEquals(at, report.losses().get(0).from());
          assertEquals(at + 4096, report.losses().get(0).to());
          return;
        }
      }
    }
    fail("there is no data page");
  }

  @Test
  void aRepairThatFailsAtAnyWriteLeavesNothingBehind() throws IOException {
    for (Operation operation : List.of(Operation.WRITE, Operation.SYNC, Operation.RENAME)) {
      for (int skip = 0; skip < 3; skip++) {
        int[] left = {skip};
        SimulatedStorage to = new SimulatedStorage();
        to.faults(
            (each, file, index) -> each == operation && left[0]-- == 0 ? Fault.ENOSPC : Fault.NONE);
        SimulatedStorage from = store.disk(new Damage("", "none", files -> {}));
        try {
          // Few bytes of heap: the log is spilled to SSTables first.
          repair(from, to, 1 << 10);
          assertTrue(left[0] >= 0, operation + ": the fault was swallowed");
        } catch (IOException | UncheckedIOException | IsobarException e) {
          assertEquals(List.of(), to.list(), operation + " " + skip);
        }
        assertEquals(0, to.openFiles());
      }
    }
  }

  @Test
  void aRepairThatFailsLeavesTheDirectoryAsItWas(@TempDir Path temporary) throws IOException {
    Path nothing = Files.createDirectory(temporary.resolve("no-store"));
    Files.writeString(nothing.resolve("letter.txt"), "Dear reader");
    Path fresh = temporary.resolve("fresh");
    assertThrows(FormatException.class, () -> repair(nothing, fresh));
    assertFalse(Files.exists(fresh));
    Path damaged = temporary.resolve("damaged");
    try (Store made = Store.open(damaged, StoreOptions.builder().memoryBudget(8 << 20).build())) {
      made.openTree("t").put(new byte[4], new byte[4]);
      made.flush();
    }
    Path empty = Files.createDirectory(temporary.resolve("empty"));
    CheckProgress broken =
        (what, done, all) -> {
          throw new IllegalStateException("stop");
        };
    for (Path target : List.of(fresh, empty)) {
      assertThrows(
          IllegalStateException.class,
          () -> StoreRepair.run(damaged, target, DamagedStore.OPTIONS, broken));
    }
    assertFalse(Files.exists(fresh));
    assertFalse(Files.exists(empty.resolve("LOCK")));
    repair(damaged, empty);
    assertTrue(Files.exists(empty.resolve("CURRENT")));
  }

  /** As are links to nowhere, and files whose inodes the device can't read. */
  @Test
  void aFileThatCanNotBeOpenedIsLostAndOthersAreSaved(@TempDir Path temporary) throws IOException {
    Path damaged = temporary.resolve("damaged");
    try (Store made = Store.open(damaged, StoreOptions.builder().memoryBudget(8 << 20).build())) {
      made.openTree("lost").put(new byte[4], new byte[4]);
      made.flush();
      made.openTree("saved").put(new byte[4], new byte[4]);
      made.flush();
    }
    Path file = damaged.resolve("0000000001.sst");
    Files.delete(file);
    Files.createSymbolicLink(file, temporary.resolve("nowhere"));
    for (boolean hasManifest : new boolean[] {true, false}) {
      if (!hasManifest) {
        Files.delete(damaged.resolve("CURRENT"));
        Files.createSymbolicLink(damaged.resolve("CURRENT"), temporary.resolve("nowhere"));
      }
      Path fresh = temporary.resolve("fresh-" + hasManifest);
      RepairReport report = repair(damaged, fresh);
      List<RepairReport.Loss> ofFile =
          report.losses().stream().filter(loss -> loss.file().equals("0000000001.sst")).toList();
      assertEquals(1, ofFile.size(), report.toString());
      assertTrue(ofFile.get(0).what().startsWith("can't be opened"), report.toString());
      assertEquals(hasManifest ? 1 : 3, report.losses().size(), report.toString());
      assertTrue(
          report.trees().contains(new RepairReport.SavedTree("saved", 1)), report.toString());
    }
  }

  /** Without a manifest the damaged directory does not look like a store's any more. */
  @Test
  void aStoreIsNotRepairedIntoItselfNorIntoAnother(@TempDir Path temporary) throws IOException {
    Path damaged = temporary.resolve("damaged");
    Path other = temporary.resolve("other");
    for (Path store : List.of(damaged, other)) {
      try (Store made = Store.open(store, StoreOptions.builder().memoryBudget(8 << 20).build())) {
        made.openTree("t").put(new byte[4], new byte[4]);
        made.flush();
      }
    }
    Files.delete(damaged.resolve("CURRENT"));
    Files.createSymbolicLink(temporary.resolve("link"), damaged);
    List<String> before = paths(temporary);
    for (String target : List.of("damaged", "damaged/new", "link", "link/a/b", "", "other/new")) {
      String message =
          assertThrows(
                  IllegalArgumentException.class, () -> repair(damaged, temporary.resolve(target)))
              .getMessage();
      assertTrue(message.contains("would lie within"), message);
      assertEquals(before, paths(temporary), "into '" + target + "'");
    }
    repair(damaged, temporary.resolve("damaged-and-repaired"));
  }

  private static List<String> paths(Path directory) throws IOException {
    try (Stream<Path> paths = Files.walk(directory)) {
      return paths.map(Path::toString).sorted().toList();
    }
  }

  private static RepairReport repair(Path from, Path to) {
    return StoreRepair.run(from, to, DamagedStore.OPTIONS, CheckProgress.NONE);
  }

  @Test
  void aRepairThatFindsTooLittleMemoryGivesBackWhatItHadTaken() throws IOException {
    long taken = Region.heldBytes();
    int tooLittle = 0;
    for (int bytes = 64 << 10; bytes < 256 << 10; bytes += 8192) {
      SimulatedStorage from = store.disk(new Damage("", "none", files -> {}));
      try {
        repair(from, new SimulatedStorage(), bytes, 1 << 20);
      } catch (OutOfBudgetException e) {
        tooLittle++;
      }
      long left = Region.heldBytes() - taken;
      assertEquals(0, left, "bytes left behind with " + bytes + " bytes of memory");
      assertEquals(0, from.openFiles());
    }
    assertTrue(tooLittle > 0);
  }
}
