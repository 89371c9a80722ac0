package io.isobardb.lsm;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.isobardb.lsm.io.Clock;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.schedule.ThreadScheduler;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedStorage;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.Test;

/**
 * A store is a map, too: log, commit, the swap of a tree's state by a flush, and the cache, with
 * real threads.
 */
@Param(name = "key", gen = IntGen.class, conf = "0:2")
@Param(name = "value", gen = IntGen.class, conf = "1:100")
public class StoreLincheckTest {
  private static final StoreOptions OPTIONS =
      StoreOptions.builder().memoryBudget(4 << 20).pageSize(4096).memoryTuner(false).build();

  /** Lincheck makes a store per run, and has no call for its end. */
  private static final Deque<Store> OLD = new ArrayDeque<>();

  private final Store store;
  private final Tree tree;

  public StoreLincheckTest() {
    store =
        Inside.open(
            new Environment(
                new SimulatedStorage(),
                Clock.SYSTEM,
                new ThreadScheduler("lincheck", 1),
                new SplittableRandom(1)),
            OPTIONS);
    tree = store.openTree("t");
    synchronized (OLD) {
      OLD.add(store);
      if (OLD.size() > 5) {
        OLD.removeFirst().close();
      }
    }
  }

  private static byte[] key(int key) {
    return ("key" + key).getBytes(US_ASCII);
  }

  private static byte[] value(int value) {
    return Integer.toString(value).getBytes(US_ASCII);
  }

  @Operation
  public void put(@Param(name = "key") int key, @Param(name = "value") int value) {
    tree.put(key(key), value(value));
  }

  @Operation
  public void delete(@Param(name = "key") int key) {
    tree.delete(key(key));
  }

  @Operation
  public int get(@Param(name = "key") int key) {
    byte[] value = tree.get(key(key));
    return value == null ? 0 : Integer.parseInt(new String(value, US_ASCII));
  }

  /** Both or none. */
  @Operation
  public void batch(@Param(name = "value") int value) {
    store.write(store.newBatch().put(tree, key(0), value(value)).put(tree, key(1), value(value)));
  }

  @Operation
  public int sum() {
    int sum = 0;
    try (Cursor cursor = tree.cursor()) {
      for (boolean more = cursor.first(); more; more = cursor.next()) {
        sum += Integer.parseInt(new String(cursor.value(), US_ASCII));
      }
    }
    return sum;
  }

  /** Changes nothing that anybody sees. */
  @Operation
  public void flush() {
    store.flush();
  }

  /** A map. */
  public static class Sequential {
    private final Map<Integer, Integer> map = new HashMap<>();

    public void put(int key, int value) {
      map.put(key, value);
    }

    public void delete(int key) {
      map.remove(key);
    }

    public int get(int key) {
      return map.getOrDefault(key, 0);
    }

    public void batch(int value) {
      map.put(0, value);
      map.put(1, value);
    }

    public int sum() {
      return map.values().stream().mapToInt(value -> value).sum();
    }

    public void flush() {}
  }

  @Test
  void storeIsAMap() {
    new StressOptions()
        .iterations(Integer.getInteger("isobar.lincheck.iterations", 1))
        .invocationsPerIteration(30)
        .threads(3)
        .actorsPerThread(3)
        .sequentialSpecification(Sequential.class)
        .check(StoreLincheckTest.class);
  }
}
