package io.isobardb.lsm.model;

import io.isobardb.lsm.Tree;
import io.isobardb.lsm.simulation.ModelTree;
import io.isobardb.lsm.simulation.ModelValue;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Random keys and values of a {@link StoreHistory}, and of a {@link CombinedHistory}. */
final class HistoryEntries {
  private HistoryEntries() {}

  /** Few short keys, many with a common beginning, some used before, some as long as may be. */
  static byte[] anyKey(SplittableRandom random, ModelTree tree, int pageSize, boolean large) {
    switch (random.nextInt(large ? 6 : 5)) {
      case 0:
        return key("", random.nextInt(20), random.nextInt(3));
      case 1:
        return key("common/prefix/", random.nextInt(3000), 4);
      case 2:
        if (!tree.keys.isEmpty()) {
          // One that was used, or close to it.
          byte[] near = key("common/prefix/", random.nextInt(3000), 4);
          byte[] known = tree.keys.ceilingKey(near);
          known = known != null ? known : tree.keys.firstKey();
          return random.nextInt(4) != 0 || known.length >= pageSize / 4
              ? known
              : Arrays.copyOf(known, known.length + 1);
        }
        return new byte[0];
      case 3:
        return key("k", random.nextInt(200_000), 3);
      default:
        int length = random.nextInt(10) == 0 ? pageSize / 4 : 8 + random.nextInt(40);
        byte[] key = new byte[length];
        key[random.nextInt(length)] = (byte) random.nextInt(256);
        key[length - 1] = (byte) random.nextInt(256);
        return key;
    }
  }

  /** Two keys in their order; one of so many is null, for no bound. */
  static byte @Nullable [][] anyRange(
      SplittableRandom random, ModelTree tree, int unbounded, Supplier<byte[]> anyKey) {
    byte[] a = random.nextInt(unbounded) == 0 ? null : anyKey.get();
    byte[] b = random.nextInt(unbounded) == 0 ? null : anyKey.get();
    boolean swap = a != null && b != null && tree.keys.comparator().compare(a, b) > 0;
    return swap ? new byte @Nullable [][] {b, a} : new byte @Nullable [][] {a, b};
  }

  /** What a look at a value sees. */
  static byte[] copy(ByteBuffer value) {
    byte[] copy = new byte[value.remaining()];
    value.get(copy);
    return copy;
  }

  /** A number behind a prefix, big-endian. */
  static byte[] key(String prefix, int number, int bytes) {
    byte[] key = Arrays.copyOf(prefix.getBytes(), prefix.length() + bytes);
    for (int i = 0; i < bytes; i++) {
      key[key.length - 1 - i] = (byte) (number >>> (8 * i));
    }
    return key;
  }

  /** Mostly some hundred bytes, seldom none, a page, or many. */
  static ModelValue anyValue(SplittableRandom random, Tree tree, int pageSize, boolean large) {
    int length =
        switch (random.nextInt(24)) {
          case 0 -> 0;
          case 1 -> random.nextInt(8);
          case 2 -> random.nextInt(pageSize);
          case 3 -> pageSize / 4 - 40 + random.nextInt(80);
          case 5 -> large && random.nextInt(8) == 0 ? ModelValue.MAX_LENGTH : pageSize / 2;
          case 4 -> random.nextInt(5) != 0 ? 100 : random.nextInt(200_000);
          default -> 20 + random.nextInt(400);
        };
    return ModelValue.of(random, Math.min(length, tree.maxValueBytes()), random.nextLong());
  }
}
