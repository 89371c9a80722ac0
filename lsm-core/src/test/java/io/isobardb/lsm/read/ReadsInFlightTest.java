package io.isobardb.lsm.read;

import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.SimulatedStores.value;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Compression;
import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.DeflateCodec;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.simulation.Fault;
import io.isobardb.lsm.simulation.FaultPlan;
import io.isobardb.lsm.simulation.Operation;
import io.isobardb.lsm.simulation.SimulatedWorld;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Calls that have several reads in flight, against a model: a seed draws which of them helpers do,
 * and when, how small the cache is, and which of them fail.
 */
class ReadsInFlightTest {
  private static final long SEED = Long.getLong("isobar.seed", 20_261_128L);
  private static final int KEYS = 6000;

  private final NavigableMap<String, byte[]> model = new TreeMap<>();

  private void fill(Store store, Tree tree, SplittableRandom random) {
    for (int i = 0; i < 2 * KEYS; i++) {
      int n = random.nextInt(KEYS);
      if (random.nextInt(8) == 0) {
        tree.delete(key(n));
        model.remove(text(key(n)));
      } else {
        byte[] value =
            value(random.nextInt(), random.nextInt(random.nextInt(60) == 0 ? 20_000 : 2500));
        tree.put(key(n), value);
        model.put(text(key(n)), value);
      }
      if (random.nextInt(KEYS) == 0) {
        store.flush();
      }
    }
  }

  private static String text(byte[] key) {
    return new String(key, US_ASCII);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3})
  void answersAreThoseOfTheModelOrErrors(int round) {
    SplittableRandom random = new SplittableRandom(SEED + round);
    SimulatedWorld world = new SimulatedWorld(random.nextLong());
    StoreOptions options =
        StoreOptions.builder()
            .memoryBudget((4L + random.nextInt(3)) << 20)
            .pageSize(4096)
            .logLimit(1 << 20)
            .build();
    TreeOptions tree =
        TreeOptions.builder()
            .compression(
                round % 2 == 0 ? Compression.NONE : Compression.LZ4.last(DeflateCodec.NAME))
            .build();
    try (Store store = world.open(options)) {
      fill(store, store.createTree("t", tree), random);
    }
    try (Store store = world.open(options)) {
      read(store.tree("t"), world, random);
    }
  }

  private void read(Tree tree, SimulatedWorld world, SplittableRandom random) {
    int failed = 0;
    int good = 0;
    for (int call = 0; call < 200; call++) {
      // Most calls see no fault, others one in so many reads.
      int oneIn = random.nextInt(3) > 0 ? 0 : 1 + random.nextInt(60);
      world.storage().faults(oneIn == 0 ? FaultPlan.NONE : failing(random.split(), oneIn));
      try {
        if (random.nextBoolean()) {
          checkMany(tree, random);
        } else {
          checkScan(tree, random);
        }
        good++;
      } catch (UncheckedIOException e) {
        assertTrue(oneIn > 0, "nothing failed, but " + e);
        failed++;
      }
      world.storage().faults(FaultPlan.NONE);
    }
    assertTrue(good > 50 && failed > 0, good + " good, " + failed + " failed");
  }

  private static FaultPlan failing(SplittableRandom random, int oneIn) {
    return (operation, file, index) ->
        operation == Operation.READ && random.nextInt(oneIn) == 0 ? Fault.EIO : Fault.NONE;
  }

  private void checkMany(Tree tree, SplittableRandom random) {
    List<byte[]> keys = new ArrayList<>();
    int count = random.nextInt(random.nextInt(8) == 0 ? 1500 : 150);
    for (int i = 0; i < count; i++) {
      keys.add(key(random.nextInt(KEYS + 100)));
    }
    List<byte @Nullable []> found = tree.multiGet(keys);
    assertEquals(count, found.size());
    for (int i = 0; i < count; i++) {
      assertArrayEquals(model.get(text(keys.get(i))), found.get(i), text(keys.get(i)));
    }
  }

  private void checkScan(Tree tree, SplittableRandom random) {
    int from = random.nextInt(KEYS);
    int length = random.nextInt(random.nextInt(8) == 0 ? 2000 : 100);
    boolean back = random.nextInt(3) == 0;
    NavigableMap<String, byte[]> range =
        model.subMap(text(key(from)), true, text(key(from + length)), false);
    CursorOptions bounds = CursorOptions.all().from(key(from)).to(key(from + length));
    try (Cursor cursor = tree.cursor(bounds)) {
      boolean more = back ? cursor.last() : cursor.first();
      for (Map.Entry<String, byte[]> entry : (back ? range.descendingMap() : range).entrySet()) {
        assertTrue(more, "no " + entry.getKey());
        assertEquals(entry.getKey(), text(cursor.key()));
        assertArrayEquals(entry.getValue(), cursor.value());
        more = back ? cursor.previous() : cursor.next();
      }
      assertTrue(!more, "more than there is");
    }
  }
}
