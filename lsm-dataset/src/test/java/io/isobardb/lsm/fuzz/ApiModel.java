package io.isobardb.lsm.fuzz;

import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.option.KeyOrder;
import java.util.HashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** What a store should hold after the calls of an {@link ApiPlay}. */
public final class ApiModel {
  private static final byte[] BLOCK = new byte[(64 << 10) + 1];

  static {
    new SplittableRandom(1).nextBytes(BLOCK);
  }

  /** A value by its recipe. */
  public record Value(int length, int seed) {
    byte[] bytes() {
      byte[] bytes = new byte[length];
      // One of three can be compressed.
      for (int at = seed % 3 == 0 ? length : 0; at < length; at += BLOCK.length) {
        System.arraycopy(BLOCK, 0, bytes, at, Math.min(BLOCK.length, length - at));
      }
      for (int i = 0; i < Math.min(4, length); i++) {
        bytes[i] = (byte) (seed >>> (8 * i));
      }
      return bytes;
    }

    /** The recipe that may have made these bytes. */
    static Value of(byte[] bytes) {
      int seed = 0;
      for (int i = 0; i < Math.min(4, bytes.length); i++) {
        seed |= (bytes[i] & 0xFF) << (8 * i);
      }
      return new Value(bytes.length, seed);
    }

    static byte @Nullable [] bytes(@Nullable Value value) {
      return value == null ? null : value.bytes();
    }
  }

  /** The contents of a tree. */
  public static final class Contents {
    final String name;
    final TreeOptions options;
    final TreeMap<byte[], Value> entries;

    /** When keys were written last, deletes included. */
    final TreeMap<byte[], Long> written;

    boolean dropped;

    Contents(String name, TreeOptions options) {
      this.name = name;
      this.options = options;
      this.entries = empty();
      this.written = new TreeMap<>(entries.comparator());
    }

    <T> TreeMap<byte[], T> empty() {
      KeyOrder order = options.keyOrder();
      return new TreeMap<>((a, b) -> order.compare(a, 0, a.length, b, 0, b.length));
    }

    TreeMap<byte[], Value> copy() {
      return new TreeMap<>((NavigableMap<byte[], Value>) entries);
    }

    /** What the tree holds may be anything from now on, as after a crash of an unlogged tree. */
    void forget() {
      entries.clear();
    }

    @Override
    public String toString() {
      return name;
    }
  }

  /** All trees as they were at one moment. */
  public static final class View {
    final long at;
    private final Map<Contents, TreeMap<byte[], Value>> trees = new HashMap<>();

    private View(long at) {
      this.at = at;
    }

    NavigableMap<byte[], Value> of(Contents tree) {
      // A tree that was made later has nothing in it.
      return trees.computeIfAbsent(tree, Contents::empty);
    }
  }

  /** By name, those that exist. */
  public final TreeMap<String, Contents> trees = new TreeMap<>();

  /** Counts writes. */
  public long now;

  public View view() {
    View view = new View(now);
    trees.values().forEach(tree -> view.trees.put(tree, tree.copy()));
    return view;
  }

  /** Begins a write: all that one call writes has one number. */
  public void tick() {
    now++;
  }

  public void write(Contents tree, byte[] key, @Nullable Value value) {
    if (value == null) {
      tree.entries.remove(key);
    } else {
      tree.entries.put(key, value);
    }
    tree.written.put(key, now);
  }

  /** Whether a key was written after {@code at}. */
  public static boolean writtenSince(Contents tree, byte[] key, long at) {
    Long last = tree.written.get(key);
    return last != null && last > at;
  }
}
