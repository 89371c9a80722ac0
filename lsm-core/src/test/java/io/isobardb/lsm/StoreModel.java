package io.isobardb.lsm;

import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.simulation.TailOperator;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** What a store should hold: all versions of all keys, numbered in the order of the writes. */
final class StoreModel {
  /** The largest value that there is a recipe for. */
  static final int MAX_VALUE = 1 << 20;

  private static final byte[] BLOCK = new byte[MAX_VALUE + 4096];

  static {
    new SplittableRandom(1).nextBytes(BLOCK);
    // The second half compresses.
    for (int i = BLOCK.length / 2; i < BLOCK.length; i++) {
      BLOCK[i] = (byte) (i / 97);
    }
  }

  final TreeMap<String, ModelTree> trees = new TreeMap<>();
  long now;

  /** A value by its recipe, so that a model of many takes no room. */
  record Value(int length, int start, long stamp, byte @Nullable [] made) {
    static Value of(SplittableRandom random, int length, long stamp) {
      return new Value(length, random.nextInt(BLOCK.length - length), stamp, null);
    }

    /** One that a merge operator has made. */
    static Value made(byte[] bytes) {
      return new Value(bytes.length, 0, 0, bytes);
    }

    byte[] bytes() {
      if (made != null) {
        return made.clone();
      }
      byte[] bytes = new byte[length];
      System.arraycopy(BLOCK, start, bytes, 0, length);
      for (int i = 0; i < Math.min(8, length); i++) {
        bytes[i] ^= (byte) (stamp >>> (8 * i));
      }
      return bytes;
    }
  }

  /**
   * A version of a key.
   *
   * @param value null if it is a deletion
   */
  record Version(long at, @Nullable Value value) {}

  /** One tree. */
  static final class ModelTree {
    final String name;
    final TreeOptions options;
    final TreeMap<byte[], List<Version>> keys;

    ModelTree(String name, TreeOptions options) {
      this.name = name;
      this.options = options;
      this.keys = new TreeMap<>(comparator(options.keyOrder()));
    }

    void write(byte[] key, @Nullable Value value, long at) {
      keys.computeIfAbsent(key, k -> new ArrayList<>(2)).add(new Version(at, value));
    }

    /** Merges an operand into the newest value, as {@link TailOperator} does. */
    void merge(byte[] key, byte[] operand, long at) {
      byte[] made = TailOperator.TAIL.merge(key, get(key, Long.MAX_VALUE), List.of(operand));
      write(key, made == null ? null : Value.made(made), at);
    }

    void deleteRange(byte @Nullable [] from, byte @Nullable [] to, long at) {
      NavigableMap<byte[], List<Version>> range = from == null ? keys : keys.tailMap(from, true);
      range = to == null ? range : range.headMap(to, false);
      range.values().forEach(versions -> versions.add(new Version(at, null)));
    }

    byte @Nullable [] get(byte[] key, long at) {
      List<Version> versions = keys.get(key);
      Value value = versions == null ? null : at(versions, at);
      return value == null ? null : value.bytes();
    }

    boolean has(byte[] key, long at) {
      List<Version> versions = keys.get(key);
      return versions != null && at(versions, at) != null;
    }

    private static @Nullable Value at(List<Version> versions, long at) {
      for (int i = versions.size() - 1; i >= 0; i--) {
        if (versions.get(i).at <= at) {
          return versions.get(i).value;
        }
      }
      return null;
    }

    /** The first key of a range that is there. */
    byte @Nullable [] first(NavigableMap<byte[], List<Version>> range, long at) {
      for (var entry : range.entrySet()) {
        if (at(entry.getValue(), at) != null) {
          return entry.getKey();
        }
      }
      return null;
    }

    /** Forgets the versions that nobody can read at or after {@code at}. */
    void prune(long at) {
      keys.values()
          .removeIf(
              versions -> {
                while (versions.size() > 1 && versions.get(1).at <= at) {
                  versions.remove(0);
                }
                return versions.size() == 1
                    && versions.get(0).at <= at
                    && versions.get(0).value == null;
              });
    }
  }

  static Comparator<byte[]> comparator(KeyOrder order) {
    return (a, b) -> order.compare(a, 0, a.length, b, 0, b.length);
  }
}
