package io.isobardb.lsm.component;

import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.entry.Probe;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.sstable.KeyHash;
import io.isobardb.memory.pool.PagePool;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.Test;

/** The active SSTable is a map of keys to what was written last. Real threads; leaves split. */
@Param(name = "key", gen = IntGen.class, conf = "0:3")
@Param(name = "value", gen = IntGen.class, conf = "1:100")
public class ActiveTreeLincheckTest {
  private static final int VALUE_BYTES = 900;
  private static final PagePool POOL = new PagePool(64 << 20, 4096, true);

  /** Lincheck makes a tree per run, and has no call for its end. */
  private static final Deque<ActiveTree> OLD = new ArrayDeque<>();

  private final ActiveTree tree = new ActiveTree(POOL, KeyOrder.BYTES, 1 << 20);
  private final AtomicLong lsns = new AtomicLong(8);

  private final Visibility visibility =
      new Visibility() {
        @Override
        public long visible() {
          return -1;
        }

        @Override
        public long newestSnapshot() {
          return -1;
        }
      };

  public ActiveTreeLincheckTest() {
    synchronized (OLD) {
      OLD.add(tree);
      if (OLD.size() > 20) {
        OLD.removeFirst().free();
      }
    }
  }

  private static byte[] key(int key) {
    return new byte[] {'k', (byte) key};
  }

  private void write(int number, int kind, byte[] value) {
    byte[] key = key(number);
    long hash = KeyHash.hash(key, 0, key.length);
    tree.put(
        new Write()
            .of(kind, key, 0, key.length)
            .value(value, 0, value.length)
            .at(lsns.getAndAdd(8))
            .hashed(),
        visibility);
  }

  @Operation
  public void put(@Param(name = "key") int key, @Param(name = "value") int value) {
    // Four of them fill a leaf, so that nearly every run splits one.
    byte[] bytes = new byte[VALUE_BYTES];
    ByteBuffer.wrap(bytes).putInt(0, value).putInt(VALUE_BYTES - 4, value);
    write(key, Kind.PUT, bytes);
  }

  @Operation
  public void delete(@Param(name = "key") int key) {
    write(key, Kind.DELETE, new byte[0]);
  }

  @Operation
  public int get(@Param(name = "key") int number) {
    byte[] key = key(number);
    int epoch = POOL.epochs().enter();
    try {
      ByteBuffer words = ByteBuffer.allocate(VALUE_BYTES);
      long hash = KeyHash.hash(key, 0, key.length);
      Probe probe = new Probe(0).of(hash).at(Long.MAX_VALUE - 1, () -> 0).into(words);
      int length = tree.find(key, probe);
      if (length == Probe.ABSENT || length == Probe.DELETED) {
        return 0;
      }
      int first = words.getInt(0);
      return length == VALUE_BYTES && words.getInt(VALUE_BYTES - 4) == first ? first : -1;
    } finally {
      POOL.epochs().exit(epoch);
    }
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
  }

  @Test
  void treeIsAMap() {
    new StressOptions()
        .iterations(Integer.getInteger("isobar.lincheck.iterations", 1))
        .invocationsPerIteration(1000)
        .threads(3)
        .actorsPerThread(3)
        .sequentialSpecification(Sequential.class)
        .check(ActiveTreeLincheckTest.class);
  }
}
