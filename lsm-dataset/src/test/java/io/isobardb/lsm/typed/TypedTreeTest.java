package io.isobardb.lsm.typed;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.dataset.ExtractorException;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.option.MergeOperator;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TypedTreeTest {
  /** Characters of a byte each, so that there are keys of nothing but FF. */
  private static final KeyCodec<String> LAST =
      KeyCodec.ofBytes()
          .map(
              text -> text.getBytes(StandardCharsets.ISO_8859_1),
              bytes -> new String(bytes, StandardCharsets.ISO_8859_1));

  @TempDir Path directory;
  private Store store;
  private TypedTree<Integer, String> tree;

  @BeforeEach
  void open() {
    store = Store.open(directory, StoreOptions.builder().memoryBudget(8 << 20).build());
    tree = TypedTree.of(store.openTree("t"), KeyCodec.ofInt(), Codec.string());
  }

  @AfterEach
  void close() {
    store.close();
  }

  @Test
  void operandsAreTypedToo() {
    TreeOptions adding = TreeOptions.builder().mergeOperator(MergeOperator.ADD_LONG).build();
    TypedTree<String, Long> sums =
        TypedTree.of(store.createTree("sums", adding), KeyCodec.ofString(), Codec.int64());
    sums.merge("a", 5L);
    sums.merge("a", -7L);
    assertEquals(-2, sums.get("a"));
    sums.put("a", 40L);
    sums.merge("a", 2L);
    assertEquals(42, sums.get("a"));
    sums.delete("a");
    sums.merge("a", 1L);
    assertEquals(1, sums.get("a"));
  }

  @Test
  void readsAndWritesBySingleKeysBatchesAndTransactions() {
    tree.put(-1, "minus one");
    WriteBatch batch = store.newBatch();
    tree.put(batch, 2, "two");
    tree.delete(batch, -1);
    store.write(batch);
    assertNull(tree.get(-1));
    try (Transaction transaction = store.begin()) {
      assertEquals("two", tree.getForUpdate(transaction, 2));
      tree.put(transaction, 3, "three");
      tree.delete(transaction, 2);
      assertEquals("three", tree.get(transaction, 3));
      try (Stream<Map.Entry<Integer, String>> seen = tree.entries(transaction, KeyRange.all())) {
        assertEquals(List.of(Map.entry(3, "three")), seen.toList());
      }
      assertTrue(tree.contains(2));
      transaction.commit();
    }
    assertFalse(tree.contains(2));
  }

  @Test
  void rangesAreReadBothWays() {
    for (int i = 0; i < 10; i++) {
      tree.put(i, "v" + i);
    }
    try (Snapshot now = store.snapshot();
        Transaction transaction = store.begin()) {
      tree.put(20, "later");
      tree.put(transaction, 6, "mine");
      KeyRange<Integer> last = KeyRange.between(3, 20).descending().to(7, true);
      assertEquals(List.of(7, 6, 5, 4, 3), keys(tree.entries(last)));
      assertEquals(List.of(9, 8), keys(tree.entries(KeyRange.from(8).descending(), now)));
      try (Stream<Map.Entry<Integer, String>> seen = tree.entries(transaction, last)) {
        assertEquals(List.of("v7", "mine"), seen.limit(2).map(Map.Entry::getValue).toList());
      }
      transaction.rollback();
    }
    tree.deleteRange(KeyRange.from(3).descending());
    assertEquals(List.of(2, 1, 0), keys(tree.entries(KeyRange.<Integer>all().descending())));
    assertEquals(List.of(), keys(tree.entries(KeyRange.from(3).descending())));
  }

  @Test
  void partsAreReadBothWays() {
    KeyCodec<Pair<String, Integer>> keys = KeyCodec.pair(KeyCodec.ofString(), KeyCodec.ofInt());
    TypedTree<Pair<String, Integer>, String> points =
        TypedTree.of(store.openTree("points"), keys, Codec.string());
    for (String series : List.of("a", "ab", "b")) {
      for (int i = 0; i < 3; i++) {
        points.put(new Pair<>(series, i), series + i);
      }
    }
    KeyRange<Pair<String, Integer>> ofSeries = KeyRange.startingWith("ab");
    try (Stream<Map.Entry<Pair<String, Integer>, String>> seen =
        points.entries(ofSeries.descending())) {
      assertEquals(List.of("ab2", "ab1", "ab0"), seen.map(Map.Entry::getValue).toList());
    }
  }

  @Test
  void aPartOfAnotherTypeIsTold() {
    KeyCodec<Pair<String, Integer>> keys = KeyCodec.pair(KeyCodec.ofString(), KeyCodec.ofInt());
    TypedTree<Pair<String, Integer>, String> points =
        TypedTree.of(store.openTree("points"), keys, Codec.string());
    String told =
        assertThrows(IllegalArgumentException.class, () -> points.entries(KeyRange.startingWith(5)))
            .getMessage();
    assertTrue(told.contains("begin with [5]: part 1"), told);
  }

  private static List<Integer> keys(Stream<Map.Entry<Integer, String>> entries) {
    try (entries) {
      return entries.map(Map.Entry::getKey).toList();
    }
  }

  @Test
  void manyKeysAreReadAtOnce() {
    tree.put(1, "one");
    tree.put(3, "three");
    try (Snapshot before = store.snapshot()) {
      tree.put(2, "two");
      assertEquals(Arrays.asList("three", "two", null), tree.multiGet(List.of(3, 2, 7)));
      assertEquals(Arrays.asList("three", null, "one"), tree.multiGet(List.of(3, 2, 1), before));
    }
  }

  @Test
  void whatIsThereStaysInATransaction() {
    tree.put(1, "one");
    try (Transaction transaction = store.begin()) {
      assertEquals("one", tree.putIfAbsent(transaction, 1, "uno"));
      assertNull(tree.putIfAbsent(transaction, 2, "due"));
      assertFalse(tree.contains(2));
      transaction.commit();
    }
    assertEquals(Arrays.asList("one", "due"), tree.multiGet(List.of(1, 2)));
  }

  @Test
  void aKeyIsReplacedOnlyIfItIsThere() {
    assertNull(tree.replace(1, "a"));
    assertFalse(tree.contains(1));
    assertNull(tree.putIfAbsent(1, "a"));
    assertEquals("a", tree.putIfAbsent(1, "b"));
    assertEquals("a", tree.replace(1, "b"));
    assertFalse(tree.replace(1, "a", "c"));
    assertTrue(tree.replace(1, "b", "c"));
    assertEquals("cd", tree.compute(1, (key, value) -> value + "d"));
    assertEquals("cd", tree.getAndPut(1, "e"));
    assertFalse(tree.remove(1, "cd"));
    assertTrue(tree.remove(1, "e"));
    assertNull(tree.remove(1));
    assertNull(tree.compute(1, (key, value) -> value));
    assertEquals("null", tree.compute(1, (key, value) -> "" + value));
    assertNull(tree.compute(1, (key, value) -> null));
    assertFalse(tree.contains(1));
  }

  @Test
  void aStreamSeesOneMomentAndHoldsNothingOnceItIsClosed() {
    for (int i = -50; i < 50; i++) {
      tree.put(i, "" + i);
    }
    Stream<Map.Entry<Integer, String>> entries = tree.entries(KeyRange.between(-10, 10));
    try (entries;
        Snapshot snapshot = store.snapshot()) {
      for (int i = -50; i < 50; i++) {
        tree.delete(i);
      }
      List<Integer> seen = new ArrayList<>();
      Iterator<Map.Entry<Integer, String>> iterator = entries.iterator();
      for (int i = 0; i < 5; i++) {
        seen.add(iterator.next().getKey());
      }
      assertEquals(List.of(-10, -9, -8, -7, -6), seen);
      assertEquals(1, store.stats().readers().cursors());
      try (Stream<Map.Entry<Integer, String>> before =
          tree.entries(KeyRange.<Integer>all().from(40, false).to(45, true), snapshot)) {
        assertEquals(List.of(41, 42, 43, 44, 45), before.map(Map.Entry::getKey).toList());
      }
    }
    assertEquals(0, store.stats().readers().cursors());
  }

  @Test
  void aMapHoldsNoCursorBetweenItsSteps() {
    ConcurrentNavigableMap<Integer, String> map = tree.asMap();
    for (int i = 0; i < 1000; i++) {
      map.put(i, "" + i);
    }
    int seen = 0;
    Iterator<Integer> keys = map.descendingMap().tailMap(899, true).keySet().iterator();
    while (keys.hasNext()) {
      assertEquals(899 - seen++, keys.next());
      assertEquals(0, store.stats().readers().cursors());
    }
    assertEquals(900, seen);
    tree.put(5, "changed");
    assertEquals("changed", map.get(5));
    assertEquals(1, map.subMap(4, false, 5, true).size());
  }

  @Test
  void aTreeWithAnOrderOfItsOwnIsRefused() {
    KeyOrder reverse =
        new KeyOrder() {
          @Override
          public String name() {
            return "reverse";
          }

          @Override
          public int compare(
              byte[] a, int aOffset, int aLength, byte[] b, int bOffset, int bLength) {
            return Arrays.compareUnsigned(
                b, bOffset, bOffset + bLength, a, aOffset, aOffset + aLength);
          }
        };
    var ordered = store.openTree("r", TreeOptions.builder().keyOrder(reverse).build());
    IllegalArgumentException refused =
        assertThrows(
            IllegalArgumentException.class,
            () -> TypedTree.of(ordered, KeyCodec.ofInt(), Codec.string()));
    assertTrue(refused.getMessage().contains("'reverse'"), refused.getMessage());
  }

  /** Each thread adds to lists in all ways there are: nothing that was added is missing. */
  @Test
  void computeLosesNothingBesideOthers() throws Exception {
    int threads = 4;
    int rounds = 300;
    ConcurrentNavigableMap<Integer, String> map = tree.asMap();
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      List<Future<?>> done = new ArrayList<>();
      for (int t = 0; t < threads; t++) {
        String mark = "" + (char) ('a' + t);
        int thread = t;
        done.add(
            pool.submit(
                () -> {
                  for (int i = 0; i < rounds; i++) {
                    if ((i + thread) % 2 == 0) {
                      tree.compute(i % 3, (key, value) -> value == null ? mark : value + mark);
                    } else {
                      map.merge(i % 3, mark, String::concat);
                    }
                  }
                }));
      }
      for (Future<?> one : done) {
        one.get();
      }
    } finally {
      pool.shutdown();
    }
    assertEquals(
        threads * rounds, tree.get(0).length() + tree.get(1).length() + tree.get(2).length());
  }

  private record User(String name, String city) {}

  @Test
  void extractorsShareOneDecodedRecord() {
    AtomicInteger decoded = new AtomicInteger();
    Codec<User> users =
        Codec.of(
            user -> (user.name() + "/" + user.city()).getBytes(StandardCharsets.UTF_8),
            bytes -> {
              decoded.incrementAndGet();
              String[] parts = new String(bytes, StandardCharsets.UTF_8).split("/");
              return new User(parts[0], parts[1]);
            });
    TypedIndex<User, String> byCity =
        TypedIndex.of("city", KeyCodec.ofString(), user -> List.of(user.city()));
    TypedIndex<User, Integer> byLength =
        TypedIndex.of("length", KeyCodec.ofInt(), user -> List.of(user.name().length()));
    TypedIndex<User, String> byName =
        TypedIndex.<User, String>of("name", KeyCodec.ofString(), user -> List.of(user.name()))
            .asUnique();
    TypedDataset<Long, User> dataset =
        TypedDataset.open(store, "users", KeyCodec.ofLong(), users, byCity, byLength, byName);
    dataset.put(1L, new User("ada", "london"));
    assertEquals(1, decoded.get(), "three indexes, one record");
    dataset.put(2L, new User("grace", "new york"));
    dataset.put(1L, new User("ada", "paris"));
    assertEquals(List.of(Map.entry(1L, new User("ada", "paris"))), dataset.find(byCity, "paris"));
    assertEquals(List.of(), dataset.find(byCity, "london"));
    try (Stream<Map.Entry<Long, User>> found = dataset.entries(byLength, KeyRange.from(4))) {
      assertEquals(List.of(2L), found.map(Map.Entry::getKey).toList());
    }
    store.inTransaction(
        transaction -> {
          dataset.put(transaction, 3L, new User("alan", "london"));
          assertEquals(1, dataset.find(transaction, byName, "alan").size());
          dataset.delete(transaction, 2L);
          return 0;
        });
    assertNull(dataset.get(2L));
    assertTrue(dataset.dataset().check().isSound());
  }

  @Test
  void aTypedDatasetGetsAnIndexLater() {
    Codec<User> users = Codec.of(User.class);
    TypedIndex<User, String> byCity =
        TypedIndex.of("city", KeyCodec.ofString(), user -> List.of(user.city()));
    TypedDataset<Long, User> dataset =
        TypedDataset.open(store, "users", KeyCodec.ofLong(), users, List.of());
    dataset.put(1L, new User("ada", "london"));
    dataset.createIndex(byCity);
    dataset.put(2L, new User("alan", "london"));
    assertEquals(
        List.of(1L, 2L), dataset.find(byCity, "london").stream().map(Map.Entry::getKey).toList());
    assertTrue(dataset.dataset().check().isSound());
  }

  @Test
  void anExtractorThatGivesNullIsToldSo() {
    TypedIndex<User, String> byCity = TypedIndex.of("city", KeyCodec.ofString(), user -> null);
    TypedDataset<Long, User> dataset =
        TypedDataset.open(store, "users", KeyCodec.ofLong(), Codec.of(User.class), byCity);
    ExtractorException told =
        assertThrows(ExtractorException.class, () -> dataset.put(1L, new User("ada", "london")));
    assertTrue(told.getMessage().contains("it may give an empty list"), told.getMessage());
  }

  @Test
  void textsHavePrefixesByBounds() {
    TypedTree<String, String> names =
        TypedTree.of(store.openTree("names"), KeyCodec.ofString(), Codec.string());
    Throwable told =
        assertThrows(
            IllegalArgumentException.class, () -> names.entries(KeyRange.startingWith("ad")));
    assertTrue(told.getMessage().contains("by from and to"), told.getMessage());
  }

  /** The longest keys there are, at the end of what their bytes allow and before it. */
  private TypedTree<String, String> longestKeys(String... last) {
    TypedTree<String, String> names = TypedTree.of(store.openTree("names"), LAST, Codec.string());
    for (String key : last) {
      names.put(longest(key), key);
    }
    return names;
  }

  private String longest(String last) {
    return "\u00ff".repeat(store.tree("names").maxKeyBytes() - last.length()) + last;
  }

  private static List<String> values(TypedTree<String, String> tree) {
    return List.copyOf(tree.asMap().values());
  }

  @Test
  void aRangeMayEndWithTheLongestKeyAndBeginBehindIt() {
    TypedTree<String, String> names = longestKeys("a", "b", "c", "\u00ff");
    KeyRange<String> all = KeyRange.all();
    names.deleteRange(all.from(longest("a"), false).to(longest("b"), true));
    assertEquals(List.of("a", "c", "\u00ff"), values(names));
    names.deleteRange(all.from(longest("\u00ff"), false));
    names.deleteRange(all.from(longest("c"), false).to(longest("c"), false));
    names.deleteRange(all.from(longest("c"), false).to(longest("c"), true));
    assertEquals(List.of("a", "c", "\u00ff"), values(names));
    WriteBatch batch = store.newBatch();
    names.deleteRange(batch, all.from(longest("a"), false).to(longest("c"), true));
    store.write(batch);
    assertEquals(List.of("a", "\u00ff"), values(names));
    try (Transaction transaction = store.begin()) {
      names.deleteRange(transaction, all.from(longest("b"), true).to(longest("\u00ff"), true));
      transaction.commit();
    }
    assertEquals(List.of("a"), values(names));
    KeyRange<String> twisted = all.from("b", true).to("a", true);
    String message =
        assertThrows(IllegalArgumentException.class, () -> names.deleteRange(twisted)).getMessage();
    assertTrue(message.contains("can't begin at b, behind its end a"), message);
  }
}
