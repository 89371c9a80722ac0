package io.isobardb.lsm.typed;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.google.common.collect.testing.ConcurrentNavigableMapTestSuiteBuilder;
import com.google.common.collect.testing.TestStringSortedMapGenerator;
import com.google.common.collect.testing.features.CollectionFeature;
import com.google.common.collect.testing.features.CollectionSize;
import com.google.common.collect.testing.features.MapFeature;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import junit.framework.Test;
import junit.framework.TestFailure;
import junit.framework.TestResult;
import junit.framework.TestSuite;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Guava's tests of navigable maps, over a tree as a map. They are 33,000, most of them of parts of
 * parts of maps: a build runs every {@code -Disobar.maps.stride}th, beginning with {@code
 * -Disobar.seed}.
 */
@Tag("any-jdk")
class LiveMapTest {
  private static final long SEED = Long.getLong("isobar.seed", 0);
  private static final int STRIDE = Integer.getInteger("isobar.maps.stride", 19);

  @TempDir static Path directory;
  private static Store store;
  private static int made;

  @BeforeAll
  static void open() {
    store = Store.open(directory, StoreOptions.builder().memoryBudget(16 << 20).build());
  }

  @AfterAll
  static void close() {
    store.close();
  }

  /** A map over an empty tree; the same one again, since a store has few trees rather than many. */
  private static SortedMap<String, String> fresh() {
    Tree tree = store.openTree("map", TreeOptions.builder().logged(false).build());
    SortedMap<String, String> map = TypedTree.of(tree, KeyCodec.ofString(), Codec.string()).asMap();
    map.clear();
    made++;
    return map;
  }

  @TestFactory
  Stream<DynamicNode> guavasSuite() {
    TestSuite suite =
        ConcurrentNavigableMapTestSuiteBuilder.using(
                new TestStringSortedMapGenerator() {
                  @Override
                  protected SortedMap<String, String> create(Map.Entry<String, String>[] entries) {
                    SortedMap<String, String> map = fresh();
                    for (Map.Entry<String, String> entry : entries) {
                      map.put(entry.getKey(), entry.getValue());
                    }
                    return map;
                  }
                })
            .named("a tree as a map")
            .withFeatures(
                CollectionSize.ANY,
                CollectionFeature.KNOWN_ORDER,
                CollectionFeature.SUPPORTS_ITERATOR_REMOVE,
                MapFeature.GENERAL_PURPOSE)
            .createTestSuite();
    List<DynamicNode> tests = new ArrayList<>();
    collect("", suite, tests);
    Assertions.assertTrue(tests.size() > 30_000, "there are only " + tests.size() + " tests");
    return IntStream.range(0, tests.size())
        .filter(i -> Math.floorMod(i - SEED, STRIDE) == 0)
        .mapToObj(tests::get);
  }

  /** What Guava's tests do not ask. */
  @org.junit.jupiter.api.Test
  @Timeout(20)
  void theEdgesAreThoseOfAConcurrentSkipListMap() {
    ConcurrentNavigableMap<String, String> tree = (ConcurrentNavigableMap<String, String>) fresh();
    for (ConcurrentNavigableMap<String, String> map :
        List.of(tree, new ConcurrentSkipListMap<String, String>())) {
      map.put("b", "1");
      map.put("x", "2");
      ConcurrentNavigableMap<String, String> part = map.subMap("a", "m");
      assertThrows(NullPointerException.class, () -> map.containsValue(null));
      assertThrows(NullPointerException.class, () -> part.containsValue(null));
      assertThrows(IllegalArgumentException.class, () -> part.replace("x", "3"));
      assertThrows(IllegalArgumentException.class, () -> part.replace("x", "2", "3"));
      assertEquals("1", part.replace("b", "4"));
      assertNull(part.replace("c", "4"));
      assertNull(part.computeIfPresent("x", (key, value) -> "5"));
      assertFalse(part.remove("x", "2"));
      assertEquals("2", map.get("x"));
    }
  }

  /** Invalid UTF-8, of which the codec makes something else when it writes it again. */
  @org.junit.jupiter.api.Test
  @Timeout(20)
  void valuesThatTheCodecWouldWriteOtherwiseAreComparedAsTheyAre() {
    ConcurrentNavigableMap<String, String> map = (ConcurrentNavigableMap<String, String>) fresh();
    Tree tree = store.tree("map");
    byte[] odd = {(byte) 0xff};
    String read = "\ufffd";
    for (String key : List.of("a", "b", "c", "d", "e", "f")) {
      tree.put(key.getBytes(UTF_8), odd);
    }
    Assertions.assertEquals("a", map.pollFirstEntry().getKey());
    Assertions.assertEquals("f", map.descendingMap().pollFirstEntry().getKey());
    Assertions.assertEquals("e", map.pollLastEntry().getKey());
    Assertions.assertEquals(read + "x", map.merge("b", "x", String::concat));
    Assertions.assertEquals(read + "y", map.compute("c", (key, value) -> value + "y"));
    map.replaceAll((key, value) -> value + key);
    Assertions.assertEquals(Map.of("b", read + "xb", "c", read + "yc", "d", read + "d"), map);
    tree.put("d".getBytes(UTF_8), odd);
    Assertions.assertNull(map.computeIfPresent("d", (key, value) -> null));
    Assertions.assertNull(map.headMap("c").compute("d", (key, value) -> null));
    Assertions.assertThrows(
        IllegalArgumentException.class, () -> map.headMap("c").merge("d", "z", String::concat));
    Assertions.assertEquals(2, map.size());
  }

  private static void collect(String path, Test test, List<DynamicNode> tests) {
    if (test instanceof TestSuite suite) {
      for (Test inner : Collections.list(suite.tests())) {
        collect(path + "/" + suite.getName(), inner, tests);
      }
    } else {
      tests.add(DynamicTest.dynamicTest(path + "/" + test, () -> run(test)));
    }
  }

  private static void run(Test test) throws Throwable {
    TestResult result = new TestResult();
    test.run(result);
    for (TestFailure failure :
        Stream.concat(
                Collections.list(result.errors()).stream(),
                Collections.list(result.failures()).stream())
            .toList()) {
      throw failure.thrownException();
    }
  }
}
