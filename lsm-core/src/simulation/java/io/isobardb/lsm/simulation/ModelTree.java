package io.isobardb.lsm.simulation;

import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.option.KeyOrder;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** What a tree should hold: all versions of all keys, numbered in the order of the writes. */
public class ModelTree {
  /** Its name. */
  public final String name;

  /** Its options. */
  public final TreeOptions options;

  /** Of each key its versions, the oldest first. */
  public final TreeMap<byte[], List<Version>> keys;

  /**
   * A version of a key.
   *
   * @param value null if it is a deletion
   */
  public record Version(long at, @Nullable ModelValue value) {
    /** Whether a reader finds it so; null for nothing. */
    public boolean is(byte @Nullable [] found) {
      return value == null ? found == null : value.is(found);
    }
  }

  /** An empty tree. */
  public ModelTree(String name, TreeOptions options) {
    this.name = name;
    this.options = options;
    this.keys = new TreeMap<>(comparator(options.keyOrder()));
  }

  /** A key order as a comparator. */
  public static Comparator<byte[]> comparator(KeyOrder order) {
    return (a, b) -> order.compare(a, 0, a.length, b, 0, b.length);
  }

  /** A key gets a value, or is deleted, by write {@code at}. */
  public void write(byte[] key, @Nullable ModelValue value, long at) {
    keys.computeIfAbsent(key, k -> new ArrayList<>(2)).add(new Version(at, value));
  }

  /** Merges an operand into the newest value, as {@link TailOperator} does. */
  public void merge(byte[] key, byte[] operand, long at) {
    byte[] made = TailOperator.TAIL.merge(key, get(key, Long.MAX_VALUE), List.of(operand));
    write(key, made == null ? null : ModelValue.made(made), at);
  }

  /** All keys of a range that were ever written are deleted; null for no bound. */
  public void deleteRange(byte @Nullable [] from, byte @Nullable [] to, long at) {
    NavigableMap<byte[], List<Version>> range = from == null ? keys : keys.tailMap(from, true);
    range = to == null ? range : range.headMap(to, false);
    range.values().forEach(versions -> versions.add(new Version(at, null)));
  }

  /** What a key has after write {@code at}, or null. */
  public byte @Nullable [] get(byte[] key, long at) {
    List<Version> versions = keys.get(key);
    ModelValue value = versions == null ? null : at(versions, at);
    return value == null ? null : value.bytes();
  }

  /** Whether a key is there after write {@code at}. */
  public boolean has(byte[] key, long at) {
    List<Version> versions = keys.get(key);
    return versions != null && at(versions, at) != null;
  }

  private static @Nullable ModelValue at(List<Version> versions, long at) {
    for (int i = versions.size() - 1; i >= 0; i--) {
      if (versions.get(i).at <= at) {
        return versions.get(i).value;
      }
    }
    return null;
  }

  /** The first key of a range that is there. */
  public byte @Nullable [] first(NavigableMap<byte[], List<Version>> range, long at) {
    for (var entry : range.entrySet()) {
      if (at(entry.getValue(), at) != null) {
        return entry.getKey();
      }
    }
    return null;
  }

  /** Takes versions back. */
  public void forget(Predicate<Version> lost) {
    keys.values().forEach(versions -> versions.removeIf(lost));
    keys.values().removeIf(List::isEmpty);
  }

  /** Forgets the versions that nobody can read at or after {@code at}. */
  public void prune(long at) {
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
