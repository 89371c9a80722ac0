package io.isobardb.lsm.simulation;

import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.option.KeyOrder;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.LongUnaryOperator;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** What a tree should hold: all versions of all keys, numbered in the order of the writes. */
public class ModelTree {
  /** When a version expires that never does. */
  public static final long NEVER = Long.MAX_VALUE;

  /** Its name. */
  public final String name;

  /** Its options. */
  public final TreeOptions options;

  /** The versions of each key, the oldest first. */
  public final TreeMap<byte[], List<Version>> keys;

  /** The time by which readers after a write judge what has expired. */
  private final LongUnaryOperator times;

  /**
   * A version of a key.
   *
   * @param value null if it is a deletion
   * @param expires by the store's clock, in milliseconds since the Unix epoch, or {@link #NEVER}
   */
  public record Version(long at, @Nullable ModelValue value, long expires) {
    /**
     * Whether a reader finds it so between two times of the store's clock; null for nothing. If it
     * expires between them, both a value and nothing are right.
     */
    public boolean is(byte @Nullable [] found, long from, long to) {
      return found == null
          ? value == null || expires <= to
          : value != null && expires > from && value.is(found);
    }
  }

  /** An empty tree of which readers find nothing expired. */
  public ModelTree(String name, TreeOptions options) {
    this(name, options, at -> Long.MIN_VALUE);
  }

  /**
   * An empty tree.
   *
   * @param times gives the time that goes with the number of a write
   */
  public ModelTree(String name, TreeOptions options, LongUnaryOperator times) {
    this.name = name;
    this.options = options;
    this.keys = new TreeMap<>(comparator(options.keyOrder()));
    this.times = times;
  }

  /** A key order as a comparator. */
  public static Comparator<byte[]> comparator(KeyOrder order) {
    return (a, b) -> order.compare(a, 0, a.length, b, 0, b.length);
  }

  /** A key gets a value, or is deleted, by write {@code at}. */
  public void write(byte[] key, @Nullable ModelValue value, long at) {
    write(key, value, at, NEVER);
  }

  /** As {@link #write(byte[], ModelValue, long)}, with a value that expires. */
  public void write(byte[] key, @Nullable ModelValue value, long at, long expires) {
    keys.computeIfAbsent(key, k -> new ArrayList<>(2)).add(new Version(at, value, expires));
  }

  /** Merges an operand into the newest value, as {@link TailOperator} does. */
  public void merge(byte[] key, byte[] operand, long at) {
    merge(key, operand, at, NEVER, Long.MIN_VALUE);
  }

  /**
   * As {@link #merge(byte[], byte[], long)}.
   *
   * @param expires when the value does
   * @param now what has expired by now is not merged with
   */
  public void merge(byte[] key, byte[] operand, long at, long expires, long now) {
    List<Version> versions = keys.get(key);
    ModelValue below = versions == null ? null : at(versions, Long.MAX_VALUE, now);
    byte[] base = below == null ? null : below.bytes();
    byte[] made = TailOperator.TAIL.merge(key, base, List.of(operand));
    write(key, made == null ? null : ModelValue.made(made), at, expires);
  }

  /** When the newest value of a key expires; {@link #NEVER} if there is none. */
  public long expires(byte[] key) {
    List<Version> versions = keys.get(key);
    return versions == null ? NEVER : versions.get(versions.size() - 1).expires;
  }

  /** All keys of a range that were ever written are deleted; null for no bound. */
  public void deleteRange(byte @Nullable [] from, byte @Nullable [] to, long at) {
    NavigableMap<byte[], List<Version>> range = from == null ? keys : keys.tailMap(from, true);
    range = to == null ? range : range.headMap(to, false);
    range.values().forEach(versions -> versions.add(new Version(at, null, NEVER)));
  }

  /** What a key has after write {@code at}, or null. */
  public byte @Nullable [] get(byte[] key, long at) {
    List<Version> versions = keys.get(key);
    ModelValue value = versions == null ? null : at(versions, at, times.applyAsLong(at));
    return value == null ? null : value.bytes();
  }

  /** Whether a key is there after write {@code at}. */
  public boolean has(byte[] key, long at) {
    List<Version> versions = keys.get(key);
    return versions != null && at(versions, at, times.applyAsLong(at)) != null;
  }

  private static @Nullable ModelValue at(List<Version> versions, long at, long now) {
    for (int i = versions.size() - 1; i >= 0; i--) {
      Version version = versions.get(i);
      if (version.at <= at) {
        return version.expires <= now ? null : version.value;
      }
    }
    return null;
  }

  /** The first key of a range that is there. */
  public byte @Nullable [] first(NavigableMap<byte[], List<Version>> range, long at) {
    long now = times.applyAsLong(at);
    for (var entry : range.entrySet()) {
      if (at(entry.getValue(), at, now) != null) {
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
