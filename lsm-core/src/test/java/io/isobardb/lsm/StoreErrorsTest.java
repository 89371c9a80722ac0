package io.isobardb.lsm;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.SimulatedStores.value;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.error.FormatException;
import io.isobardb.lsm.error.StoreClosedException;
import io.isobardb.lsm.error.StoreLockedException;
import io.isobardb.lsm.error.TreeDroppedException;
import io.isobardb.lsm.format.StoreFiles;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.option.MergeOperator;
import io.isobardb.memory.pool.DirectMemory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

@Tag("any-jdk")
class StoreErrorsTest {
  private static final StoreOptions SMALL = SimulatedStores.SMALL;

  @TempDir Path temp;

  private Path dir() {
    return temp.resolve("store");
  }

  private static void assertSays(String part, Throwable e) {
    assertTrue(e.getMessage().contains(part), () -> "'" + part + "' is missing in: " + e);
  }

  private static <E extends Throwable> E assertThrowsSaying(
      Class<E> type, String part, Executable call) {
    E e = assertThrows(type, call);
    assertSays(part, e);
    return e;
  }

  // ---- limits

  @Test
  void keysAndValuesBeyondTheirLimitsAreRefusedByName() {
    try (Store store = Store.open(dir(), SMALL)) {
      Tree tree = store.openTree("t");
      int maxKey = tree.maxKeyBytes();
      int maxValue = tree.maxValueBytes();
      tree.put(new byte[maxKey], new byte[0]);
      tree.put(new byte[0], new byte[maxValue]);
      assertEquals(maxValue, tree.get(new byte[0]).length);
      Class<IllegalArgumentException> refused = IllegalArgumentException.class;
      String keyLimit = maxKey + " bytes";
      String valueLimit = maxValue + " bytes";
      byte[] longKey = new byte[maxKey + 1];
      byte[] longValue = new byte[maxValue + 1];
      assertThrowsSaying(refused, keyLimit, () -> tree.put(longKey, new byte[0]));
      assertThrowsSaying(refused, keyLimit, () -> tree.get(longKey));
      assertThrowsSaying(refused, keyLimit, () -> tree.delete(longKey));
      assertThrowsSaying(refused, valueLimit, () -> tree.put(bytes("k"), longValue));
      WriteBatch batch = store.newBatch();
      assertThrowsSaying(refused, keyLimit, () -> batch.put(tree, longKey, new byte[0]));
      assertThrowsSaying(refused, keyLimit, () -> batch.delete(tree, longKey));
      assertThrowsSaying(refused, valueLimit, () -> batch.put(tree, bytes("k"), longValue));
      assertEquals(0, batch.size());
      assertNull(tree.get(bytes("k")));
    }
  }

  @Test
  void aBatchThatNeedsMoreThanHalfOfTheWriteMemoryIsRefusedWhole() {
    try (Store store = Store.open(dir(), SMALL)) {
      Tree tree = store.openTree("t");
      WriteBatch batch = store.newBatch();
      for (int i = 0; i < 20; i++) {
        batch.put(tree, key(i), new byte[100_000]);
      }
      assertThrowsSaying(IllegalArgumentException.class, "write memory", () -> store.write(batch));
      assertNull(tree.get(key(0)));
      tree.put(key(0), bytes("v"));
      assertArrayEquals(bytes("v"), tree.get(key(0)));
    }
  }

  @Test
  void aCompanionIsNeverNull() {
    try (Store store = Store.open(dir(), SMALL)) {
      assertThrowsSaying(
          IllegalArgumentException.class,
          "java.lang.StringBuilder",
          () -> store.companion(StringBuilder.class, () -> null));
      StringBuilder made = store.companion(StringBuilder.class, StringBuilder::new);
      assertSame(made, store.companion(StringBuilder.class, () -> null));
    }
  }

  @Test
  void noStoreIsMadeWithinAnother() throws IOException {
    Store.open(dir(), SMALL).close();
    Path within = dir().resolve("a/b");
    assertThrowsSaying(
        IllegalArgumentException.class,
        within + " would lie within the store in " + dir(),
        () -> Store.open(within, SMALL));
    assertFalse(Files.exists(dir().resolve("a")));
    // One that is there is opened: whoever put it there has to move it.
    Path elsewhere = temp.resolve("elsewhere");
    Store.open(elsewhere, SMALL).close();
    Files.move(elsewhere, dir().resolve("moved"));
    Store.open(dir().resolve("moved"), SMALL).close();
  }

  @Test
  void anArgumentThatIsNullIsToldByItsName() {
    TreeOptions adding = TreeOptions.builder().mergeOperator(MergeOperator.ADD_LONG).build();
    try (Store store = Store.open(dir(), SMALL)) {
      Tree tree = store.openTree("t", adding);
      WriteBatch batch = store.newBatch();
      byte[] key = bytes("k");
      ByteBuffer buffer = ByteBuffer.wrap(key);
      Map<String, List<Executable>> calls =
          Map.of(
              "key",
              List.of(
                  () -> tree.put((byte[]) null, key),
                  () -> tree.put(null, buffer),
                  () -> tree.get((byte[]) null),
                  () -> tree.delete((ByteBuffer) null),
                  () -> tree.multiGet(Collections.singletonList(null)),
                  () -> batch.put(tree, null, key),
                  () -> tree.cursor().seek((byte[]) null)),
              "value",
              List.of(() -> tree.put(key, null), () -> tree.putIfAbsent(key, null)),
              "operand",
              List.of(
                  () -> tree.merge(key, null),
                  () -> batch.merge(tree, key, null),
                  () -> store.runInTransaction(t -> t.merge(tree, key, null))),
              "durability",
              List.of(() -> tree.put(key, key, (Durability) null)),
              "expires",
              List.of(() -> tree.put(key, key, (Instant) null)),
              "snapshot",
              List.of(() -> tree.get(key, (Snapshot) null)),
              "target",
              List.of(() -> tree.get(key, (ByteBuffer) null)));
      calls.forEach(
          (name, all) -> {
            for (Executable call : all) {
              assertEquals(name, assertThrows(NullPointerException.class, call).getMessage());
            }
          });
    }
  }

  @Test
  void theKeyLimitIsThatOfTheStoredPageSize() {
    try (Store store = Store.open(dir(), SMALL)) {
      store.openTree("t");
    }
    StoreOptions larger = StoreOptions.builder().memoryBudget(8 << 20).pageSize(16384).build();
    try (Store store = Store.open(dir(), larger)) {
      assertEquals(1024, store.tree("t").maxKeyBytes());
      store.tree("t").put(new byte[1024], bytes("v"));
      assertThrows(
          IllegalArgumentException.class, () -> store.tree("t").put(new byte[1025], bytes("v")));
    }
  }

  // ---- use after close

  @Test
  void whatIsClosedSaysSo() {
    Store store = Store.open(dir(), SMALL);
    Tree tree = store.openTree("t");
    tree.put(bytes("k"), bytes("v"));
    Snapshot snapshot = store.snapshot();
    Cursor cursor = tree.cursor();
    WriteBatch batch = store.newBatch().put(tree, bytes("k"), bytes("w"));
    cursor.first();
    cursor.close();
    cursor.close();
    snapshot.close();
    snapshot.close();
    assertThrows(StoreClosedException.class, cursor::key);
    assertThrows(StoreClosedException.class, cursor::next);
    assertThrows(StoreClosedException.class, () -> tree.get(bytes("k"), snapshot));
    Snapshot open = store.snapshot();
    Cursor left = tree.cursor();
    store.close();
    store.close();
    List<Executable> calls =
        List.of(
            () -> tree.put(bytes("k"), bytes("v")),
            () -> tree.delete(bytes("k")),
            () -> tree.get(bytes("k")),
            () -> tree.get(bytes("k"), ByteBuffer.allocate(10)),
            () -> tree.get(bytes("k"), open),
            () -> tree.read(bytes("k"), value -> value),
            () -> tree.multiGet(List.of(bytes("k"))),
            tree::cursor,
            left::first,
            store::snapshot,
            store::sync,
            store::flush,
            store::checkpoint,
            store::awaitQuiet,
            store::stats,
            store::treeNames,
            () -> store.setMemoryBudget(8 << 20),
            () -> store.tree("t"),
            () -> store.openTree("u"),
            () -> store.createTree("u", TreeOptions.defaults()),
            () -> store.dropTree("t"),
            () -> store.write(batch),
            () -> tree.setTimeToLive(tree.timeToLive()),
            () -> tree.setRuns(tree.runs()),
            () -> tree.setMaxSpace(tree.options().maxSpace()),
            () -> tree.setCompression(tree.compression()));
    for (int i = 0; i < calls.size(); i++) {
      assertThrows(StoreClosedException.class, calls.get(i), "call " + i);
    }
    open.close();
    left.close();
  }

  @Test
  void aDroppedTreeIsClosedAndItsNameIsFree() {
    try (Store store = Store.open(dir(), SMALL)) {
      Tree tree = store.openTree("t");
      tree.put(bytes("k"), bytes("v"));
      Cursor cursor = tree.cursor();
      WriteBatch batch = store.newBatch().put(tree, bytes("k"), bytes("w"));
      store.dropTree("t");
      assertThrowsSaying(TreeDroppedException.class, "dropped", () -> tree.get(bytes("k")));
      assertThrows(TreeDroppedException.class, cursor::first);
      assertThrowsSaying(TreeDroppedException.class, "'t'", () -> store.write(batch));
      assertThrows(IllegalArgumentException.class, () -> store.tree("t"));
      assertNull(store.openTree("t").get(bytes("k")));
    }
  }

  @Test
  void aTreeThatIsMissingIsToldWithWhatComesNear() {
    try (Store store = Store.open(dir(), SMALL)) {
      store.openTree("customers");
      assertThrowsSaying(
          IllegalArgumentException.class, "customers", () -> store.tree("custommers"));
      assertThrowsSaying(
          IllegalArgumentException.class,
          "already",
          () -> store.createTree("customers", TreeOptions.defaults()));
    }
  }

  /** Where a page begins may come from outside: it must not lead to what others have. */
  @Test
  void noBoundLeadsOutOfAPrefix() {
    try (Store store = Store.open(dir(), SMALL)) {
      Tree tree = store.openTree("t");
      for (String key : List.of("a", "b", "b1", "b2", "c")) {
        tree.put(bytes(key), bytes("v"));
      }
      tree.put(new byte[] {-1, -1, 5}, bytes("v"));
      CursorOptions prefix = CursorOptions.prefix(bytes("b"));
      assertEquals("[b, b1, b2]", keys(tree, prefix));
      assertEquals("[b, b1, b2]", keys(tree, prefix.from(bytes("a"))));
      assertEquals("[b, b1, b2]", keys(tree, prefix.from(new byte[0]).to(bytes("cc"))));
      assertEquals("[b1]", keys(tree, prefix.from(bytes("b1")).to(bytes("b2"))));
      assertEquals("[b2]", keys(tree, prefix.from(bytes("b1")).from(bytes("b2")).to(bytes("z"))));
      assertEquals("[]", keys(tree, prefix.from(bytes("c"))));
      assertEquals("[]", keys(tree, prefix.to(bytes("a"))));
      CursorOptions last = CursorOptions.prefix(new byte[] {-1, -1});
      assertEquals(3, keys(tree, last.from(bytes("a"))).length() - 2);
      assertEquals("[]", keys(tree, last.to(bytes("c"))));
      assertTrue(prefix.from(bytes("a")).isPrefix());
      assertFalse(CursorOptions.all().from(bytes("a")).isPrefix());
    }
  }

  private static String keys(Tree tree, CursorOptions options) {
    List<String> keys = new ArrayList<>();
    try (Cursor cursor = tree.cursor(options)) {
      for (boolean more = cursor.first(); more; more = cursor.next()) {
        keys.add(new String(cursor.key(), StandardCharsets.ISO_8859_1));
      }
      List<String> backwards = new ArrayList<>();
      for (boolean more = cursor.last(); more; more = cursor.previous()) {
        backwards.add(0, new String(cursor.key(), StandardCharsets.ISO_8859_1));
      }
      assertEquals(keys, backwards);
    }
    return keys.toString();
  }

  // ---- options

  private static Executable building(Supplier<StoreOptions.Builder> builder) {
    return () -> builder.get().build();
  }

  @Test
  void optionsOutOfTheirRangeAreRefusedByName() {
    Class<IllegalArgumentException> refused = IllegalArgumentException.class;
    Supplier<StoreOptions.Builder> fresh = StoreOptions::builder;
    assertThrowsSaying(refused, "memoryBudget", building(() -> fresh.get().memoryBudget(1000)));
    assertThrowsSaying(
        refused, "writeMemory", building(() -> fresh.get().memoryBudget(8 << 20).writeMemory(1)));
    assertThrowsSaying(refused, "pageSize", building(() -> fresh.get().pageSize(5000)));
    assertThrowsSaying(refused, "pageSize", building(() -> fresh.get().pageSize(2048)));
    assertThrowsSaying(refused, "logLimit", building(() -> fresh.get().logLimit(10)));
    assertThrowsSaying(
        refused, "backgroundThreads", building(() -> fresh.get().backgroundThreads(0)));
    assertThrowsSaying(
        refused, "filterBitsPerKey", () -> TreeOptions.builder().filterBitsPerKey(25).build());
  }

  private static Executable reading(String name, String value) {
    Properties properties = new Properties();
    properties.setProperty(name, value);
    properties.setProperty("other.memoryBudget", "is not ours");
    return () -> StoreOptions.fromProperties(properties, "isobar.");
  }

  @Test
  void propertiesThatAreUnknownOrWrongAreRefusedByName() {
    Class<IllegalArgumentException> refused = IllegalArgumentException.class;
    assertThrowsSaying(
        refused, "did you mean 'memoryBudget'", reading("isobar.memoryBuget", "8MB"));
    assertThrowsSaying(refused, "isobar.memoryBudget", reading("isobar.memoryBudget", "eight"));
    assertThrowsSaying(refused, "isobar.durability", reading("isobar.durability", "maybe"));
    assertThrowsSaying(refused, "isobar.createIfMissing", reading("isobar.createIfMissing", "yse"));
    assertThrowsSaying(refused, "pageSize", reading("isobar.pageSize", "5000"));
  }

  @Test
  void aBudgetBeyondDirectMemoryIsRefusedWithTheFlagToSet() {
    long budget = DirectMemory.limitBytes() + (64 << 20);
    StoreOptions options = StoreOptions.builder().memoryBudget(budget).build();
    assertThrowsSaying(
        IllegalArgumentException.class,
        "-XX:MaxDirectMemorySize",
        () -> Store.open(dir(), options));
    assertTrue(Files.notExists(dir()));
  }

  @Test
  void aBudgetForInputAndOutputThatIsNotOursIsRefused() {
    IoBudget other =
        new IoBudget() {
          @Override
          public long bytesPerSecond() {
            return LEAST_BYTES;
          }

          @Override
          public int stores() {
            return 0;
          }
        };
    StoreOptions options = SMALL.toBuilder().ioBudget(other).build();
    Class<IllegalArgumentException> refused = IllegalArgumentException.class;
    assertThrowsSaying(refused, "IoBudget.of", () -> Store.open(dir(), options).close());
    assertTrue(Files.notExists(dir()));
    assertThrowsSaying(refused, "IoBudget.of", () -> Store.openReadOnly(dir(), options).close());
  }

  // ---- directories

  @Test
  void aDirectoryThatIsNotAStoreIsRefusedAndLeftAsItIs() throws IOException {
    Files.createDirectories(dir());
    Files.writeString(dir().resolve("thesis.txt"), "years of work");
    assertThrowsSaying(FormatException.class, "thesis.txt", () -> Store.open(dir(), SMALL));
    assertEquals(List.of(dir().resolve("thesis.txt")), list());
    for (int i = 0; i < 50; i++) {
      Files.writeString(dir().resolve("chapter" + i), "a year of work");
    }
    assertThrowsSaying(FormatException.class, "and 46 more", () -> Store.open(dir(), SMALL));
  }

  /** Other stores have such a file, too. */
  @Test
  void aDirectoryWhoseCurrentIsOfSomethingElseIsToldByItsPath() throws IOException {
    Files.createDirectories(dir());
    Files.writeString(dir().resolve("CURRENT"), "MANIFEST-000004\n");
    String says = dir().toRealPath() + " is not a store: its file CURRENT";
    assertThrowsSaying(FormatException.class, says, () -> Store.open(dir(), SMALL));
    assertThrowsSaying(FormatException.class, says, () -> Store.openReadOnly(dir(), SMALL));
  }

  @Test
  void anEmptyDirectoryToReadIsNotToldOfAnOptionThatNobodySet() throws IOException {
    Files.createDirectories(dir());
    FormatException e = assertThrows(FormatException.class, () -> Store.openReadOnly(dir(), SMALL));
    assertTrue(e.getMessage().endsWith("there is no file CURRENT"), e.getMessage());
  }

  private List<Path> list() throws IOException {
    try (Stream<Path> paths = Files.list(dir())) {
      return paths.sorted().toList();
    }
  }

  @Test
  void aMissingStoreIsNotMadeUnlessAllowed() throws IOException {
    StoreOptions strict =
        StoreOptions.builder().memoryBudget(4 << 20).createIfMissing(false).build();
    assertThrows(UncheckedIOException.class, () -> Store.open(dir(), strict));
    assertTrue(Files.notExists(dir()));
    Files.createDirectories(dir());
    assertThrowsSaying(FormatException.class, "createIfMissing", () -> Store.open(dir(), strict));
    assertEquals(List.of(), list());
  }

  @Test
  void aFileInThePlaceOfTheDirectoryIsRefused() throws IOException {
    Files.writeString(dir(), "a file");
    assertThrows(UncheckedIOException.class, () -> Store.open(dir(), SMALL));
    assertEquals("a file", Files.readString(dir()));
  }

  @Test
  void aLinkThatLeadsNowhereIsRefused() throws IOException {
    Files.createSymbolicLink(dir(), Path.of("nowhere"));
    UncheckedIOException e =
        assertThrows(UncheckedIOException.class, () -> Store.open(dir(), SMALL));
    assertTrue(e.getMessage().contains("a link to nowhere, which is no directory"), e::getMessage);
    assertTrue(Files.isSymbolicLink(dir()));
  }

  // ---- files that are missing or damaged

  /** A closed store with SSTables, and with entries that are in the log alone. */
  private void makeStore() {
    try (Store store = Store.open(dir(), SMALL)) {
      Tree tree = store.openTree("t");
      for (int i = 0; i < 2000; i++) {
        tree.put(key(i), value(i, 100));
      }
      store.flush();
      for (int i = 2000; i < 4000; i++) {
        tree.put(key(i), value(i, 100));
      }
    }
  }

  private Path file(String prefix, String suffix) throws IOException {
    return StoreFiles.last(dir(), prefix, suffix);
  }

  private static void readAll(Tree tree) {
    for (int i = 0; i < 4000; i++) {
      assertArrayEquals(value(i, 100), tree.get(key(i)), "key " + i);
    }
  }

  @Test
  void aMissingSstableIsNamedAtOpenAndNothingIsChanged() throws IOException {
    makeStore();
    Path table = file("", ".sst");
    Files.delete(table);
    TreeMap<String, byte[]> before = StoreFiles.read(dir());
    CorruptionException e = assertThrows(CorruptionException.class, () -> Store.open(dir(), SMALL));
    assertNames(table, e);
    StoreFiles.assertSame(before, dir());
  }

  @Test
  void aMissingManifestIsNamedAtOpen() throws IOException {
    makeStore();
    Path manifest = file("MANIFEST", "");
    Files.delete(manifest);
    CorruptionException e = assertThrows(CorruptionException.class, () -> Store.open(dir(), SMALL));
    assertNames(manifest, e);
  }

  @Test
  void aMissingLogSegmentIsNamedAtOpen() throws IOException {
    makeStore();
    Path first;
    try (Stream<Path> paths = Files.list(dir())) {
      first = paths.filter(path -> path.toString().endsWith(".log")).sorted().findFirst().get();
    }
    Files.delete(first);
    CorruptionException e = assertThrows(CorruptionException.class, () -> Store.open(dir(), SMALL));
    assertSays(".log", e);
  }

  @Test
  void aDamagedPageIsNamedByTheReadThatMeetsItAndOtherPagesAreServed() throws IOException {
    makeStore();
    Path table = file("", ".sst");
    byte[] content = Files.readAllBytes(table);
    content[4096 + 2000] ^= 1;
    Files.write(table, content);
    try (Store store = Store.open(dir(), SMALL)) {
      CorruptionException e =
          assertThrows(CorruptionException.class, () -> readAll(store.tree("t")));
      assertNames(table, e);
      assertEquals(4096, e.offset());
      assertArrayEquals(value(3999, 100), store.tree("t").get(key(3999)));
    }
  }

  @Test
  void aDamagedManifestIsNamedAtOpenAndNothingIsChanged() throws IOException {
    makeStore();
    Path manifest = file("MANIFEST", "");
    byte[] content = Files.readAllBytes(manifest);
    content[4096 + 20] ^= 1;
    Files.write(manifest, content);
    TreeMap<String, byte[]> before = StoreFiles.read(dir());
    CorruptionException e = assertThrows(CorruptionException.class, () -> Store.open(dir(), SMALL));
    assertNames(manifest, e);
    StoreFiles.assertSame(before, dir());
  }

  @Test
  void aLogDamagedInItsMiddleIsNamedAtOpenAndNothingIsLost() throws IOException {
    makeStore();
    Path log = file("", ".log");
    byte[] good = Files.readAllBytes(log);
    byte[] bad = good.clone();
    bad[4096 + 20_000] ^= 1;
    Files.write(log, bad);
    CorruptionException e = assertThrows(CorruptionException.class, () -> Store.open(dir(), SMALL));
    assertNames(log, e);
    assertArrayEquals(bad, Files.readAllBytes(log));
    Files.write(log, good);
    try (Store store = Store.open(dir(), SMALL)) {
      readAll(store.tree("t"));
    }
  }

  // ---- a second open

  @Test
  void aSecondOpenIsRefusedByWhateverPath() throws IOException {
    try (Store store = Store.open(dir(), SMALL)) {
      Tree tree = store.openTree("t");
      Path link = Files.createSymbolicLink(temp.resolve("link"), dir());
      assertThrowsSaying(
          StoreLockedException.class, "open already", () -> Store.open(dir(), SMALL));
      assertThrows(StoreLockedException.class, () -> Store.open(link, SMALL));
      assertThrows(
          StoreLockedException.class,
          () -> Store.open(dir().resolve("..").resolve("store"), SMALL));
      tree.put(bytes("k"), bytes("v"));
      assertArrayEquals(bytes("v"), tree.get(bytes("k")));
    }
    Store.open(dir(), SMALL).close();
  }

  /** Tries to open the store of its argument; run in a process of its own. */
  static final class OpenElsewhere {
    public static void main(String[] args) {
      try (Store store = Store.open(Path.of(args[0]), SMALL)) {
        System.out.println("opened " + store.treeNames());
      } catch (StoreLockedException e) {
        System.out.println("locked: " + e.getMessage());
      }
    }
  }

  private String openElsewhere() throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                OpenElsewhere.class.getName(),
                dir().toString())
            .redirectErrorStream(true)
            .start();
    String output = new String(process.getInputStream().readAllBytes());
    assertTrue(process.waitFor(60, TimeUnit.SECONDS));
    return output;
  }

  @Test
  void aSecondOpenFromAnotherProcessIsRefusedAndNamesTheFirst() throws Exception {
    try (Store store = Store.open(dir(), SMALL)) {
      store.openTree("t").put(bytes("k"), bytes("v"));
      assertThrows(StoreLockedException.class, () -> Store.open(dir(), SMALL));
      String output = openElsewhere();
      assertTrue(output.contains("locked: "), output);
      assertTrue(output.contains(Long.toString(ProcessHandle.current().pid())), output);
    }
    assertTrue(openElsewhere().contains("opened [t]"));
  }

  // ---- key orders

  private static KeyOrder reversed(String name) {
    return new KeyOrder() {
      @Override
      public String name() {
        return name;
      }

      @Override
      public int compare(byte[] a, int aOffset, int aLength, byte[] b, int bOffset, int bLength) {
        return BYTES.compare(b, bOffset, bLength, a, aOffset, aLength);
      }
    };
  }

  @Test
  void aTreeWhoseKeyOrderIsMissingOrAnotherIsRefused() {
    KeyOrder order = reversed("reversed");
    StoreOptions knowing =
        StoreOptions.builder().memoryBudget(4 << 20).pageSize(4096).keyOrder(order).build();
    TreeOptions treeOptions = TreeOptions.builder().keyOrder(order).build();
    try (Store store = Store.open(dir(), knowing)) {
      Tree tree = store.openTree("t", treeOptions);
      tree.put(bytes("a"), bytes("1"));
      tree.put(bytes("b"), bytes("2"));
    }
    FormatException e =
        assertThrowsSaying(FormatException.class, "'reversed'", () -> Store.open(dir(), SMALL));
    assertSays("keyOrder", e);
    try (Store store = Store.open(dir(), knowing)) {
      TreeOptions other = TreeOptions.builder().keyOrder(KeyOrder.BYTES).build();
      assertThrowsSaying(
          IllegalArgumentException.class, "=reversed", () -> store.openTree("t", other));
      store.openTree("t", treeOptions);
      try (Cursor cursor = store.openTree("t").cursor()) {
        assertTrue(cursor.first());
        assertArrayEquals(bytes("b"), cursor.key());
      }
    }
  }

  @Test
  void aPrefixIsRefusedWhereKeysThatBeginAlikeDoNotStandTogether() {
    KeyOrder order = reversed("reversed");
    CursorOptions prefix = CursorOptions.prefix(bytes("a"));
    CursorOptions bounds = CursorOptions.all().from(bytes("b")).to(bytes("a"));
    try (Store store = Store.open(dir(), SMALL)) {
      Tree tree = store.createTree("t", TreeOptions.builder().keyOrder(order).build());
      for (CursorOptions one : List.of(prefix, prefix.to(bytes("b")), prefix.from(bytes("a")))) {
        assertThrowsSaying(IllegalArgumentException.class, "'reversed'", () -> tree.cursor(one));
        try (Transaction transaction = store.begin()) {
          assertThrowsSaying(
              IllegalArgumentException.class, "'reversed'", () -> transaction.cursor(tree, one));
        }
      }
      tree.cursor(bounds).close();
      try (Cursor cursor = store.openTree("bytes").cursor(prefix)) {
        assertFalse(cursor.first());
      }
    }
  }

  // ---- interrupts

  @Test
  void anInterruptHarmsNoCallAndIsKept() {
    Thread.currentThread().interrupt();
    try (Store store = Store.open(dir(), SMALL)) {
      Tree tree = store.openTree("t");
      for (int i = 0; i < 20_000; i++) {
        tree.put(key(i), value(i, 200));
      }
      tree.put(bytes("sync"), bytes("v"), Durability.SYNC);
      store.write(store.newBatch().put(tree, bytes("batch"), bytes("v")), Durability.SYNC);
      for (int i = 0; i < 20_000; i += 50) {
        assertArrayEquals(value(i, 200), tree.get(key(i)));
      }
      int count = 0;
      try (Cursor cursor = tree.cursor()) {
        for (boolean more = cursor.first(); more; more = cursor.next()) {
          count++;
        }
      }
      assertEquals(20_002, count);
      store.flush();
      store.checkpoint();
      store.sync();
      store.awaitQuiet();
      store.openTree("other").put(bytes("k"), bytes("v"));
      store.dropTree("other");
      assertTrue(Thread.currentThread().isInterrupted());
    } finally {
      assertTrue(Thread.interrupted());
    }
    try (Store store = Store.open(dir(), SMALL)) {
      assertArrayEquals(value(7, 200), store.tree("t").get(key(7)));
      assertArrayEquals(bytes("v"), store.tree("t").get(bytes("batch")));
    }
  }

  /** That a message has the file with its directory. */
  private static void assertNames(Path file, CorruptionException e) throws IOException {
    assertEquals(file.getFileName().toString(), e.file());
    Path directory = file.toAbsolutePath().getParent().toRealPath();
    assertEquals(directory.toString(), e.directory());
    assertSays("corrupt: " + directory.resolve(e.file()) + " at offset " + e.offset(), e);
  }
}
