package io.isobardb.bench.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Every engine gives the answers of a sorted map, now and after a reopen. */
class EnginesTest {
  private static final int TREES = 3;
  private static final int OPERATIONS = 6000;
  private static final long SEED = 20261120;

  @TempDir Path dir;

  private final List<TreeMap<byte[], byte[]>> model = new ArrayList<>();
  private final SplittableRandom random = new SplittableRandom(SEED);

  @ParameterizedTest
  @EnumSource
  void anEngineAnswersLikeASortedMap(EngineKind kind) {
    for (int i = 0; i < TREES; i++) {
      model.add(new TreeMap<>(Arrays::compareUnsigned));
    }
    EngineOptions options = new EngineOptions(dir, 32 << 20, true, false, TREES);
    for (int opening = 0; opening < 2; opening++) {
      try (Engine engine = kind.open(options);
          Session session = engine.openSession()) {
        compareAll(session, opening);
        for (int i = 0; i < OPERATIONS; i++) {
          step(session, i);
        }
        engine.settle();
        assertTrue(engine.spaceBytes() > 0);
        assertTrue(engine.configuration().startsWith(kind.label()), engine.configuration());
      }
    }
  }

  private void step(Session session, int step) {
    int tree = random.nextInt(TREES);
    TreeMap<byte[], byte[]> map = model.get(tree);
    byte[] key = key();
    String what = "seed " + SEED + ", step " + step;
    switch (random.nextInt(8)) {
      case 0, 1, 2 -> {
        byte[] value = new byte[random.nextInt(300)];
        random.nextBytes(value);
        session.put(tree, key, value);
        map.put(key, value);
      }
      case 3 -> {
        session.delete(tree, key);
        map.remove(key);
      }
      case 4 -> {
        compareScan(session, tree, key, 1 + random.nextInt(20), what);
        comparePrefix(session, tree, key, what);
        compareBatch(session, tree, what);
      }
      default -> compareGet(session, tree, key, what);
    }
  }

  private byte[] key() {
    byte[] key = new byte[1 + random.nextInt(12)];
    Arrays.fill(key, (byte) 0x90);
    key[key.length - 1] = (byte) random.nextInt(256);
    return key;
  }

  private void compareGet(Session session, int tree, byte[] key, String what) {
    byte[] expected = model.get(tree).get(key);
    byte[] small = new byte[50];
    int length = session.get(tree, key, small);
    assertEquals(expected == null ? Session.ABSENT : expected.length, length, what);
    int first = expected == null || length == 0 ? 0 : expected[0];
    int seen = expected == null ? Session.ABSENT : Session.seen(length, first);
    assertEquals(seen, session.look(tree, key), what);
    if (expected != null) {
      byte[] whole = new byte[length];
      session.get(tree, key, whole);
      assertArrayEquals(expected, whole, what);
      if (length <= small.length) {
        assertArrayEquals(expected, Arrays.copyOf(small, length), what);
      }
    }
  }

  private void compareScan(Session session, int tree, byte[] from, int limit, String what) {
    List<String> expected = new ArrayList<>();
    for (Map.Entry<byte[], byte[]> entry : model.get(tree).tailMap(from).entrySet()) {
      if (expected.size() == limit) {
        break;
      }
      expected.add(Arrays.toString(entry.getKey()) + Arrays.toString(entry.getValue()));
    }
    List<String> found = new ArrayList<>();
    int count =
        session.scan(
            tree,
            from,
            limit,
            (key, keyLength, value, valueLength) ->
                found.add(
                    Arrays.toString(Arrays.copyOf(key, keyLength))
                        + Arrays.toString(Arrays.copyOf(value, valueLength))));
    assertEquals(expected, found, what);
    assertEquals(expected.size(), count, what);
  }

  private void comparePrefix(Session session, int tree, byte[] prefix, String what) {
    List<String> expected = new ArrayList<>();
    for (byte[] key : model.get(tree).tailMap(prefix).keySet()) {
      if (Session.beginsWith(key, key.length, prefix)) {
        expected.add(Arrays.toString(key));
      }
    }
    List<String> found = new ArrayList<>();
    int count =
        session.scanPrefix(
            tree,
            prefix,
            (key, keyLength, value, valueLength) ->
                found.add(Arrays.toString(Arrays.copyOf(key, keyLength))));
    assertEquals(expected, found, what);
    assertEquals(expected.size(), count, what);
  }

  private void compareBatch(Session session, int tree, String what) {
    List<byte[]> keys = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      keys.add(key());
    }
    List<byte[]> found = session.multiGet(tree, keys);
    for (int i = 0; i < keys.size(); i++) {
      assertArrayEquals(model.get(tree).get(keys.get(i)), found.get(i), what);
    }
  }

  private void compareAll(Session session, int opening) {
    for (int tree = 0; tree < TREES; tree++) {
      compareScan(session, tree, new byte[1], Integer.MAX_VALUE, "opening " + opening);
    }
  }
}
