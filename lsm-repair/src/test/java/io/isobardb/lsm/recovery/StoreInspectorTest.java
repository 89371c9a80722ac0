package io.isobardb.lsm.recovery;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Compression;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.error.Finding;
import io.isobardb.lsm.error.FormatException;
import io.isobardb.lsm.error.StoreLockedException;
import io.isobardb.lsm.inspect.CheckProgress;
import io.isobardb.lsm.inspect.CheckReport;
import io.isobardb.lsm.inspect.StoredTree;
import io.isobardb.lsm.io.DirectoryStorage;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.version.Manifest;
import io.isobardb.lsm.version.Place;
import io.isobardb.lsm.version.PlacedRun;
import io.isobardb.lsm.version.Recovered;
import io.isobardb.lsm.version.Version;
import io.isobardb.lsm.version.VersionEdit;
import io.isobardb.memory.pool.OutOfBudgetException;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.system.Region;
import io.isobardb.repair.StoreInspector;
import io.isobardb.repair.check.OfflineStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

@Tag("any-jdk")
class StoreInspectorTest {
  private static final StoreOptions OPTIONS =
      StoreOptions.builder().memoryBudget(8 << 20).pageSize(4096).build();

  @TempDir Path temporary;
  private Path dir;

  /** A store of two trees, with overlapping groups in L0, overflow values, and a log. */
  @BeforeEach
  void makeStore() {
    dir = temporary.resolve("s");
    try (Store store = Store.open(dir, OPTIONS)) {
      Tree plain = store.openTree("plain");
      Tree packed =
          store.createTree("packed", TreeOptions.builder().compression(Compression.LZ4).build());
      for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 500; i++) {
          plain.put(bytes("key" + i), bytes("value " + round + " " + "-".repeat(i)));
          packed.put(bytes("key" + i), bytes("value " + round));
        }
        plain.put(bytes("large"), new byte[20_000]);
        plain.delete(bytes("key7"));
        store.flush();
      }
      plain.put(bytes("key0"), bytes("in the log"));
      packed.delete(bytes("key0"));
    }
  }

  private static byte[] bytes(String s) {
    return s.getBytes(UTF_8);
  }

  private CheckReport check() throws IOException {
    try (StoreInspector store = StoreInspector.open(dir, OPTIONS)) {
      return store.check(CheckProgress.NONE);
    }
  }

  private Path file(String suffix) throws IOException {
    try (Stream<Path> files = Files.list(dir)) {
      return files.filter(f -> f.toString().endsWith(suffix)).sorted().findFirst().orElseThrow();
    }
  }

  private static void flip(Path file, long offset) throws IOException {
    byte[] content = Files.readAllBytes(file);
    content[(int) offset] ^= 0x10;
    Files.write(file, content);
  }

  private Map<String, Integer> contents() throws IOException {
    Map<String, Integer> contents = new TreeMap<>();
    try (Stream<Path> files = Files.list(dir)) {
      for (Path file : files.toList()) {
        if (!file.endsWith("LOCK")) {
          contents.put(file.getFileName().toString(), Arrays.hashCode(Files.readAllBytes(file)));
        }
      }
    }
    return contents;
  }

  @Test
  void aSoundStoreIsFoundSoundAndLeftAsItIs() throws IOException {
    Map<String, Integer> before = contents();
    CheckReport report = check();
    assertEquals(List.of(), report.findings());
    assertEquals(List.of(), report.notes());
    assertEquals(2, report.trees());
    assertTrue(report.tables() >= 2, report.toString());
    assertTrue(report.logOperations() >= 2, report.toString());
    assertEquals(before, contents());
  }

  @Test
  void aChangedByteOfAnSSTableIsFoundWithFileAndOffset() throws IOException {
    Path table = file(".sst");
    flip(table, 4096 + 100);
    CheckReport report = check();
    assertEquals(1, report.findings().size(), report.findings().toString());
    Finding finding = report.findings().get(0);
    assertEquals(table.getFileName().toString(), finding.file());
    assertEquals(4096, finding.offset());
    assertTrue(finding.toString().contains("at offset 4096: page 1"), finding.toString());
  }

  @Test
  void allDamagedFilesAreFoundNotOnlyTheFirst() throws IOException {
    List<String> damaged = new ArrayList<>();
    try (Stream<Path> files = Files.list(dir)) {
      for (Path file : files.filter(f -> f.toString().endsWith(".sst")).toList()) {
        flip(file, 50);
        damaged.add(file.getFileName().toString());
      }
    }
    List<String> found = check().findings().stream().map(Finding::file).distinct().toList();
    assertEquals(damaged.stream().sorted().toList(), found.stream().sorted().toList());
  }

  @Test
  void aShortenedSSTableIsOneFinding() throws IOException {
    Path table = file(".sst");
    byte[] content = Files.readAllBytes(table);
    Files.write(table, Arrays.copyOf(content, content.length - 4096));
    List<Finding> findings = check().findings();
    assertEquals(1, findings.size(), findings.toString());
    assertTrue(findings.get(0).what().contains(content.length + ""), findings.toString());
  }

  @Test
  void aMissingSSTableIsFoundAndAnOrphanNoted() throws IOException {
    Path table = file(".sst");
    Files.move(table, dir.resolve("0000009999.sst"));
    CheckReport report = check();
    assertEquals(
        List.of(
            Finding.of(
                table.getFileName().toString(), "missing; the manifest names it (tree 'plain')")),
        report.findings());
    assertTrue(report.notes().toString().contains("0000009999.sst"), report.notes().toString());
    assertTrue(Files.exists(dir.resolve("0000009999.sst")));
  }

  @Test
  void aDamagedRecordInFrontOfAPromiseIsFoundInTheLog() throws IOException {
    Path log = file(".log");
    byte[] content = Files.readAllBytes(log);
    int at = indexOf(content, bytes("in the log"));
    flip(log, at);
    CheckReport report = check();
    assertEquals(1, report.findings().size(), report.findings().toString());
    assertEquals(log.getFileName().toString(), report.findings().get(0).file());
    assertTrue(report.findings().get(0).offset() < at);
  }

  private static int indexOf(byte[] content, byte[] sought) {
    for (int i = 0; ; i++) {
      if (Arrays.equals(content, i, i + sought.length, sought, 0, sought.length)) {
        return i;
      }
    }
  }

  @Test
  void olderVersionsAboveNewerOnesAreFound() throws IOException {
    swapNewestAndOldestRun();
    List<Finding> findings = check().findings();
    assertFalse(findings.isEmpty());
    assertTrue(findings.get(0).what().contains("where older ones should be"), findings.toString());
  }

  private void swapNewestAndOldestRun() throws IOException {
    try (PagePool pool = new PagePool(1 << 20, 4096);
        DirectoryStorage storage = DirectoryStorage.open(dir, false)) {
      Recovered recovered = Manifest.open(storage, pool, Manifest.DEFAULT_ROLL_BYTES);
      try (Manifest manifest = recovered.manifest()) {
        Recovered.Tree tree =
            recovered.trees().stream()
                .filter(t -> t.definition().name().equals("plain"))
                .findFirst()
                .orElseThrow();
        Version version = tree.version(KeyOrder.BYTES);
        List<PlacedRun> groups = version.groups();
        assertTrue(groups.size() >= 2, version.toString());
        Place newest = groups.get(0).place();
        Place oldest = groups.get(groups.size() - 1).place();
        VersionEdit.Builder edit = VersionEdit.of(tree.definition().id());
        for (SSTableMeta meta : groups.get(0).run().elements()) {
          edit.move(meta.fileNumber(), oldest);
        }
        for (SSTableMeta meta : groups.get(groups.size() - 1).run().elements()) {
          edit.move(meta.fileNumber(), newest);
        }
        manifest.append(List.of(edit.build()));
      }
    }
  }

  @Test
  void entriesAndOperationsOfARangeAreListed() throws IOException {
    try (Store store = Store.open(dir, OPTIONS)) {
      for (int i = 1; i < 5; i++) {
        store.tree("plain").put(bytes("key" + i), bytes("logged"));
        store.tree("packed").put(bytes("key" + i), bytes("logged"));
      }
    }
    try (StoreInspector store = StoreInspector.open(dir, OPTIONS)) {
      StoredTree tree = store.trees().get(0);
      List<String> seen = new ArrayList<>();
      store.entries(
          tree, bytes("key10"), bytes("key101"), at -> seen.add(new String(at.key(), UTF_8)));
      assertEquals(List.of("key10", "key100"), seen.stream().distinct().toList());
      List<String> logged = new ArrayList<>();
      store.log(tree, null, null, at -> logged.add(new String(at.key(), UTF_8)));
      assertTrue(logged.contains("key0"), logged.toString());
      logged.clear();
      store.log(tree, bytes("key1"), bytes("key3"), at -> logged.add(new String(at.key(), UTF_8)));
      assertEquals(List.of("key1", "key2"), logged);
      logged.clear();
      store.log(tree, null, null, at -> logged.add("") && logged.size() < 2);
      assertEquals(2, logged.size());
    }
  }

  @Test
  void anInspectorNamesTheArgumentThatIsNull() throws IOException {
    try (StoreInspector store = StoreInspector.open(dir, OPTIONS)) {
      StoredTree tree = store.trees().get(0);
      assertNull("progress", () -> store.check(null));
      assertNull("tree", () -> store.entries(null, null, null, at -> true));
      assertNull("visitor", () -> store.entries(tree, null, null, null));
      assertNull("tree", () -> store.log(null, null, null, at -> true));
      assertNull("visitor", () -> store.log(tree, null, null, null));
    }
  }

  private static void assertNull(String parameter, Executable call) {
    assertEquals(parameter, assertThrows(NullPointerException.class, call).getMessage());
  }

  @Test
  void aStoreThatIsOpenIsNotInspected() {
    try (Store store = Store.open(dir, OPTIONS)) {
      assertThrows(StoreLockedException.class, () -> StoreInspector.open(dir, OPTIONS));
      assertEquals(2, store.treeNames().size());
    }
  }

  @Test
  void aDirectoryThatIsNoStoreIsToldApartAndNothingIsPutThere() throws IOException {
    Path other = Files.createDirectory(temporary.resolve("other"));
    FormatException e =
        assertThrows(FormatException.class, () -> StoreInspector.open(other, OPTIONS));
    assertTrue(e.getMessage().contains("is not a store"), e.getMessage());
    try (Stream<Path> files = Files.list(other)) {
      assertEquals(0, files.count());
    }
  }

  @Test
  void aDirectoryOfSomebodyElseIsNotEvenLocked() throws IOException {
    Path other = Files.createDirectory(temporary.resolve("other"));
    Files.writeString(other.resolve("thesis.txt"), "years of work");
    FormatException e = assertThrows(FormatException.class, () -> Store.open(other, OPTIONS));
    assertTrue(e.getMessage().contains("thesis.txt"), e.getMessage());
    try (Stream<Path> files = Files.list(other)) {
      assertEquals(List.of(other.resolve("thesis.txt")), files.toList());
    }
  }

  @Test
  void aStoreKeepsThePageSizeItWasMadeWith() throws IOException {
    for (int pageSize = 4096; pageSize <= 65536; pageSize *= 2) {
      Path made = temporary.resolve("pages" + pageSize);
      StoreOptions options =
          StoreOptions.builder().memoryBudget(32 << 20).pageSize(pageSize).build();
      try (Store store = Store.open(made, options)) {
        store.openTree("t").put(bytes("k"), bytes("v"));
      }
      Store.open(made, StoreOptions.builder().memoryBudget(32 << 20).build()).close();
      try (StoreInspector store = StoreInspector.open(made, OPTIONS)) {
        assertEquals(pageSize, store.pageSize());
        assertTrue(store.path().endsWith("pages" + pageSize), store.path());
      }
    }
  }

  @Test
  void aDamagedPageIsToldWithItsTree() throws IOException {
    flip(file(".sst"), 4096 + 100);
    try (StoreInspector store = StoreInspector.open(dir, OPTIONS)) {
      StoredTree tree = store.trees().get(0);
      CorruptionException e =
          assertThrows(
              CorruptionException.class, () -> store.entries(tree, null, null, at -> true));
      assertEquals("plain", e.tree());
    }
  }

  @Test
  void aStoreThatFindsTooLittleMemoryIsClosedAndGivesBackWhatItHadTaken() throws IOException {
    int tooLittle = 0;
    long taken = Region.heldBytes();
    for (long bytes = 4096; bytes <= 4 << 20; bytes += 8192) {
      DirectoryStorage storage = DirectoryStorage.open(dir, false);
      try {
        OfflineStore.open(storage, bytes, Map.of()).close();
        break;
      } catch (OutOfBudgetException e) {
        tooLittle++;
        assertEquals(0, e.getSuppressed().length);
      }
      long left = Region.heldBytes() - taken;
      assertEquals(0, left, "bytes left behind with " + bytes + " bytes of memory");
    }
    assertTrue(tooLittle > 0 && tooLittle < 500, tooLittle + " times");
    check();
  }
}
