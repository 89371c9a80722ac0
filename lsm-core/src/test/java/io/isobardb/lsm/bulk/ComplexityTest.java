package io.isobardb.lsm.bulk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.option.KeyOrder;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What grows with n takes four times as many steps for four times as much, and a little more: five
 * times at most. Steps are calls of a {@link KeyOrder}.
 */
class ComplexityTest {
  private static final int FEW = 2_000;
  private static final double MOST = 5;

  /** Numbers, which it counts the comparisons of. */
  private static final class Counting implements KeyOrder {
    private final LongAdder calls = new LongAdder();

    @Override
    public String name() {
      return "counting";
    }

    @Override
    public int compare(byte[] a, int aOffset, int aLength, byte[] b, int bOffset, int bLength) {
      calls.increment();
      return KeyOrder.BYTES.compare(a, aOffset, aLength, b, bOffset, bLength);
    }
  }

  /** How range deletes may overlap. */
  enum Shape {
    DISJOINT,
    SAME,
    GROWING,
    SHRINKING,
    NESTED,
    NESTED_AT_ONE_END,
    SLIDING,
    RANDOM;

    void delete(Tree tree, int i, int count, SplittableRandom random) {
      int end = 10 * count;
      switch (this) {
        case DISJOINT -> tree.deleteRange(key(10 * i), key(10 * i + 5));
        case SAME -> tree.deleteRange(key(5), key(end));
        case GROWING -> tree.deleteRange(null, key(i));
        case SHRINKING -> tree.deleteRange(null, key(end - i));
        case NESTED -> tree.deleteRange(key(i), key(end - i));
        case NESTED_AT_ONE_END -> tree.deleteRange(key(i), key(end));
        case SLIDING -> tree.deleteRange(key(i), key(i + count));
        case RANDOM -> {
          int from = random.nextInt(end);
          tree.deleteRange(key(from), key(from + 1 + random.nextInt(count)));
        }
        default -> throw new IllegalStateException();
      }
    }
  }

  private static byte[] key(int i) {
    return ByteBuffer.allocate(4).putInt(i).array();
  }

  @TempDir Path dir;

  @ParameterizedTest
  @EnumSource
  void rangeDeletes(Shape shape) {
    double few = rangeDeletes(shape, FEW);
    double more = rangeDeletes(shape, 4 * FEW);
    assertTrue(more < MOST * few, shape + ": " + few + " steps, then " + more);
  }

  /** Comparisons that it takes to write range deletes, to flush them twice and to replay them. */
  private long rangeDeletes(Shape shape, int count) {
    Counting order = new Counting();
    StoreOptions options =
        StoreOptions.builder()
            .memoryBudget(8 << 20)
            .keyOrder(order)
            .durability(Durability.ASYNC)
            .build();
    Path path = dir.resolve(shape + "-" + count);
    try (Store store = Store.open(path, options)) {
      Tree tree = store.openTree("t", TreeOptions.builder().keyOrder(order).build());
      for (int i = 0; i < 100; i++) {
        tree.put(key(i * count / 10), new byte[10]);
      }
      store.flush();
      order.calls.reset();
      SplittableRandom random = new SplittableRandom(1);
      for (int i = 0; i < count; i++) {
        shape.delete(tree, i, count, random);
      }
      store.flush();
      tree.put(key(1), new byte[1]);
      store.flush();
      tree.get(key(2));
    }
    try (Store store = Store.open(path, options)) {
      assertEquals(1, store.tree("t").get(key(1)).length);
    }
    return order.calls.sum();
  }
}
