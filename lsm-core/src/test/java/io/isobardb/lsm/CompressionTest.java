package io.isobardb.lsm;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.inspect.RepairReport;
import io.isobardb.lsm.inspect.StoredTree;
import io.isobardb.repair.StoreInspector;
import io.isobardb.repair.StoreRepair;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The option {@code compression} of a tree, by codecs that are built in and one that is not. */
class CompressionTest {
  private static final StoreOptions SMALL =
      StoreOptions.builder().memoryBudget(16 << 20).pageSize(4096).build();

  private static final int ENTRIES = 20_000;

  @TempDir Path temp;

  private static String refused(String text) {
    return assertThrows(IllegalArgumentException.class, () -> Compression.parse(text)).getMessage();
  }

  @Test
  void itIsReadAndWrittenAsText() {
    assertEquals(Compression.NONE, Compression.parse("none"));
    assertEquals(Compression.LZ4, Compression.parse("LZ4,last=lz4"));
    assertEquals(Compression.LZ4.last("ZSTD"), Compression.parse(" lz4, LAST = zstd"));
    assertEquals("LZ4,last=ZSTD", Compression.LZ4.last("ZSTD").toString());
    assertEquals("NONE", Compression.NONE.toString());
    for (String bad : List.of("", "LZ4,ZSTD", "LZ4,last=", "=", "LZ4,first=NONE", "A,last=B,C")) {
      assertTrue(refused(bad).contains("LZ4,last=ZSTD"), bad + ": " + refused(bad));
    }
    for (String bad : List.of("4LZ", "Z_STD", "A2345678901234567")) {
      assertTrue(refused(bad).contains("'" + bad + "' can't be the name of a codec"), bad);
    }
  }

  private static String missing(Runnable call) {
    return assertThrows(IllegalArgumentException.class, call::run).getMessage();
  }

  @Test
  void aCodecThatIsMissingIsToldWithTheNearestOrWhereItIs() {
    try (Store store = Store.open(temp, SMALL)) {
      Tree tree = store.createTree("t", TreeOptions.defaults());
      String near = missing(() -> tree.setCompression(Compression.of("DEFLAT")));
      assertTrue(near.contains("no codec 'DEFLAT'; did you mean 'DEFLATE'?"), near);
      String artifact = missing(() -> tree.setCompression(Compression.LZ4.last("ZSTD")));
      assertTrue(artifact.contains("no codec 'ZSTD'; add the artifact io.isobardb:lsm-zstd"));
      TreeOptions options = TreeOptions.builder().compression(Compression.of("LZ5")).build();
      String create = missing(() -> store.createTree("other", options));
      assertTrue(create.contains("did you mean 'LZ4'?"), create);
      assertEquals(List.of("t"), store.treeNames());
      assertEquals(Compression.NONE, tree.compression());
    }
  }

  @Test
  void itIsStoredAndCanBeChanged() {
    Compression both = Compression.LZ4.last(DeflateCodec.NAME);
    try (Store store = Store.open(temp, SMALL)) {
      Tree tree = store.createTree("t", TreeOptions.builder().compression(both).build());
      assertEquals(both, tree.compression());
      store.createTree("lz4", TreeOptions.builder().compression(Compression.LZ4).build());
    }
    try (Store store = Store.open(temp, SMALL)) {
      Tree tree = store.openTree("t");
      assertEquals(both, tree.options().compression());
      tree.setCompression(Compression.NONE);
      store.tree("lz4").setCompression(both);
    }
    try (Store store = Store.open(temp, SMALL)) {
      assertEquals(Compression.NONE, store.tree("t").compression());
      assertEquals(both, store.tree("lz4").compression());
      store.openTree("t", TreeOptions.builder().compression(both).build());
      assertEquals(both, store.tree("t").compression());
    }
    try (Store store = Store.open(temp, SMALL)) {
      assertEquals(both, store.tree("t").compression());
    }
  }

  private static byte[] key(int i) {
    return bytes(String.format("key%08d", i));
  }

  private static byte[] value(int i) {
    return bytes(
        "{\"id\":" + i + ",\"name\":\"user number " + i % 97 + "\",\"tags\":[\"a\",\"b\"]}");
  }

  private static void put(Tree tree) {
    for (int i = 0; i < ENTRIES; i++) {
      tree.put(key(i), value(i));
    }
  }

  private static void assertHolds(Tree tree) {
    try (Cursor cursor = tree.cursor()) {
      boolean more = cursor.first();
      for (int i = 0; i < ENTRIES; i++) {
        assertTrue(more);
        assertArrayEquals(key(i), cursor.key());
        assertArrayEquals(value(i), cursor.value());
        more = cursor.next();
      }
    }
    for (int i = 0; i < ENTRIES; i += 331) {
      assertArrayEquals(value(i), tree.get(key(i)));
    }
  }

  /** How the SSTables of a tree are stored. */
  private static Set<String> codecs(Path store) throws IOException {
    Set<String> codecs = new TreeSet<>();
    try (StoreInspector inspector = StoreInspector.open(store, SMALL)) {
      assertEquals(List.of(), inspector.check((file, done, all) -> {}).findings());
      for (StoredTree tree : inspector.trees()) {
        for (StoredTree.Run run : tree.runs()) {
          run.tables().forEach(table -> codecs.add(run.name() + " " + table.format().codec()));
        }
      }
    }
    return codecs;
  }

  @Test
  void theLastLevelHasItsOwnAndSSTablesStayAsTheyAre() throws IOException {
    try (Store store = Store.open(temp, SMALL)) {
      Tree tree =
          store.createTree(
              "t", TreeOptions.builder().compression(Compression.of(DeflateCodec.NAME)).build());
      put(tree);
      store.flush();
      tree.compact(null, null);
      tree.setCompression(Compression.LZ4.last("NONE"));
      tree.put(key(0), value(0));
      store.flush();
      assertHolds(tree);
    }
    assertEquals(Set.of("L0 group 0 LZ4", "L1 DEFLATE"), firstWords(codecs(temp)));
    try (Store store = Store.open(temp, SMALL)) {
      put(store.tree("t"));
      store.tree("t").compact(null, null);
      assertHolds(store.tree("t"));
    }
    assertEquals(Set.of("L1 NONE"), codecs(temp));
  }

  @Test
  void whatOverlapsNothingGetsTheCodecOfTheLastLevelToo() throws IOException {
    try (Store store = Store.open(temp, SMALL)) {
      Compression compression = Compression.LZ4.last(DeflateCodec.NAME);
      Tree tree = store.createTree("t", TreeOptions.builder().compression(compression).build());
      put(tree);
      store.flush();
      tree.compact(null, null);
      assertHolds(tree);
    }
    assertEquals(Set.of("L1 DEFLATE"), firstWords(codecs(temp)));
  }

  /** Without the number of the group, and the dictionaries. */
  private static Set<String> firstWords(Set<String> codecs) {
    Set<String> words = new TreeSet<>();
    codecs.forEach(
        text -> words.add(text.replaceAll("group \\d+", "group 0").replaceAll(" with a .*", "")));
    return words;
  }

  /** Compacts until SSTables are written with a dictionary. */
  private static void makeWithDictionary(Path path) throws IOException {
    try (Store store = Store.open(path, SMALL)) {
      Compression compression = Compression.LZ4.last(DeflateCodec.NAME);
      Tree tree = store.createTree("t", TreeOptions.builder().compression(compression).build());
      put(tree);
      tree.compact(null, null);
      put(tree);
      tree.compact(null, null);
      assertHolds(tree);
    }
    assertTrue(
        codecs(path).stream().anyMatch(text -> text.contains("DEFLATE with a dictionary of")),
        () -> path.toString());
  }

  @Test
  void dictionariesAreMadeByMergesAndStoredInTheFiles() throws IOException {
    int before = DeflateCodec.OPEN.get();
    makeWithDictionary(temp);
    assertEquals(before, DeflateCodec.OPEN.get());
    try (Store store = Store.open(temp, SMALL)) {
      assertHolds(store.tree("t"));
    }
    assertEquals(before, DeflateCodec.OPEN.get());
  }

  private static List<Path> tables(Path store) throws IOException {
    List<Path> tables = new ArrayList<>();
    try (var files = Files.list(store)) {
      files.filter(file -> file.toString().endsWith(".sst")).sorted().forEach(tables::add);
    }
    return tables;
  }

  private static List<Path> withDictionary(Path store) throws IOException {
    List<Path> tables = new ArrayList<>();
    try (StoreInspector inspector = StoreInspector.open(store, SMALL)) {
      for (StoredTree.Run run : inspector.trees().get(0).runs()) {
        run.tables().stream()
            .filter(table -> table.format().codec().contains("dictionary"))
            .forEach(table -> tables.add(store.resolve(table.file())));
      }
    }
    return tables;
  }

  @Test
  void aDamagedDictionaryIsReportedAndNothingIsReadWithIt() throws IOException {
    Path store = temp.resolve("store");
    makeWithDictionary(store);
    List<Path> damaged = withDictionary(store);
    for (Path table : damaged) {
      byte[] content = Files.readAllBytes(table);
      content[4096 + 200] ^= 1;
      Files.write(table, content);
    }
    try (Store open = Store.open(store, SMALL)) {
      Tree tree = open.tree("t");
      CorruptionException e = assertThrows(CorruptionException.class, () -> assertHolds(tree));
      assertTrue(e.getMessage().contains("the dictionary has a wrong checksum"), e::getMessage);
    }
    try (StoreInspector inspector = StoreInspector.open(store, SMALL)) {
      assertEquals(damaged.size(), inspector.check((file, done, all) -> {}).findings().size());
    }
    RepairReport report =
        StoreRepair.run(store, temp.resolve("new"), SMALL, (file, done, all) -> {});
    assertEquals(damaged.size(), report.losses().size(), report::toString);
    assertEquals(4096, report.losses().get(0).from());
  }

  @Test
  void aRepairReadsPagesWithoutHeaderOrFooter() throws IOException {
    Path store = temp.resolve("store");
    makeWithDictionary(store);
    List<Path> tables = tables(store);
    for (int i = 0; i < tables.size(); i++) {
      byte[] content = Files.readAllBytes(tables.get(i));
      content[i % 2 == 0 ? 100 : content.length - 100] ^= 1;
      Files.write(tables.get(i), content);
    }
    Files.delete(store.resolve("CURRENT"));
    Path repaired = temp.resolve("new");
    RepairReport report = StoreRepair.run(store, repaired, SMALL, (file, done, all) -> {});
    assertEquals(ENTRIES, report.trees().get(0).entries(), report::toString);
    try (Store open = Store.open(repaired, SMALL)) {
      assertHolds(open.tree(open.treeNames().get(0)));
    }
  }

  @Test
  void aBackupHasDictionariesToo() throws IOException {
    Path path = temp.resolve("store");
    makeWithDictionary(path);
    try (Store store = Store.open(path, SMALL)) {
      store.checkpointTo(temp.resolve("copy"));
    }
    try (Store store = Store.open(temp.resolve("copy"), SMALL)) {
      assertHolds(store.tree("t"));
      assertEquals("LZ4,last=DEFLATE", store.tree("t").compression().toString());
    }
    assertEquals(codecs(path), codecs(temp.resolve("copy")));
  }
}
